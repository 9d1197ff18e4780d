import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { ARCP_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import type { JobHandle } from "../../src/wires/arcp/client/job.ts";
import type { Transport } from "../../src/wires/arcp/server/transport.ts";
import { serveWebSocket } from "../../src/wires/arcp/transports/serve-websocket.ts";
import { connectWebSocket } from "../../src/wires/arcp/transports/websocket.ts";
import type { ArcpRuntimeOptions } from "../../src/wires/arcp/server/runtime.ts";
import { environment, run, Running, scratch, start } from "../e2e/programs.ts";
import { ourRuntime } from "./arcp/agents.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCRIPTS = join(ROOT, "test/peers/arcp");
const isMissing = lacks("arcp-sdk");
vi.setConfig({ testTimeout: 60_000 });

async function serve(options: Partial<ArcpRuntimeOptions> = {}): Promise<string> {
  const runtime = ourRuntime(options);
  const door = await serveWebSocket((transport) => runtime.accept(transport));
  onTestFinished(async () => {
    await door.close();
    await runtime.close();
  });
  return door.url;
}

/** Runs a script with the real SDK; what it asserts is what is tested. */
async function python(...args: readonly string[]): Promise<string> {
  using home = scratch();
  const env = environment(home.path, { PYTHONDONTWRITEBYTECODE: "1" });
  await using running = new Running(ARCP_PYTHON, args, env);
  const { code, stdout, stderr } = await running.end();
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

test.skipIf(isMissing).for([
  ["jobs.py", "every kind of event, budget, parts, failure, time, versions, a wrong token"],
  ["control.py", "pages, cancel, subscriptions, idempotency with a conflict, traces"],
  ["resume.py", "a session goes on in the middle of a job, and no event is lost"],
] as const)("the Python client at our runtime, %s: %s", async ([script]) => {
  await python(join(SCRIPTS, script), await serve());
});

test.skipIf(isMissing)(
  "the Python client at our runtime: a job that waits is cancelled",
  async () => {
    await python(join(SCRIPTS, "queued.py"), await serve({ limits: { runningPerPrincipal: 1 } }));
  },
);

test.skipIf(isMissing)("the Python client over stdio: our runtime is its child", async () => {
  const program = [join(ROOT, "scripts/run-ts.mjs"), join(SCRIPTS, "stdio-runtime.ts")];
  await python(join(SCRIPTS, "stdio.py"), process.execPath, ...program);
});

test("arcp replay prints what our arcp serve kept, also after a kill", async () => {
  using home = scratch();
  const db = join(home.path, "arcp.db");
  const serving = start(["serve", "--token", "tok", "--port", "0", "--db", db], {
    program: "arcp",
  });
  onTestFinished(() => serving[Symbol.asyncDispose]());
  const [, url = ""] = await serving.says(/listening on (\S+)/, "stderr");
  const client = await ArcpClient.connect(url, { token: "tok", reconnect: false });
  const { sessionId } = client.session;
  await (
    await client.submit({ agent: "echo", input: 1 })
  ).done;
  serving.signal("SIGKILL");
  await serving.end();
  await client.close();
  const args = ["replay", "--db", db, "--session", sessionId];
  const { stdout, stderr } = await run(args, { program: "arcp" });
  expect(stderr).toBe("");
  const frames = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect(frames.map(({ type }) => type)).toEqual(["job.event", "job.result"]);
  expect(stdout).toMatch(/^\{"arcp": "1.1", "id": "msg_\w+", "type": "job.event", "session_id": "/);
  const later = await run([...args, "--after-seq", "1"], { program: "arcp" });
  expect(later.stdout.trimEnd().split("\n")).toHaveLength(1);
});

async function messagesOf(job: JobHandle): Promise<string[]> {
  const said: string[] = [];
  for await (const event of job.events()) if (event.kind === "log") said.push(event.body.message);
  return said;
}

test("our client at our runtime: a job over five cuts, every event once", async () => {
  const url = await serve();
  const transports: Transport[] = [];
  const states: string[] = [];
  const dial = async (signal: AbortSignal) => {
    const transport = await connectWebSocket(url, { signal });
    transports.push(transport);
    return transport;
  };
  await using client = await ArcpClient.connect(dial, {
    token: "tok",
    onState: ({ kind }) => states.push(kind),
  });
  const job = await client.submit({ agent: "slow", input: { n: 40, d: 0.02 } });
  const said: string[] = [];
  for await (const event of job.events()) {
    if (event.kind === "log") said.push(event.body.message);
    if (said.length % 7 === 0 && transports.length <= 5) transports.at(-1)?.close();
  }
  expect(said).toEqual(Array.from({ length: 40 }, (_, i) => `tick-${i}`));
  expect((await job.done).result).toBe("finished");
  expect(states).toEqual(["live", ...Array.from({ length: 5 }, () => ["lost", "resumed"]).flat()]);
});

test("our client at our runtime: subscribers, lists, cancel, refusals, keys", async () => {
  const url = await serve({ cancelBy: "principal" });
  await using owner = await ArcpClient.connect(url, { token: "tok" });
  await using watcher = await ArcpClient.connect(url, { token: "tok" });
  await using other = await ArcpClient.connect(url, { token: "other" });
  const job = await owner.submit({ agent: "slow", input: { n: 1000 } });
  const followed = await watcher.subscribe(job.id);
  const said = messagesOf(followed);
  await job.events().next();
  await watcher.cancel(job.id, { reason: "enough" });
  expect((await job.done).status).toBe("cancelled");
  expect((await followed.done).status).toBe("cancelled");
  expect((await said)[0]).toBe("tick-0");
  const late = await watcher.subscribe(job.id);
  expect((await messagesOf(late))[0]).toBe("tick-0");
  expect((await late.ended).status).toBe("cancelled");
  await expect(other.subscribe(job.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(other.cancel(job.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(owner.submit({ agent: "nobody" })).rejects.toMatchObject({
    code: "AGENT_NOT_AVAILABLE",
  });
  const keyed = { agent: "echo", idempotencyKey: "k" } as const;
  const once = await owner.submit({ ...keyed, input: 1 });
  await once.done;
  const again = await watcher.submit({ ...keyed, input: 1 });
  expect([again.id, (await again.done).result]).toEqual([once.id, { echoed: 1 }]);
  await expect(owner.submit({ ...keyed, input: 2 })).rejects.toMatchObject({
    code: "ALREADY_EXISTS",
  });
  const listed: string[] = [];
  for await (const each of owner.listJobs({ pageSize: 1 })) listed.push(each.jobId);
  expect(listed).toEqual(expect.arrayContaining([job.id, once.id]));
  const large = await owner.submit({ agent: "large" });
  // Too large for a frame, and the same value all the same.
  const { result } = await large.done;
  expect(String(result)).toHaveLength(2_200_000);
});

test("our client at our runtime: a slow reader slows the runtime, and loses nothing", async () => {
  const url = await serve();
  await using client = await ArcpClient.connect(url, { token: "tok" });
  const job = await client.submit({ agent: "chatty", input: { n: 30_000 } });
  const said: string[] = [];
  let seq = 0;
  for await (const event of job.events()) {
    expect(event.seq).toBe((seq += 1));
    if (event.kind === "log") said.push(event.body.message);
    if (seq % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(said).toEqual(Array.from({ length: 30_000 }, (_, i) => `line ${i}`));
  expect((await job.done).status).toBe("success");
});
