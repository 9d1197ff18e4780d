import { afterEach, describe, expect, test } from "vitest";
import type { Facts } from "../core/reports.ts";
import { capture } from "../core/snapshot.ts";
import { Fleet } from "../fleet/fleet.ts";
import {
  CARD,
  openEngine,
  register,
  START_MS,
  type Fixture,
  type TestLog,
} from "../../test/support/engine/fixture.ts";
import { OVERVIEW } from "./limits.ts";
import { daemon } from "./daemon.ts";
import type { Overview } from "./overview.ts";
import { LIBRARY } from "../core/by.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Served extends Fixture {
  readonly look: () => Promise<Overview>;
}

async function serve(options: { waiting?: number; log?: TestLog } = {}): Promise<Served> {
  const { waiting = 0, log } = options;
  const fixture = await openEngine(log && { log });
  const { engine, clock } = fixture;
  const fleet = new Fleet({ engine, clock });
  cleanups.push(
    () => engine.close(),
    () => fleet.close(),
  );
  const call = { by: LIBRARY, signal: AbortSignal.any([]) };
  const look = () => daemon.overview.run({ engine, fleet, claims: { waiting }, clock }, {}, call);
  return { ...fixture, look };
}

const TASK = {
  type: "task.create",
  input: "",
  requiredTools: [],
  maxRetries: 0,
  ttlMs: 0,
} as const;

