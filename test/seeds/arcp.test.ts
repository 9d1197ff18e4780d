/** The promises of the ARCP seed, with the Python SDK 1.1.3 that it describes. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { ARCP_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import {
  ArcpClient,
  ArcpRuntime,
  pairMemoryTransports,
  serveWebSocket,
  staticTokens,
} from "../../src/arcp.ts";
import { environment, run, Running, scratch, start, type Ended } from "../e2e/programs.ts";
import { play } from "../support/arcp/fixture.ts";
import { quiet } from "../support/engine/fixture.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCRIPTS = join(ROOT, "test/seeds/arcp");
const isMissing = lacks("arcp-sdk");
vi.setConfig({ testTimeout: 60_000 });

function home(): string {
  const folder = scratch();
  onTestFinished(() => folder[Symbol.dispose]());
  return folder.path;
}

function arcp(...args: readonly string[]): Promise<Ended> {
  return run(args, { program: "arcp" });
}

/** The SDK's own command, or a script with the SDK. */
async function python(...args: readonly string[]): Promise<Ended> {
  const env = environment(home(), { PYTHONDONTWRITEBYTECODE: "1", TOKEN: "tok" });
  await using running = new Running(ARCP_PYTHON, args, env);
  return await running.end();
}

/** Our `arcp serve` with a file, as the seed starts its own. */
async function serve(db: string): Promise<{ readonly at: readonly string[]; serving: Running }> {
  const place = ["--host", "127.0.0.1", "--port", "0", "--db", db];
  const who = ["--token", "tok", "--principal", "me@example.com"];
  const serving = start(["serve", ...place, ...who], { program: "arcp" });
  onTestFinished(() => serving[Symbol.asyncDispose]());
  const said = /^arcp serve listening on (ws:\/\/127\.0\.0\.1:\d+\/arcp)\n$/;
  const [, url = ""] = await serving.says(said, "stderr");
  return { at: ["--url", url, "--token", "tok"], serving };
}

function linesOf({ stdout }: Ended): readonly string[] {
  return stdout === "" ? [] : stdout.trimEnd().split("\n");
}

/** The frames of a session that one client made at our runtime, one job each. */
async function sessionAt(at: readonly string[], jobs: number): Promise<string> {
  const [, url = "", , token = ""] = at;
  await using client = await ArcpClient.connect(url, { token });
  for (let job = 0; job < jobs; job += 1) {
    await (
      await client.submit({ agent: "echo", input: job })
    ).done;
  }
  return client.session.sessionId;
}

test("quick start: an agent, a client, memory between them", async () => {
  await using runtime = new ArcpRuntime({
    runtime: { name: "quickstart", version: "1.1.0" },
    bearer: staticTokens({ demo: "me@example.com" }),
  });
  runtime.registerAgent("echo", async (input, job) => {
    await job.log("info", "echo started");
    return { echoed: input };
  });
  const [theirs, ours] = pairMemoryTransports();
  runtime.accept(ours);
  await using client = await ArcpClient.connect(theirs, { token: "demo" });
  const job = await client.submit({ agent: "echo", input: { hi: 1 } });
  expect((await job.done).result).toEqual({ echoed: { hi: 1 } });
});

test.skipIf(isMissing)(
  "serve, submit, tail, replay: the SDK's commands and ours, all while the runtime runs",
  async () => {
    const db = join(home(), "arcp.db");
    const { at, serving } = await serve(db);
    const submit = ["submit", ...at, "--agent", "echo", "--input", '{"hi":1}'];
    const timeless = ({ stdout }: Ended) => stdout.replace(/"completed_at": ".*"/, "");
    const [theirs, ours] = [await python("-m", "arcp", ...submit), await arcp(...submit)];
    expect([theirs.code, timeless(theirs)]).toEqual([0, timeless(ours)]);

    const session = await sessionAt(at, 2);
    const replay = ["replay", "--db", db, "--session", session];
    const frames = linesOf(await arcp(...replay, "--after-seq", "0"));
    const types = frames.map((frame) => (JSON.parse(frame) as { type: string }).type);
    expect(types).toEqual(["job.event", "job.result", "job.event", "job.result"]);
    expect(linesOf(await arcp(...replay, "--after-seq", "2"))).toEqual(frames.slice(2));

    // The SDK's own replay knows another file, and makes its table in ours: nothing is lost by it.
    expect(await python("-m", "arcp", ...replay)).toMatchObject({ code: 0, stdout: "" });
    const [jobId = ""] = /job_\w{26}/.exec(frames[0] ?? "") ?? [];
    const tail = ["tail", ...at, "--job-id", jobId];
    const [followed, followedByOurs] = [await python("-m", "arcp", ...tail), await arcp(...tail)];
    expect([followed.code, followed.stdout]).toEqual([0, followedByOurs.stdout]);
    expect(linesOf(followed)).toEqual([
      expect.stringContaining(
        '{"kind": "log", "body": {"level": "info", "message": "echo started"}',
      ),
      expect.stringContaining('{"final_status": "success", "result": {"echoed": 0}'),
    ]);

    serving.signal("SIGTERM");
    expect((await serving.end()).code).toBe(0);
    expect(linesOf(await arcp(...replay))).toEqual(frames);
  },
);

