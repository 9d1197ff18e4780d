/**
 * What the engine costs: durable commands against a bare SQLite group commit of the same bytes,
 * heartbeats of a million agents, starting from a million events, and watching. `--only start`
 * measures one part: commands, start, watch, memory or heartbeats.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Agent, AgentCard } from "../src/core/agents.ts";
import { decode, encode, type Event } from "../src/core/events.ts";
import { rules, type Command } from "../src/core/rules.ts";
import { capture } from "../src/core/snapshot.ts";
import { emptyState } from "../src/core/state.ts";
import { Engine } from "../src/engine/engine.ts";
import { load } from "../src/engine/replica.ts";
import type { Watch } from "../src/engine/watch.ts";
import { memoryStore } from "../src/log/memory/store.ts";
import { sqliteStore } from "../src/log/sqlite/store.ts";
import type { Store } from "../src/log/store.ts";
import { CALLERS, CommitRace } from "./engine/commits.ts";
import { conclude, inTurns, memoryBytes, part, rate, report } from "./measure.ts";
import { LIBRARY } from "../src/core/by.ts";

const COMMANDS = 200_000;
const AGENTS = 1_000_000;
const EVENTS = 1_000_000;
const WATCHERS = 1_000;
const WATCHED_EVENTS = 1_000;
const START_MS = 1_700_000_000_000;

// Memory is only worth measuring without what is merely not collected yet.
setFlagsFromString("--expose-gc");
globalThis.gc = runInNewContext("gc") as typeof globalThis.gc;

const newId = () => randomUUID().replaceAll("-", "");

function openEngine(store: Store): Promise<Engine> {
  return Engine.open({ log: store.log });
}

function card(i: number): AgentCard {
  return {
    name: `agent-${i}`,
    description: "Fetches and parses web pages",
    version: "1.0.0",
    capabilities: [],
    tools: ["browser", "http_client"],
    metadata: {},
  };
}

async function benchCommands(folder: string): Promise<void> {
  const race = new CommitRace(folder, COMMANDS);
  const [ours, bare] = await inTurns(
    5,
    () => race.engineRate(),
    () => race.bareRate(),
  );
  const unit = `commands/s`;
  report({ name: `durable acquire/release, ${CALLERS} callers`, value: ours ?? 0, unit });
  report({ name: `bare SQLite group commit of the same bytes`, value: bare ?? 0, unit });
  const value = (ours ?? 0) / (bare ?? 1);
  report({ name: "ratio", value, unit: "×", target: { atLeast: 0.6 } });
}

/** A million agents that say every fifteen seconds that they are there. */
async function benchHeartbeats(): Promise<void> {
  const store = memoryStore();
  let { head } = await store.log.open();
  const ids: string[] = [];
  while (ids.length < AGENTS) {
    const entries = Array.from({ length: 10_000 }, () => {
      const agent = registeredAgent(ids.length);
      ids.push(agent.agentId);
      return encode({ type: "agent.registered", agent }, START_MS);
    });
    ({ head } = await store.log.append({ entries }, { head, mark: head }, { id: `fill.${head}` }));
  }
  const engine = await openEngine(store);
  const beat = (order: readonly string[]) => () =>
    rate(order.length, () => {
      for (const id of order) void engine.heartbeat(id, LIBRARY);
    });
  // Each agent keeps its own rhythm, so they come as they registered, period after period, give or
  // take 15 ms: a thousand places at 66,000 a second. In no order at all every one is a walk
  // through cold memory: reported only.
  const [inStep = 0, shuffled = 0] = await inTurns(
    5,
    beat(jittered(ids, 1_000)),
    beat(jittered(ids, Infinity)),
  );
  const unit = "µs";
  const target = { atMost: 1 };
  report({ name: "a heartbeat among 1,000,000 agents", value: 1e6 / inStep, unit, target });
  report({ name: "the same in random order", value: 1e6 / shuffled, unit });
  await engine.close();
}

/** The state alone: a daemon keeps the log on disk. */
function benchMemory(): Promise<void> {
  const before = memoryBytes();
  const state = emptyState();
  for (let i = 0; i < AGENTS; i += 1) {
    const agent = registeredAgent(i);
    // Through the log's encoding, as after a start: nothing is shared that would not be.
    const { event } = decode(encode({ type: "agent.registered", agent }, START_MS), i + 1);
    rules.evolve(state, event, START_MS);
  }
  const value = (memoryBytes() - before) / state.agents.byId.size;
  report({ name: "memory of an agent", value, unit: "bytes", target: { atMost: 1024 } });
  return Promise.resolve();
}

function registeredAgent(i: number): Agent {
  return {
    agentId: newId(),
    card: card(i),
    status: "alive",
    ttlMs: 30_000,
    registeredAtMs: START_MS,
    lastHeartbeatAtMs: START_MS,
    diedAtMs: 0,
  };
}

