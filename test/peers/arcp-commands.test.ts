import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { ARCP_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { environment, run, Running, scratch, start, type Ended } from "../e2e/programs.ts";

const SCRIPTS = fileURLToPath(new URL("arcp/", import.meta.url));
const isMissing = lacks("arcp-sdk");
vi.setConfig({ testTimeout: 60_000 });

function home(): string {
  const folder = scratch();
  onTestFinished(() => folder[Symbol.dispose]());
  return folder.path;
}

function python(args: readonly string[]): Running {
  const env = environment(home(), { PYTHONDONTWRITEBYTECODE: "1" });
  const running = new Running(ARCP_PYTHON, args, env);
  onTestFinished(() => running[Symbol.asyncDispose]());
  return running;
}

/** Our agents in the Python runtime. */
async function agents(): Promise<readonly string[]> {
  const [, url = ""] = await python([join(SCRIPTS, "agents.py")]).says(/listening on (\S+)/);
  const file = join(home(), "token");
  writeFileSync(file, "tok\n", { mode: 0o600 });
  return ["--url", url, "--token-file", file];
}

const PORT = 41_777;
let ports = 0;

/** The SDK's own `arcp serve`, with a file. */
async function pythonServe(): Promise<{ readonly at: readonly string[]; readonly db: string }> {
  const db = join(home(), "arcp.db");
  ports += 1;
  const port = String(PORT + (process.pid % 1000) * 10 + ports);
  const serving = python(["-m", "arcp", "serve", "--port", port, "--token", "tok", "--db", db]);
  const [, url = ""] = await serving.says(/listening on (\S+)/, "stderr");
  return { at: ["--url", url, "--token", "tok"], db };
}

async function arcp(...args: readonly string[]): Promise<Ended> {
  return run(args, { program: "arcp" });
}

test.skipIf(isMissing)("arcp submit prints what the SDK's own prints", async () => {
  const { at } = await pythonServe();
  const args = ["submit", ...at, "--agent", "echo", "--input", '{"hi":"grüße 🚀","n":[1,{}]}'];
  const [ours, theirs] = [await arcp(...args), await python(["-m", "arcp", ...args]).end()];
  const timeless = ({ stdout }: Ended) => stdout.replace(/"completed_at": ".*"/, "");
  expect([ours.code, timeless(ours)]).toEqual([0, timeless(theirs)]);
});

test.skipIf(isMissing)(
  "arcp replay reads the SDK's file and prints what its own prints",
  async () => {
    const { at, db } = await pythonServe();
    const [, url = "", , token = ""] = at;
    const client = await ArcpClient.connect(url, { token });
    for (const input of [1, { text: "grüße" }]) {
      await (
        await client.submit({ agent: "echo", input })
      ).done;
    }
    const { sessionId } = client.session;
    await client.close();
    for (const after of ["0", "2"]) {
      const args = ["replay", "--db", db, "--session", sessionId, "--after-seq", after];
      const [ours, theirs] = [await arcp(...args), await python(["-m", "arcp", ...args]).end()];
      expect(ours.stdout).toBe(theirs.stdout);
      expect(ours.stdout.trimEnd().split("\n")).toHaveLength(after === "0" ? 4 : 2);
    }
    expect(await arcp("replay", "--db", db, "--session", "sess_none")).toMatchObject({
      code: 0,
      stdout: "",
    });
    expect(await arcp("replay", "--db", `${db}.none`, "--session", "s")).toMatchObject({
      code: 1,
      stderr: `error: --db ${db}.none: there is no such file\n`,
    });
    const text = join(home(), "text.db");
    writeFileSync(text, "not a database, but long enough to be taken for one ".repeat(100));
    expect(await arcp("replay", "--db", text, "--session", "s")).toMatchObject({
      code: 2,
      stderr: `error: --db ${text}: this is not the file of an ARCP runtime\n`,
    });
  },
);

test.skipIf(isMissing)(
  "arcp tail follows a job that runs, and ends for one that is over",
  async () => {
    const at = await agents();
    const running = start(["run", "slow", '{"n":6,"d":0.1}', "--json", ...at]);
    onTestFinished(() => running[Symbol.asyncDispose]());
    const [, jobId = ""] = await running.says(/job (job_\w+)/, "stderr");
    const followed = await arcp("tail", ...at, "--job-id", jobId);
    const lines = followed.stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(7);
    expect(lines[0]).toMatch(
      /^\{"kind": "log", "body": \{"level": "info", "message": "tick-0"\}, "ts": "/,
    );
    expect(lines[6]).toMatch(
      /^\{"final_status": "success", "result": "finished", "completed_at": "/,
    );
    expect((await running.end()).stdout).toContain('"result":"finished"');
    const again = await arcp("tail", ...at, "--job-id", jobId);
    expect([again.code, again.stdout]).toEqual([0, followed.stdout]);
  },
);

test.skipIf(isMissing)("what goes wrong is one line, and a number", async () => {
  const at = await agents();
  const [, url = ""] = at;
  const told = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await arcp(...args);
    expect(stdout).toBe("");
    return [code, stderr];
  };
  expect(await told("submit", ...at, "--agent", "fail")).toEqual([
    1,
    "error: the job failed: INTERNAL_ERROR: it broke\n",
  ]);
  expect(await told("submit", ...at, "--agent", "nobody")).toEqual([
    1,
    "error: unknown agent: nobody\n",
  ]);
  expect(await told("tail", ...at, "--job-id", "job_01KZ4TA000000000000000000C")).toEqual([
    1,
    expect.stringMatching(/^error: .*\n$/),
  ]);
  expect(await told("submit", "--url", url, "--token", "bad", "--agent", "echo")).toEqual([
    4,
    "error: invalid bearer token\n",
  ]);
  const nowhere = ["--url", "ws://127.0.0.1:1/arcp", "--token", "tok"];
  expect(await told("submit", ...nowhere, "--agent", "echo")).toEqual([
    3,
    "error: no runtime answers at ws://127.0.0.1:1/arcp (connection refused)\n",
  ]);
  expect((await told("submit", ...at, "--agent", "echo", "--input", "{"))[0]).toBe(2);
});

test.skipIf(isMissing)(
  "rollcall run: the result on stdout, all else on stderr, a number",
  async () => {
    const at = await agents();
    const said = await run([
      "run",
      "index",
      '{"n":4,"d":0}',
      "--budget",
      "USD:1",
      "--follow",
      ...at,
    ]);
    expect([said.code, said.stdout]).toEqual([0, '{"files":4}\n']);
    expect(said.stderr).toMatch(/^· job job_\w+ on index\n/);
    expect(said.stderr).toContain("4/4 files · src/file-3.ts");
    expect(said.stderr).toContain("cost.budget.remaining 0.969 USD");
    // An agent's escape sequence never reaches a terminal.
    expect(said.stderr).toMatch(/warn {2}slow disk 3\n/);
    expect(said.stderr).not.toContain("\u001b");
    expect((await run(["run", "text", ...at])).stdout).toBe("one two drei ü\n");
    expect((await run(["run", "fail", ...at])).code).toBe(1);
    expect((await run(["run", "slow", '{"d":9}', "--max-runtime", "1s", ...at])).code).toBe(124);
    expect((await run(["run", "nobody", ...at])).code).toBe(1);
  },
);

test.skipIf(isMissing)("rollcall run: Ctrl-C cancels the job", async () => {
  const at = await agents();
  const running = start(["run", "slow", '{"n":1000}', "--follow", ...at]);
  onTestFinished(() => running[Symbol.asyncDispose]());
  await running.says(/tick-2/, "stderr");
  running.signal("SIGINT");
  const { code, stderr } = await running.end();
  expect([code, stderr.split("\n").at(-2)]).toEqual([130, "error: the job was cancelled"]);
  const { stdout } = await run(["jobs", "--json", "--status", "cancelled", ...at]);
  expect(JSON.parse(stdout)).toMatchObject({ jobs: [{ agent: "slow", status: "cancelled" }] });
});

test.skipIf(isMissing)(
  "rollcall jobs: list, look, follow and cancel by the beginning of an id",
  async () => {
    const at = await agents();
    const running = start(["run", "slow", '{"n":1000}', ...at]);
    onTestFinished(() => running[Symbol.asyncDispose]());
    const [, jobId = ""] = await running.says(/job (job_\w+)/, "stderr");
    expect((await run(["jobs", ...at])).stdout).toMatch(
      new RegExp(`^JOB +AGENT +STATUS +AGE\n${jobId} +slow +running +`),
    );
    const short = jobId.slice(0, -3);
    expect((await run(["jobs", "get", short, ...at])).stdout).toContain("status   running");
    const following = start(["jobs", "tail", short, ...at]);
    onTestFinished(() => following[Symbol.asyncDispose]());
    await following.says(/tick-0[^]*tick-3/, "stderr");
    following.signal("SIGINT");
    expect((await following.end()).stderr).toContain(`job ${jobId} goes on`);
    const cancelled = await run(["jobs", "cancel", short, ...at]);
    expect([cancelled.code, cancelled.stderr]).toEqual([0, `· job ${jobId} is cancelled\n`]);
    expect((await running.end()).code).toBe(130);
    expect((await run(["jobs", "get", "job_none", ...at])).code).toBe(1);
  },
);
