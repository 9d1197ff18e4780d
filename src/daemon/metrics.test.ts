import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect, constants } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, expect, test, vi } from "vitest";
import { COUNT } from "../core/limits.ts";
import type { Facts } from "../core/reports.ts";
import { CARD, register, START_MS, TestClock } from "../../test/support/engine/fixture.ts";
import { framed } from "../net/grpc/frames.ts";
import { ClaimTaskRequestSchema } from "../wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { startDaemon, type Daemon } from "./compose.ts";
import { loadConfig } from "./config.ts";
import { ask } from "../../test/support/daemon/fixture.ts";
import { LIBRARY } from "../core/by.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Watched {
  readonly daemon: Daemon;
  readonly clock: TestClock;
  readonly port: number;
  /** The samples of the page, by their names with labels. */
  readonly look: () => Promise<ReadonlyMap<string, number>>;
}

async function start(more: Readonly<Record<string, string>> = {}): Promise<Watched> {
  const flags = { memory: "true", addr: ":0", "http-addr": ":0", "log-level": "silent" };
  const files = { "status-files": "false" };
  const clock = new TestClock();
  const daemon = await startDaemon(
    await loadConfig({ flags: { ...flags, ...files, ...more }, env: {} }),
    {
      clock,
    },
  );
  cleanups.push(() => daemon.close());
  const port = daemon.httpAddress?.port ?? 0;
  const look = async () => parse((await ask(port, "/metrics")).body);
  return { daemon, clock, port, look };
}