/** A day in a log: agents that come and stay, leases and tasks that come and go. */
function* dayInTheLog(): Generator<Event> {
  const world = emptyState();
  let nowMs = START_MS;
  const agentIds: string[] = [];
  const run = (command: Command): readonly Event[] => {
    nowMs += 1;
    const decision = rules.decide(world, command, { nowMs, newId, by: LIBRARY });
    if (!decision.ok) throw new Error(decision.reason);
    for (const event of decision.events) rules.evolve(world, event, nowMs);
    return decision.events;
  };
  for (let n = 0; ; n += 1) {
    if (n % 20 === 0) {
      const events = run({ type: "agent.register", card: card(n), ttlMs: 0 });
      for (const event of events)
        if (event.type === "agent.registered") agentIds.push(event.agent.agentId);
      yield* events;
    }
    const agentId = agentIds[n % agentIds.length] ?? "";
    const taskId = `task:${n}`;
    yield* run({ type: "lease.acquire", taskId, agentId, ttlMs: 0 });
    const token = world.fencing.lastToken;
    yield* run({ type: "lease.renew", taskId, agentId, token, ttlMs: 0 });
    if (n % 10 > 0) yield* run({ type: "lease.release", taskId, agentId, token });
  }
}

async function writeLog(path: string, events: number): Promise<void> {
  const store = sqliteStore({ path });
  let { head } = await store.log.open();
  let entries: string[] = [];
  for (const event of dayInTheLog()) {
    entries.push(encode(event, START_MS + head));
    if (entries.length < 100) continue;
    ({ head } = await store.log.append({ entries }, { head, mark: head }, { id: `fill.${head}` }));
    entries = [];
    if (head >= events) break;
  }
  await store.close();
}

async function benchStart(folder: string): Promise<void> {
  const path = join(folder, "rollcall.db");
  await writeLog(path, EVENTS);
  const [replayed] = await inTurns(3, () => startRate(path));
  const unit = "events/s";
  const target = { atLeast: 300_000 };
  report({
    name: "replay of 1,000,000 events without a snapshot",
    value: replayed ?? 0,
    unit,
    target,
  });

  const store = sqliteStore({ path });
  await store.log.open();
  const { state, head } = await load(store.log, rules);
  await store.log.saveSnapshot({ sequence: head, chunks: capture(state) });
  await store.close();
  const [started] = await inTurns(3, () => startRate(path));
  const value = EVENTS / (started ?? 1);
  const held = `${state.agents.byId.size} agents, ${state.leases.byTask.size} leases`;
  report({
    name: `start from it with a snapshot (${held})`,
    value,
    unit: "s",
    target: { atMost: 2 },
  });
}

/** From nothing to an engine that leads. */
async function startRate(path: string): Promise<number> {
  const store = sqliteStore({ path });
  let engine: Engine | undefined;
  const perSecond = await rate(EVENTS, async () => {
    engine = await openEngine(store);
  });
  await engine?.close();
  await store.close();
  return perSecond;
}

/** 1,000 watchers see 1,000 events each; then once more beside one that never pulls. */
async function benchWatch(): Promise<void> {
  const deliveries = async (isOneStalled: boolean): Promise<number> => {
    const engine = await openEngine(memoryStore());
    if (isOneStalled) engine.watch();
    const watches = Array.from({ length: WATCHERS }, () => engine.watch());
    const { agentId } = await engine.execute(
      { type: "agent.register", card: card(0), ttlMs: 0 },
      LIBRARY,
    );
    const all = watches.map((watch) => seeAll(watch, 1 + WATCHED_EVENTS));
    const perSecond = await rate(WATCHERS * WATCHED_EVENTS, async () => {
      for (let n = 0; n < WATCHED_EVENTS / 10; n += 1) {
        const wave = Array.from({ length: 10 }, (_, i) =>
          engine.execute(
            { type: "lease.acquire", taskId: `${n}:${i}`, agentId, ttlMs: 0 },
            LIBRARY,
          ),
        );
        await Promise.all(wave);
      }
      await Promise.all(all);
    });
    await engine.close();
    return perSecond;
  };
  // Each takes some milliseconds only.
  const [without, beside] = await inTurns(
    31,
    () => deliveries(false),
    () => deliveries(true),
  );
  const unit = "deliveries/s";
  report({ name: `${WATCHERS} watchers × ${WATCHED_EVENTS} events`, value: without ?? 0, unit });
  const value = (beside ?? 0) / (without ?? 1);
  const target = { atLeast: 0.8 };
  report({ name: "the same beside one that stalls, ratio", value, unit: "×", target });
}

async function seeAll(watch: Watch, events: number): Promise<void> {
  let last = 0;
  for (let seen = 0; seen < events;) {
    for (const item of await watch.pull()) {
      if (item.kind !== "event") continue;
      const { sequence } = item.recorded;
      if (last > 0 && sequence !== last + 1) throw new Error(`${sequence} came after ${last}`);
      last = sequence;
      seen += 1;
    }
  }
}

/** Each item moved by up to `by` places. */
function jittered<T>(items: readonly T[], by: number): T[] {
  const reach = Math.min(by, items.length);
  return items
    .map((item, i) => ({ item, at: (by === Infinity ? 0 : i) + Math.random() * reach }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

await part("commands", benchCommands);
await part("start", benchStart);
await part("watch", benchWatch);
await part("memory", benchMemory);
await part("heartbeats", benchHeartbeats);
conclude();