test("replay begins, and ends, beside a runtime that goes on with that very session", async () => {
  const db = join(home(), "arcp.db");
  const { at } = await serve(db);
  const [, url = "", , token = ""] = at;
  await using client = await ArcpClient.connect(url, { token });
  const stop = new AbortController();
  const busy = (async () => {
    while (!stop.signal.aborted) await (await client.submit({ agent: "echo" })).done;
  })();
  const replayed: number[] = [];
  for (let look = 0; look < 3; look += 1) {
    const ended = await arcp("replay", "--db", db, "--session", client.session.sessionId);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    const seqs = linesOf(ended).map(
      (line) => (JSON.parse(line) as { event_seq: number }).event_seq,
    );
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    replayed.push(seqs.length);
  }
  stop.abort();
  await busy;
  expect(replayed).toEqual(replayed.toSorted((a, b) => a - b));
  expect(replayed.at(-1)).toBeGreaterThan(replayed[0] ?? 0);
});

test.skipIf(isMissing)("the SDK's file: replay reads it, serve says what it is", async () => {
  const db = join(home(), "arcp.db");
  expect((await python(join(SCRIPTS, "event_log.py"), db)).code).toBe(0);
  const replay = ["replay", "--db", db, "--session", "sess_01KZ4TA0000000000000000003"];
  const [theirs, ours] = [await python("-m", "arcp", ...replay), await arcp(...replay)];
  expect([ours.code, ours.stdout]).toEqual([0, theirs.stdout]);
  expect(linesOf(ours)).toHaveLength(2);

  const before = readFileSync(db);
  const refused = await arcp("serve", "--token", "tok", "--port", "0", "--db", db);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toBe(
    `error: --db ${db} was written by the Python SDK's arcp serve and has frames of 1 session, ` +
      "but no tokens to resume it with: use another file for this runtime; `arcp replay` reads " +
      "this one\n",
  );
  expect(readFileSync(db).equals(before)).toBe(true);
});

test.skipIf(isMissing)(
  "writing clients: lease, idempotency key, events, done, cancel",
  async () => {
    await using runtime = new ArcpRuntime({
      runtime: { name: "my-runtime", version: "1.1.0" },
      bearer: staticTokens({ tok: "me@example.com" }),
    });
    runtime.registerAgent("weekly-report", async (input, job) => {
      job.authorize("net.fetch", "s3://example/2026/19.csv");
      await job.log("info", "fetched");
      return { reported: input };
    });
    runtime.registerAgent("endless", (_, job) => once(job.signal, "abort"));
    const accept = runtime.accept.bind(runtime);
    await using door = await serveWebSocket(accept, { host: "127.0.0.1", port: 0, path: "/arcp" });
    const { stdout, stderr } = await python(join(SCRIPTS, "client.py"), door.url);
    expect(stderr).toBe("");
    expect(stdout).toBe("log\n{'reported': {'week': '2026-W19'}}\ncancelled\n");
  },
);

test("nine features, of those both know, in the client's order", async () => {
  const nine = ["heartbeat", "ack", "list_jobs", "subscribe", "agent_versions"];
  nine.push("lease_expires_at", "cost.budget", "progress", "result_chunk");
  const { open } = await play();
  const peer = await open({ features: [...nine.toReversed(), "time_travel"] });
  const { features } = peer.last("session.welcome").payload.capabilities;
  expect(features).toEqual(nine.toReversed());
});

test("cancel: the agent cleans up, and only then comes the end", async () => {
  const { open } = await play({
    agents: (runtime) => {
      runtime.registerAgent("tidy", async (_, job) => {
        await once(job.signal, "abort");
        await job.log("info", "cleanup ran");
        throw job.signal.reason;
      });
    },
  });
  const peer = await open();
  const { job_id } = await peer.submit("tidy");
  peer.send("job.cancel", { job_id, reason: "operator" });
  await quiet();
  const [cancelled, log, end] = peer.frames.slice(-3);
  expect([cancelled?.type, log?.payload.body.message]).toEqual(["job.cancelled", "cleanup ran"]);
  expect(end).toMatchObject({ type: "job.error", payload: { code: "CANCELLED" } });
});

test("a wrong token is refused, by the runtime and by its command", async () => {
  const { at } = await serve(join(home(), "arcp.db"));
  const submit = ["submit", ...at.slice(0, 2), "--token", "wrong", "--agent", "echo"];
  expect((await arcp(...submit)).code).toBe(4);
});

test("every example of the seed is here, under its name", () => {
  const core = ["submit-and-stream", "delegate", "resume", "idempotent-retry", "lease-violation"];
  core.push("cancel", "stdio", "vendor-extensions", "custom-auth");
  const added = ["heartbeat", "ack-backpressure", "list-jobs", "subscribe", "agent-versions"];
  added.push("lease-expires-at", "cost-budget", "progress", "result-chunk");
  const hosts = ["host-tracing", "host-express", "host-fastify", "host-hono", "host-node-http"];
  for (const name of [...core, ...added, ...hosts]) {
    expect(existsSync(join(ROOT, "examples/arcp", `${name}.ts`))).toBe(true);
  }
});
