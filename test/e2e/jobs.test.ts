import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { JobSummary } from "../../src/core/job-listing.ts";
import type { Row } from "../../src/fleet/row.ts";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { jobsDaemon, WHOLE } from "./jobs-daemon.ts";
import { shellBlock } from "../docs.ts";
import { environment, programFile, run, Running, scratch } from "./programs.ts";

vi.setConfig({ testTimeout: 60_000 });
const SOON = { timeout: 15_000, interval: 50 };

describe("agents of the config file", () => {
  test("run jobs for rollcall run, in the daemon or beside it, and are rows", async () => {
    const daemon = await jobsDaemon();
    const echoed = await daemon.rollcall("run", "echo", '{"hi":1}');
    expect(echoed).toMatchObject({ code: 0, stdout: '{"echoed":{"hi":1}}\n' });
    const worked = await daemon.rollcall("run", "worker", "x", "--budget", "USD:1");
    expect(JSON.parse(worked.stdout)).toEqual({
      agentId: "arcp@n1:worker",
      secret: null,
      greeting: "hello",
    });
    const { stdout } = await daemon.rollcall("jobs");
    expect(stdout).toMatch(/^job_\w{26} +echo +success/m);
    expect(stdout).toMatch(/^job_\w{26} +worker +success/m);
    await vi.waitFor(async () => {
      expect(await daemon.row("arcp@n1:echo")).toMatchObject({ name: "echo", headline: "IDLE" });
      expect(await daemon.row("arcp@n1:worker")).toMatchObject({ outcome: { value: "success" } });
    }, SOON);
    const [first] = await daemon.jobs();
    expect(first).toMatchObject({ agent: "echo", principal: "local", status: "success" });
    await vi.waitFor(() => expect(daemon.topics(first?.id ?? "")).toEqual(WHOLE), SOON);
    expect((await fetch(`${daemon.url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    expect(metrics).toContain('rollcall_jobs{status="over"} 2');
    expect(metrics).toMatch(/^rollcall_job_events_total [1-9]/m);
    expect(metrics).toContain("rollcall_agent_processes 1");
  });

  test("a process that dies ends its job once, retryable, and comes back", async () => {
    const daemon = await jobsDaemon();
    await using client = await daemon.connect();
    const job = await client.submit({ agent: "worker", input: "die" });
    const { status, error } = await job.ended;
    expect(status).toBe("error");
    expect(error).toMatchObject({
      code: "INTERNAL_ERROR",
      retryable: true,
      message: "the process that ran the agent died",
    });
    const again = await client.submit({ agent: "worker", input: "x" });
    expect((await again.done).result).toMatchObject({ greeting: "hello" });
    expect(daemon.up.stderr).toContain("the process of an agent ended: exit code 3");
    await vi.waitFor(async () => {
      const row = await daemon.row("arcp@n1:worker");
      expect(row?.liveness).toMatchObject({ value: "alive" });
    }, SOON);
    await vi.waitFor(() => expect(daemon.topics(again.id)).toEqual(WHOLE), SOON);
    expect(daemon.topics(job.id)).toEqual(WHOLE);
  });

  test("failures, parts of a result and a cancel pass through", async () => {
    const daemon = await jobsDaemon();
    await using client = await daemon.connect();
    const failed = await client.submit({ agent: "worker", input: "fail" });
    expect((await failed.ended).error).toMatchObject({ message: "no disk" });
    const parts = await client.submit({ agent: "worker", input: "parts" });
    expect((await parts.done).result).toBe("x".repeat(50_000));
    const large = await client.submit({ agent: "worker", input: "large" });
    expect((await large.done).result).toEqual({ text: "x".repeat(200_000) });
    const hangs = await client.submit({ agent: "worker", input: "hang" });
    for await (const event of hangs.events()) if (event.kind === "thought") break;
    await hangs.cancel();
    expect((await hangs.ended).status).toBe("cancelled");
  });

  test("what is wrong in the file is told by name, and nothing starts", async () => {
    using folder = scratch();
    const path = join(folder.path, "rollcall.toml");
    const refused = async (text: string) => {
      writeFileSync(path, text);
      const { code, stderr } = await run(["up", "--memory", "--addr", ":0", "--config", path]);
      expect(code).not.toBe(0);
      return stderr;
    };
    expect(await refused("[agents.echo]\n")).toContain(
      `agents.echo in ${path}: give either a module or a command`,
    );
    expect(await refused('[agents.echo]\nmodule = "./none.mjs"\n')).toMatch(
      /agents\.echo in .*: cannot load .*none\.mjs/,
    );
    expect(await refused('[agents.echo]\ncommand = "node x"\n')).toContain("expected a list");
    expect(await refused('[agents.echo]\ncommand = ["x"]\nrun = 1\n')).toContain(
      "run is not known",
    );
  });
});

describe("a job in the fleet", () => {
  test("nests in the row of its agent with what it does; a question needs a person", async () => {
    const daemon = await jobsDaemon();
    await using client = await daemon.connect();
    const job = await client.submit({ agent: "steps", input: { steps: 1000 } });
    await vi.waitFor(async () => {
      expect(await daemon.row("arcp@n1:steps")).toMatchObject({ headline: "WORKING" });
      const nested = await daemon.rowJob(job.id);
      expect(nested).toMatchObject({ agent: "steps@2.0.0", status: "running" });
      expect(nested?.why).toMatch(/\d+\/1000 files$/);
    }, SOON);
    const asks = await client.submit({ agent: "steps@1.0.0", input: { asks: true } });
    await vi.waitFor(async () => {
      const row = await daemon.row("arcp@n1:steps");
      expect(row).toMatchObject({ headline: "NEEDS YOU", why: "may I go on?" });
      expect(row?.jobs).toMatchObject({ running: 2, waiting: 0 });
      expect((await daemon.rowJob(asks.id))?.question?.text).toBe("may I go on?");
    }, SOON);
    const { stdout } = await daemon.rollcall("inbox");
    expect(stdout).toContain("may I go on?");
    for (const each of [job, asks]) await each.cancel("enough");
    await vi.waitFor(async () => {
      const row = await daemon.row("arcp@n1:steps");
      expect(row).toMatchObject({ headline: "IDLE", why: "cancelled: enough" });
      expect(row?.outcome?.value).toBe("cancelled");
      expect((await daemon.rowJob(asks.id))?.why).toBe("cancelled: enough");
    }, SOON);
  });

  test("a past moment lists it as it was then, in jobs as in the fleet", async () => {
    const daemon = await jobsDaemon();
    await using client = await daemon.connect();
    const job = await client.submit({ agent: "steps", input: { steps: 1000 } });
    await vi.waitFor(async () => {
      expect(await daemon.jobs()).toMatchObject([{ id: job.id, status: "running" }]);
    }, SOON);
    const at = ["at", new Date().toISOString()];
    await job.cancel("enough");
    await job.ended;
    const statuses = async (...words: readonly string[]) => {
      const { jobs } = await daemon.json<{ jobs: JobSummary[] }>(...words, "jobs");
      return jobs.map(({ id, status }) => [id, status]);
    };
    expect(await statuses()).toEqual([[job.id, "cancelled"]]);
    expect(await statuses(...at)).toEqual([[job.id, "running"]]);
    expect(await daemon.json(...at, "jobs", "--status", "cancelled")).toMatchObject({ jobs: [] });
    const { rows } = await daemon.json<{ rows: Row[] }>(...at, "ls");
    expect(rows.find(({ id }) => id === "arcp@n1:steps")?.jobs).toMatchObject({ running: 1 });
    const table = await daemon.rollcall(...at, "jobs");
    expect(table.stdout).toMatch(
      new RegExp(`^${job.id} +steps@2\\.0\\.0 +running +\\S+ +local`, "m"),
    );
    expect(table.stderr).toContain("· as of ");
    const both = await daemon.rollcall(...at, "jobs", "--watch");
    expect(both).toMatchObject({ code: 2, stdout: "" });
  });

  test("killed in the middle: clients resume, jobs end once, rows are true", async () => {
    const daemon = await jobsDaemon();
    await using client = await daemon.connect();
    const ends = await client.submit({ agent: "steps@1.0.0", input: {} });
    const again = await client.submit({ agent: "steps@2.0.0", input: {} });
    for await (const event of ends.events()) if (event.seq > 20) break;
    await vi.waitFor(async () => {
      for (const { id } of [ends, again]) expect(await daemon.rowJob(id)).toBeDefined();
    }, SOON);
    await daemon.kill();
    const { error } = await ends.ended;
    expect(error).toMatchObject({ code: "INTERNAL_ERROR", retryable: true });
    await vi.waitFor(async () => {
      expect(await daemon.rowJob(ends.id)).toMatchObject({ status: "error" });
      expect(await daemon.rowJob(again.id)).toMatchObject({ status: "running" });
    }, SOON);
    const restarted = ["job.submitted", "job.started"];
    await vi.waitFor(() => {
      expect(daemon.topics(again.id)).toEqual(restarted);
      expect(daemon.topics(ends.id)).toEqual(WHOLE);
    }, SOON);
    await again.cancel();
    await again.ended;
    const before = await daemon.jobs();
    await daemon.kill();
    expect(await daemon.jobs()).toEqual(before);
    const last = await client.submit({ agent: "echo" });
    await vi.waitFor(() => expect(daemon.topics(last.id)).toEqual(WHOLE), SOON);
    expect(daemon.topics(ends.id)).toEqual(WHOLE);
    expect(daemon.topics(again.id)).toEqual([...restarted, "job.cancelling", "job.ended"]);
  });
});

describe("entitlements", () => {
  test("what policy denies cannot be asked for, and the refusal names it", async () => {
    const daemon = await jobsDaemon();
    const set = async (...rule: readonly string[]) => {
      const { code, stderr } = await daemon.rollcall("policies", "set", ...rule);
      expect({ code, stderr }).toMatchObject({ code: 0 });
    };
    await set("no-worker", "deny", "local", "job.submit", "agent:worker");
    const refused = await daemon.rollcall("run", "worker", "x");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(
      'local may not submit to worker: denied by policy "no-worker"',
    );
    await set("no-etc", "deny", "*", "fs.*", "/etc/*");
    const wide = await daemon.rollcall("run", "echo", "1", "--lease", "fs.read=/**");
    expect(wide.stderr).toContain('fs.read "/**" includes what policy denies');
    const other = await daemon.rollcall("run", "echo", "1", "--lease", "tool.call=grep");
    expect(other.code).toBe(0);
    expect((await daemon.jobs()).map(({ agent }) => agent)).toEqual(["echo"]);
  });
});

describe("the door", () => {
  test("a page may not open it, and /arcp without an upgrade says what it is", async () => {
    const daemon = await jobsDaemon();
    for (const url of [daemon.url, daemon.arcpUrl.replace("ws", "http").replace("/arcp", "")]) {
      const plain = await fetch(`${url}/arcp`);
      expect(plain.status).toBe(426);
      const { WebSocket } = await import("ws");
      const socket = new WebSocket(`${url.replace("http", "ws")}/arcp`, { origin: url });
      const refusal = await new Promise<string>((resolve) => {
        socket.on("error", (error) => resolve(error.message));
        socket.on("open", () => resolve("open"));
      });
      expect(refusal).toContain("403");
    }
    await using client = await ArcpClient.connect(daemon.arcpUrl, { token: "x" });
    const job = await client.submit({ agent: "echo", input: 1 });
    expect((await job.done).result).toEqual({ echoed: 1 });
    daemon.up.signal("SIGTERM");
    expect((await daemon.up.end()).code).toBe(0);
  });
});

test("what the page shows works, word for word", async () => {
  const daemon = await jobsDaemon();
  using home = scratch();
  const page = readFileSync(new URL("../../docs/jobs.md", import.meta.url), "utf8");
  const program = `"${process.execPath}" "${programFile("rollcall")}"`;
  const script = `rollcall() { ${program} "$@"; }\n${shellBlock("jobs", [page])}`;
  const env = environment(home.path, { ROLLCALL_URL: daemon.url });
  await using shell = new Running("sh", ["-ec", script], env);
  const { code, stdout } = await shell.end();
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\{"echoed":\{"hi":1\}\}\n/);
  expect(stdout).toMatch(/^job_\w{26} +echo +success/m);
});