describe("an overview", () => {
  test("of a daemon that nobody uses is empty, but for what it did itself", async () => {
    const { look } = await serve();
    expect(await look()).toEqual({
      sequence: 1,
      atMs: START_MS,
      counts: {
        alive: 0,
        unreachable: 0,
        leases: 0,
        leaders: 0,
        pending: 0,
        claimed: 0,
        completed: 0,
        dead: 0,
        waiting: 0,
      },
      fleet: {
        counts: { "NEEDS YOU": 0, PROBLEM: 0, WORKING: 0, IDLE: 0, GONE: 0 },
        total: 0,
        rows: [],
      },
      agents: [],
      leases: [],
      leaders: [],
      pending: [],
      claimed: [],
      events: [{ sequence: 1, atMs: START_MS, topic: "node.leading", text: "solo leads, epoch 1" }],
    });
  });

  test("shows who has what, by name, and says events in words, the newest first", async () => {
    const { engine, look } = await serve({ waiting: 3 });
    const agentId = await register(engine);
    const me = { agentId, name: CARD.name };
    await engine.execute({ type: "lease.acquire", taskId: "k", agentId, ttlMs: 60_000 }, LIBRARY);
    await engine.execute({ type: "election.campaign", group: "g", agentId }, LIBRARY);
    const worked = await engine.execute({ ...TASK, taskType: "first" }, LIBRARY);
    const waits = await engine.execute(
      { ...TASK, taskType: "second", requiredTools: ["sql"] },
      LIBRARY,
    );
    await engine.execute({ type: "task.claim", agentId }, LIBRARY);
    const overview = await look();
    expect(overview).toMatchObject({
      sequence: engine.head,
      counts: { alive: 1, leases: 1, leaders: 1, pending: 1, claimed: 1, waiting: 3 },
      agents: [{ ...me, status: "alive", tools: ["browser"], lastHeartbeatAtMs: START_MS }],
      leases: [{ taskId: "k", token: 1, holder: me, expiresAtMs: START_MS + 60_000 }],
      leaders: [{ group: "g", term: 1, leader: me, candidates: 1 }],
      pending: [{ id: waits.id, type: "second", requiredTools: ["sql"] }],
      claimed: [{ id: worked.id, type: "first", by: me, claimedAtMs: START_MS }],
    });
    expect(overview.events[0]).toMatchObject({ topic: "task.claimed", sequence: engine.head });
    expect(overview.events[0]?.text).toContain("taken by scraper-1 (");
    expect(JSON.stringify(overview)).not.toContain('"card"');
  });

  test("puts those in trouble first, then the newest; the dead are not shown", async () => {
    const { engine, clock, look } = await serve();
    const lost = await register(engine, 10_000);
    const dead = await register(engine);
    const older = await register(engine, 60_000);
    const newer = await register(engine, 60_000);
    await engine.execute({ type: "agent.deregister", agentId: dead }, LIBRARY);
    await clock.advance(10_000);
    const { agents, counts } = await look();
    expect(agents.map(({ agentId }) => agentId)).toEqual([lost, newer, older]);
    expect(counts).toMatchObject({ alive: 2, unreachable: 1 });
    await engine.heartbeat(lost, LIBRARY);
    expect((await look()).agents.map(({ agentId }) => agentId)).toEqual([newer, older, lost]);
  });

  test("shows the fleet of all wires, first who needs a person, with the question", async () => {
    const { engine, clock, look } = await serve();
    await register(engine);
    const liveness = { value: "alive", rule: "its file is fresh" } as const;
    const value = { kind: "text", text: "drop it? ".repeat(100), sinceMs: clock.wallMs() } as const;
    const say = (agentId: string, facts: Facts) => {
      const about = { alias: `file@box:${agentId}`, agentId, links: [], order: 1 };
      const report = { ...about, reportedAtMs: clock.wallMs(), facts };
      return engine.execute({ type: "fleet.report", report }, LIBRARY);
    };
    await say("left", { liveness: { value: "exited", rule: "its file is gone" } });
    await say("asks", { liveness, name: "filey", question: { value, rule: "it asks" } });
    const { fleet } = await look();
    expect(fleet).toMatchObject({
      counts: { "NEEDS YOU": 1, IDLE: 1, GONE: 1 },
      total: 2,
      rows: [
        { id: "asks", name: "filey", headline: "NEEDS YOU", sinceMs: START_MS },
        { name: CARD.name, headline: "IDLE" },
      ],
    });
    expect(fleet.rows[0]?.why).toBe(value.text.slice(0, OVERVIEW.textLength));
  });

  test("finds who is here among many that are gone", async () => {
    const { engine, look } = await serve();
    const lasting = [await register(engine), await register(engine)];
    for (let i = 0; i < 10 * OVERVIEW.rows; i += 1) {
      await engine.execute({ type: "agent.deregister", agentId: await register(engine) }, LIBRARY);
    }
    const { agents } = await look();
    expect(agents.map(({ agentId }) => agentId)).toEqual(lasting.toReversed());
  });

  test("is as short as a screen, whatever there is", async () => {
    const { engine, clock, look } = await serve();
    const card = { ...CARD, tools: Array.from({ length: 200 }, (_, i) => `tool-${i}`) };
    for (let i = 0; i < 10 * OVERVIEW.rows; i += 1) {
      const { agentId } = await engine.execute(
        { type: "agent.register", card, ttlMs: 60_000 },
        LIBRARY,
      );
      await engine.execute({ type: "lease.acquire", taskId: `k${i}`, agentId, ttlMs: 0 }, LIBRARY);
      if (i === 10 * OVERVIEW.rows - 1) await clock.advance(1);
      await engine.execute({ type: "election.campaign", group: `g${i}`, agentId }, LIBRARY);
      for (const taskType of ["a", "b"]) await engine.execute({ ...TASK, taskType }, LIBRARY);
      await engine.execute({ type: "task.claim", agentId }, LIBRARY);
    }
    const overview = await look();
    const { agents, leases, leaders, pending, claimed, events } = overview;
    for (const list of [agents, leases, leaders, pending, claimed]) {
      expect(list).toHaveLength(OVERVIEW.rows);
    }
    expect(events).toHaveLength(OVERVIEW.events);
    expect(leases[0]?.taskId).toBe(`k${10 * OVERVIEW.rows - 1}`);
    expect(leaders[0]?.group).toBe(`g${10 * OVERVIEW.rows - 1}`);
    expect(agents[0]?.tools).toHaveLength(OVERVIEW.tools);
    expect(overview.counts).toMatchObject({ alive: 500, leases: 500, pending: 500, claimed: 500 });
    expect(JSON.stringify(overview).length).toBeLessThan(100_000);
  });

  test("has fewer events where the log no longer reaches back", async () => {
    const before = await serve();
    for (let i = 0; i < 40; i += 1) await register(before.engine);
    const { head } = before.engine;
    const sequences = async ({ look }: Served) =>
      (await look()).events.map(({ sequence }) => sequence);
    expect(await sequences(before)).toEqual(
      Array.from({ length: OVERVIEW.events }, (_, i) => head - i),
    );
    const { log } = before;
    await log.saveSnapshot({ sequence: head, chunks: before.engine.peek(capture) });
    await log.truncate(head);
    await before.engine.close();
    const after = await serve({ log });
    await register(after.engine);
    expect(await sequences(after)).toEqual([head + 2]);
    for (let i = 0; i < 5; i += 1) await register(after.engine);
    expect((await sequences(after)).at(0)).toBe(head + 7);
  });

  test("cuts what an event says at length", async () => {
    const { engine, look } = await serve();
    const agentId = await register(engine);
    const { id: taskId } = await engine.execute({ ...TASK, taskType: "t" }, LIBRARY);
    await engine.execute({ type: "task.claim", agentId }, LIBRARY);
    const reason = "x".repeat(1_000);
    await engine.execute({ type: "task.fail", taskId, agentId, reason }, LIBRARY);
    expect((await look()).events[0]?.text).toHaveLength(OVERVIEW.textLength);
  });

  test("leaves no watch behind", async () => {
    const { engine, look } = await serve();
    await Promise.all(Array.from({ length: 10 }, look));
    expect(engine.watches.open).toBe(0);
  });
});
