import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { ARCP_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import type { JobHandle } from "../../src/wires/arcp/client/job.ts";
import type { ArcpClientOptions, ReceivedEvent } from "../../src/wires/arcp/client/types.ts";
import { amountText } from "../../src/core/jobs/decimal.ts";
import type { Transport } from "../../src/wires/arcp/server/transport.ts";
import { stdioTransport } from "../../src/wires/arcp/transports/stdio.ts";
import { connectWebSocket } from "../../src/wires/arcp/transports/websocket.ts";
import { environment, Running, scratch } from "../e2e/programs.ts";

const SCRIPTS = fileURLToPath(new URL("arcp/", import.meta.url));
const isMissing = lacks("arcp-sdk");
vi.setConfig({ testTimeout: 60_000 });
const TOKEN = { token: "tok" } as const;

function pythonEnvironment(): NodeJS.ProcessEnv {
  const home = scratch();
  onTestFinished(() => home[Symbol.dispose]());
  return environment(home.path, { PYTHONDONTWRITEBYTECODE: "1" });
}

/** The real Python runtime, at an address. */
async function pythonRuntime(): Promise<string> {
  const script = join(SCRIPTS, "agents.py");
  const running = new Running(ARCP_PYTHON, [script], pythonEnvironment());
  onTestFinished(() => running[Symbol.asyncDispose]());
  const [, url = ""] = await running.says(/listening on (\S+)/);
  return url;
}

/** The real Python runtime as a child of ours. */
function pythonChild(): Transport {
  const child = spawn(ARCP_PYTHON, [join(SCRIPTS, "agents.py"), "stdio"], {
    env: pythonEnvironment(),
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return stdioTransport({ input: child.stdout, output: child.stdin });
}

async function connect(url: string | Transport, options: Partial<ArcpClientOptions> = {}) {
  const client = await ArcpClient.connect(url, { ...TOKEN, ...options });
  onTestFinished(() => client.close());
  return client;
}

async function eventsOf(job: JobHandle): Promise<ReceivedEvent[]> {
  const events: ReceivedEvent[] = [];
  for await (const event of job.events()) events.push(event);
  return events;
}

function messagesOf(events: readonly ReceivedEvent[]): string[] {
  return events.flatMap((event) => (event.kind === "log" ? [event.body.message] : []));
}

function ticks(n: number): string[] {
  return Array.from({ length: n }, (_, i) => `tick-${i}`);
}

test.skipIf(isMissing).for([
  ["WebSocket", pythonRuntime],
  ["stdio", async () => pythonChild()],
] as const)("the Python runtime over %s: a job, its event and its result", async ([, start]) => {
  const client = await connect(await start());
  expect(client.session.runtime.name).toBe("python-peer");
  expect(client.session.agents.map(({ name }) => name)).toContain("echo");
  const job = await client.submit({ agent: "echo", input: { hi: "grüße" } });
  expect(messagesOf(await eventsOf(job))).toEqual(["echo started"]);
  expect(await job.done).toMatchObject({
    status: "success",
    result: { echoed: { hi: "grüße" } },
  });
});

test.skipIf(isMissing)("the Python runtime: every kind of event is read in our words", async () => {
  const client = await connect(await pythonRuntime());
  const lease = { "cost.budget": ["USD:5.00", "USD:0.50", "credits:10"] };
  const job = await client.submit({ agent: "kinds", lease });
  const budget = [...job.budget].map(([currency, amount]) => `${currency} ${amountText(amount)}`);
  expect(budget).toEqual(["USD 5.5", "credits 10"]);
  const events = await eventsOf(job);
  expect(events.map(({ kind, body }) => [kind, body])).toEqual([
    ["log", { level: "debug", message: "hello", attributes: { k: 1 } }],
    ["thought", { text: "hmm" }],
    ["status", { phase: "phase1", message: "msg" }],
    ["metric", { name: "tokens.in", value: 10, unit: "tokens" }],
    ["metric", { name: "cost.inference", value: 0.0234, unit: "USD" }],
    ["metric", { name: "cost.budget.remaining", value: 5.4766, unit: "USD" }],
    ["tool_call", { tool: "search", args: { q: "x" }, call_id: "c1" }],
    ["tool_result", { call_id: "c1", result: [1, 2] }],
    ["progress", { current: 1, total: 3, units: "files", message: "one" }],
    ["artifact_ref", { uri: "arcp://a/1", content_type: "text/plain" }],
    ["delegate", { agent: "child", child_job_id: "job_x" }],
    ["x-vendor.acme.thing", { i: 1 }],
  ]);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  expect((await job.done).status).toBe("success");
});

test.skipIf(isMissing)("the Python runtime: what is streamed arrives whole", async () => {
  const client = await connect(await pythonRuntime());
  const [binary, text] = [
    await client.submit({ agent: "chunks" }),
    await client.submit({ agent: "text" }),
  ];
  const { result, summary } = await binary.done;
  expect(Buffer.from(result as Uint8Array)).toEqual(Buffer.from("grüße \0\u0001"));
  expect(summary).toBe("done");
  expect((await text.done).result).toBe("one two drei ü");
});

test.skipIf(isMissing)("the Python runtime: failures have our codes and its words", async () => {
  const client = await connect(await pythonRuntime());
  const failed = await client.submit({ agent: "fail" });
  await expect(failed.done).rejects.toMatchObject({ code: "INTERNAL" });
  expect(await failed.ended).toMatchObject({ status: "error", error: { retryable: true } });
  const lease = { "cost.budget": ["USD:1"], "tool.call": ["*"] };
  const spent = await client.submit({ agent: "spend", lease });
  await expect(spent.done).rejects.toMatchObject({ code: "BUDGET_EXHAUSTED" });
  const late = await client.submit({ agent: "slow", input: { n: 100, d: 1 }, maxRuntimeSec: 1 });
  expect((await late.done).status).toBe("timed_out");
});

test.skipIf(isMissing)("the Python runtime: one refused submit fails, others go on", async () => {
  const client = await connect(await pythonRuntime());
  const running = await client.submit({ agent: "slow", input: { n: 3, d: 0.02 } });
  const submits = await Promise.allSettled([
    client.submit({ agent: "echo", input: 1 }),
    client.submit({ agent: "nobody" }),
    client.submit({ agent: "echo", input: 2 }),
    client.submit({ agent: "refactor@9.9" }),
    client.submit({ agent: "echo", input: 3 }),
  ]);
  const told = submits.map((each) =>
    each.status === "fulfilled" ? "taken" : (each.reason as { code: string }).code,
  );
  expect(told).toEqual([
    "taken",
    "AGENT_NOT_AVAILABLE",
    "taken",
    "AGENT_VERSION_NOT_AVAILABLE",
    "taken",
  ]);
  const taken = submits.flatMap((each) => (each.status === "fulfilled" ? [each.value.done] : []));
  const results = (await Promise.all(taken)).map(({ result }) => result);
  expect(results).toEqual([{ echoed: 1 }, { echoed: 2 }, { echoed: 3 }]);
  expect((await running.done).result).toBe("finished");
});

test.skipIf(isMissing)("the Python runtime: versions, pages, idempotency, traces", async () => {
  const client = await connect(await pythonRuntime());
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const newest = await client.submit({ agent: "refactor", traceId });
  expect([newest.agent, newest.traceId]).toEqual(["refactor@2.0.0", traceId]);
  expect((await newest.done).result).toBe("v2");
  const older = await client.submit({ agent: "refactor@1.0.0" });
  expect((await older.done).result).toBe("v1");
  const keyed = { agent: "echo", idempotencyKey: "k" };
  const once = await client.submit({ ...keyed, input: 1 });
  await once.done;
  const again = await client.submit({ ...keyed, input: 1 });
  expect([again.id, (await again.done).result]).toEqual([once.id, { echoed: 1 }]);
  const conflict = client.submit({ ...keyed, input: 2 });
  await expect(conflict).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  const listed: string[] = [];
  for await (const { jobId } of client.listJobs({ pageSize: 1 })) listed.push(jobId);
  expect(listed).toEqual([newest.id, older.id, once.id]);
  const echoes: string[] = [];
  for await (const { agent } of client.listJobs({ agent: "echo" })) echoes.push(agent);
  expect(echoes).toEqual(["echo"]);
});

test.skipIf(isMissing)(
  "the Python runtime: a job is cancelled, an unknown one is not",
  async () => {
    const client = await connect(await pythonRuntime());
    const job = await client.submit({ agent: "slow", input: { n: 1000 } });
    const events = job.events();
    await events.next();
    await job.cancel("enough");
    expect((await job.done).status).toBe("cancelled");
    await job.cancel();
    const unknown = client.cancel("job_01KZ4TA000000000000000000C");
    await expect(unknown).rejects.toMatchObject({ code: "NOT_FOUND" });
  },
);

test.skipIf(isMissing)(
  "the Python runtime: subscribers get history, live and the end",
  async () => {
    const url = await pythonRuntime();
    const [owner, watcher] = [await connect(url), await connect(url)];
    const job = await owner.submit({ agent: "slow", input: { n: 6, d: 0.05 } });
    const own = eventsOf(job);
    const followed = await watcher.subscribe(job.id);
    expect(messagesOf(await eventsOf(followed))).toEqual(ticks(6));
    expect((await followed.done).result).toBe("finished");
    expect(messagesOf(await own)).toEqual(ticks(6));
    const late = await watcher.subscribe(job.id);
    expect(messagesOf(await eventsOf(late))).toEqual(ticks(6));
    expect((await late.done).result).toBe("finished");
    await expect(watcher.subscribe("job_01KZ4TA000000000000000000C")).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  },
);

// "after resume, re-list and re-subscribe, because live events of running jobs are lost"
test.skipIf(isMissing)("the Python runtime: a job is followed to its end over a cut", async () => {
  const url = await pythonRuntime();
  const transports: Transport[] = [];
  const states: string[] = [];
  const client = await ArcpClient.connect(
    async (signal) => {
      const transport = await connectWebSocket(url, { signal });
      transports.push(transport);
      return transport;
    },
    { ...TOKEN, onState: ({ kind }) => states.push(kind) },
  );
  onTestFinished(() => client.close());
  const job = await client.submit({ agent: "slow", input: { n: 12, d: 0.1 } });
  const got: string[] = [];
  for await (const event of job.events()) {
    if (event.kind === "log") got.push(event.body.message);
    if (got.length === 3) transports[0]?.close();
  }
  expect((await job.done).result).toBe("finished");
  expect(states).toEqual(["live", "lost", "resumed"]);
  // What its agent says between the cut and the subscription never leaves that runtime.
  expect(got).toEqual(ticks(12).filter((tick) => got.includes(tick)));
  expect(got.length).toBeGreaterThan(8);
});

test.skipIf(isMissing)("the Python runtime: a wrong token is told at once", async () => {
  const url = await pythonRuntime();
  const wrong = ArcpClient.connect(url, { token: "wrong" });
  await expect(wrong).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});