/** Strict: each family has its HELP and TYPE, once, before its samples; no sample comes twice. */
function parse(page: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  const families = new Map<string, string>();
  let family = "";
  expect(page.endsWith("\n")).toBe(true);
  for (const line of page.split("\n")) {
    if (line === "") continue;
    const help = /^# HELP ([a-z][a-z_\d]*) \S.*$/.exec(line);
    const type = /^# TYPE ([a-z][a-z_\d]*) (counter|gauge|histogram|summary)$/.exec(line);
    const sample = /^([a-z][a-z_\d]*)(\{[^}]*\})? (-?[\d.e+-]+|[Nn]a[Nn]|[+-]Inf)$/.exec(line);
    if (help) {
      family = help[1] ?? "";
      expect([...families.keys()]).not.toContain(family);
      families.set(family, "");
    } else if (type) {
      expect(type[1]).toBe(family);
      families.set(family, type[2] ?? "");
    } else if (sample) {
      const [, name = "", labels = "", value] = sample;
      expect([name, name.replace(/_(?:bucket|sum|count)$/, "")]).toContain(family);
      expect(labels).toMatch(/^(?:\{(?:[a-z_\d]+="[^"\\\n]*",?)+\})?$/i);
      expect([...values.keys()]).not.toContain(name + labels);
      values.set(name + labels, Number(value));
    } else throw new Error(`neither a sample nor a comment: ${line}`);
  }
  expect([...families].filter(([, kind]) => kind === "")).toEqual([]);
  return values;
}

test("the page is Prometheus' text, and counts what the daemon does", async () => {
  const { daemon, port, look } = await start();
  const agentId = await register(daemon.engine);
  await register(daemon.engine);
  await daemon.engine.execute({ type: "lease.acquire", taskId: "t", agentId, ttlMs: 0 }, LIBRARY);
  await daemon.engine.heartbeat(agentId, LIBRARY);
  await ask(port, "/nope");
  const { headers } = await ask(port, "/metrics");
  expect(headers["content-type"]).toContain("text/plain; version=0.0.4");
  const values = await look();
  expect(values.get("agentkeeper_agents_alive")).toBe(2);
  expect(values.get("agentkeeper_leases_active")).toBe(1);
  expect(values.get('rollcall_mode{mode="leading"}')).toBe(1);
  expect(values.get('rollcall_mode{mode="following"}')).toBe(0);
  expect(values.get("rollcall_log_head")).toBe(4);
  expect(values.get("rollcall_commands_total")).toBe(3);
  expect(values.get("rollcall_heartbeats_total")).toBe(1);
  expect(values.get('rollcall_events_total{topic="agent.registered"}')).toBe(2);
  expect(values.get('rollcall_events_total{topic="lease.acquired"}')).toBe(1);
  expect(values.get("rollcall_append_seconds_count")).toBe(values.get("rollcall_appends_total"));
  expect(values.get("rollcall_append_events_sum")).toBe(3);
  expect(values.get('rollcall_http_refusals_total{code="NOT_FOUND"}')).toBe(1);
  expect(values.get("rollcall_http_requests_total")).toBe(3);
  expect(values.get("process_resident_memory_bytes")).toBeGreaterThan(0);
  expect(values.get('rollcall_limit{of="agents"}')).toBe(COUNT.agents);
});

test("the queue shows how many wait, for how long, and what became of the others", async () => {
  const { daemon, clock, look } = await start();
  const { engine } = daemon;
  const agentId = await register(engine, 3_600_000);
  const enqueue = () =>
    engine.execute(
      {
        type: "task.create",
        taskType: "t",
        input: "aGV5",
        requiredTools: [],
        maxRetries: 0,
        ttlMs: 0,
      },
      LIBRARY,
    );
  const statuses = async () => {
    const values = await look();
    return ["pending", "claimed", "completed", "dead"].map((status) =>
      values.get(`rollcall_tasks{status="${status}"}`),
    );
  };
  expect(await statuses()).toEqual([0, 0, 0, 0]);
  expect((await look()).get("rollcall_task_oldest_pending_seconds")).toBe(0);
  const [first, second] = [await enqueue(), await enqueue()];
  await clock.advance(7_000);
  await enqueue();
  expect(await statuses()).toEqual([3, 0, 0, 0]);
  expect((await look()).get("rollcall_task_oldest_pending_seconds")).toBe(7);
  expect((await look()).get('rollcall_task_bytes{state="unfinished"}')).toBe(12);
  await engine.execute({ type: "task.claim", agentId }, LIBRARY);
  await engine.execute({ type: "task.claim", agentId }, LIBRARY);
  expect(await statuses()).toEqual([1, 2, 0, 0]);
  expect((await look()).get("rollcall_task_oldest_pending_seconds")).toBe(0);
  await engine.execute({ type: "task.complete", taskId: first.id, agentId, output: "" }, LIBRARY);
  await engine.execute({ type: "task.fail", taskId: second.id, agentId, reason: "no" }, LIBRARY);
  expect(await statuses()).toEqual([1, 0, 1, 1]);
});

test("agents, groups and policies are counted by what they are now", async () => {
  const { daemon, clock, look } = await start();
  const { engine } = daemon;
  const agentId = await register(engine, 10_000);
  const lasting = await register(engine, 3_600_000);
  await engine.execute({ type: "election.campaign", group: "g", agentId: lasting }, LIBRARY);
  await engine.execute({ type: "election.campaign", group: "h", agentId }, LIBRARY);
  const policy = { id: "p", subject: "*", action: "*", resource: "*", effect: "deny" } as const;
  await engine.execute({ type: "policy.set", policy }, LIBRARY);
  const shown = async () => {
    const values = await look();
    return [
      ...["alive", "unreachable", "dead"].map((status) => `rollcall_agents{status="${status}"}`),
      "agentkeeper_agents_alive",
      "rollcall_election_groups",
      "rollcall_election_leaders",
      "rollcall_policies",
    ].map((name) => values.get(name));
  };
  expect(await shown()).toEqual([2, 0, 0, 2, 2, 2, 1]);
  await clock.advance(10_000);
  expect(await shown()).toEqual([1, 1, 0, 2, 2, 2, 1]);
  await engine.heartbeat(agentId, LIBRARY);
  expect(await shown()).toEqual([2, 0, 0, 2, 2, 2, 1]);
  await clock.advance(20_000);
  expect(await shown()).toEqual([1, 0, 1, 1, 2, 1, 1]);
  expect(clock.wallMs()).toBe(START_MS + 30_000);
});

test("agents that wait for a task are counted", async () => {
  const { daemon, look } = await start();
  const agentId = await register(daemon.engine, 3_600_000);
  const session = connect(`http://127.0.0.1:${daemon.grpcAddress?.port}`);
  cleanups.push(() => session.destroy());
  const claim = session.request({
    ":method": "POST",
    ":path": "/agentkeeper.v1.TaskService/ClaimTask",
    "content-type": "application/grpc",
    te: "trailers",
  });
  claim.on("error", () => undefined);
  const request = create(ClaimTaskRequestSchema, { agentId });
  claim.end(framed(toBinary(ClaimTaskRequestSchema, request)));
  const waiting = async () => (await look()).get("rollcall_claims_waiting");
  await vi.waitFor(async () => expect(await waiting()).toBe(1));
  expect((await look()).get("rollcall_grpc_connections")).toBe(1);
  claim.close(constants.NGHTTP2_CANCEL);
  await vi.waitFor(async () => expect(await waiting()).toBe(0));
});

test("who looks on is counted, and what find has to look through", async () => {
  const { daemon, port, look } = await start();
  await daemon.engine.execute({ type: "agent.register", card: CARD, ttlMs: 0 }, LIBRARY);
  const isReady = async () => {
    const values = await look();
    expect(values.get("rollcall_search_documents")).toBe(1);
    expect(values.get("rollcall_search_unembedded")).toBe(0);
  };
  // The model is loaded for it.
  await vi.waitFor(isReady, { timeout: 8_000 });
  const before = await look();
  const request = get(`http://127.0.0.1:${port}/v1/events`, { agent: false });
  const [stream] = (await once(request, "response")) as [IncomingMessage];
  const during = await look();
  expect(during.get("rollcall_event_streams_open")).toBe(1);
  expect(during.get("rollcall_watches_open")).toBe((before.get("rollcall_watches_open") ?? 0) + 1);
  stream.destroy();
  await vi.waitFor(async () => {
    expect((await look()).get("rollcall_event_streams_open")).toBe(0);
  });
});

test("MCP clients are counted while they are there, and calls of the registry's door", async () => {
  const { daemon, look } = await start({ "a2a-addr": ":0" });
  const clients = async () => {
    const values = await look();
    return ["sessions", "connections", "listeners"].map((of) =>
      values.get(`rollcall_mcp_clients{of="${of}"}`),
    );
  };
  expect(await clients()).toEqual([0, 0, 0]);
  const before = (await look()).get("rollcall_http_requests_total") ?? NaN;
  const url = `http://127.0.0.1:${daemon.a2aAddress?.port ?? 0}`;
  const request = get(`${url}/mcp/sse`, { agent: false });
  const [stream] = (await once(request, "response")) as [IncomingMessage];
  expect(stream.headers["content-type"]).toContain("text/event-stream");
  expect(await clients()).toEqual([0, 1, 0]);
  // Two looks, and the call itself.
  expect((await look()).get("rollcall_http_requests_total")).toBe(before + 3);
  stream.destroy();
  await vi.waitFor(async () => expect(await clients()).toEqual([0, 0, 0]));
});

test("the fleet is counted by headline, with the questions that wait", async () => {
  const { daemon, clock, look } = await start();
  const say = (id: string, facts: Facts) =>
    daemon.engine.execute(
      {
        type: "fleet.report",
        report: { alias: `s:${id}`, agentId: id, links: [], order: 1, reportedAtMs: 1, facts },
      },
      LIBRARY,
    );
  const liveness = { value: "alive", rule: "fresh" } as const;
  const asked = { kind: "text", text: "?", sinceMs: START_MS - 90_000 } as const;
  await say("a", { liveness, activity: { value: "idle", rule: "rests" } });
  await say("b", { liveness, question: { value: asked, rule: "asks" } });
  await register(daemon.engine);
  await clock.advance(10_000);
  const values = await look();
  expect(values.get('rollcall_fleet{headline="NEEDS YOU"}')).toBe(1);
  expect(values.get('rollcall_fleet{headline="IDLE"}')).toBe(2);
  expect(values.get('rollcall_fleet{headline="GONE"}')).toBe(0);
  expect(values.get('rollcall_loop_delay_seconds{quantile="0.999"}')).toBeGreaterThanOrEqual(0);
  expect(values.get("rollcall_questions_open")).toBe(1);
  expect(values.get("rollcall_question_oldest_seconds")).toBe(100);
});
