/**
 * Writes the log of a daemon that holds much, in a process of its own: a million agents need a
 * larger heap than Node takes by itself.
 *
 *   run-ts.mjs bench/scale/fill.ts FOLDER '{"agents":1000,"nouns":true}'   prints the samples
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { LIBRARY, namedBy, type By } from "../../src/core/by.ts";
import { encode } from "../../src/core/events.ts";
import { COUNT, RETENTION } from "../../src/core/limits.ts";
import { DAY } from "../../src/core/units.ts";
import { Engine } from "../../src/engine/engine.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { oldJob } from "../../test/support/core/jobs.ts";

export interface Filling {
  readonly agents: number;
  /** With as many leases, tasks and other nouns, up to their limits; else agents alone. */
  readonly nouns: boolean;
}

/** Ids of one agent, lease and task in the middle of them. */
export interface Samples {
  readonly agentId: string;
  readonly leaseKey: string;
  readonly taskId: string;
}

const AT_ONCE = 1_000;
/** Folders that the agents work in: a thousandth of them each, at least a hundred agents. */
const PER_FOLDER = 100;
const SHARE = 0.9;
export const HEAP_FLAGS = ["--max-old-space-size=12288"];

export async function fill(folder: string, filling: Filling): Promise<Samples> {
  const program = ["scripts/run-ts.mjs", "bench/scale/fill.ts", folder, JSON.stringify(filling)];
  const { stdout } = await promisify(execFile)(process.execPath, [...HEAP_FLAGS, ...program]);
  return JSON.parse(stdout) as Samples;
}

async function write(folder: string, { agents, nouns }: Filling): Promise<Samples> {
  const store = sqliteStore({ path: join(folder, "rollcall.db") });
  const engine = await Engine.open({ log: store.log });
  const agentIds = await registerAgents(engine, agents);
  const middle = Math.floor(agents / 2);
  const agentId = agentIds[middle] ?? "";
  const taskIds = nouns ? await fillNouns(engine, agentIds) : [];
  const { head } = engine;
  await engine.close();
  await store.close();
  if (nouns) await importJobs(folder, Math.min(agents, SHARE * RETENTION.endedJobs), head);
  return {
    agentId,
    leaseKey: `key-${middle}`,
    taskId: taskIds[Math.floor(taskIds.length / 2)] ?? "",
  };
}

async function registerAgents(engine: Engine, count: number): Promise<readonly string[]> {
  const agentIds: string[] = [];
  await inGroups(count, async (i) => {
    const card = {
      name: `agent-${i}`,
      description: "Fetches and parses web pages",
      version: "1.0.0",
      capabilities: [],
      tools: ["browser", "http_client"],
      metadata: { workspace: `/src/project-${Math.floor(i / PER_FOLDER)}` },
    };
    const made = await engine.execute({ type: "agent.register", card, ttlMs: DAY }, LIBRARY);
    agentIds.push(made.agentId);
  });
  return agentIds;
}

/** Every tenth agent holds all the leases. Gives the ids of the tasks. */
async function fillNouns(engine: Engine, agentIds: readonly string[]): Promise<readonly string[]> {
  const count = agentIds.length;
  const agentAt = (i: number) => agentIds[i] ?? "";
  const upTo = (limit: number) => Math.min(count, SHARE * limit);
  await inGroups(count, async (i) => {
    const lease = { taskId: `key-${i}`, agentId: agentAt(i - (i % 10)), ttlMs: DAY };
    await engine.execute({ type: "lease.acquire", ...lease }, LIBRARY);
  });
  const taskIds: string[] = [];
  await inGroups(upTo(COUNT.unfinishedTasks), async (i) => {
    const task = { taskType: `type-${i % 10}`, input: "", requiredTools: ["none"] };
    const more = { maxRetries: 0, ttlMs: 0 };
    const made = await engine.execute({ type: "task.create", ...task, ...more }, LIBRARY);
    taskIds.push(made.id);
  });
  await inGroups(upTo(COUNT.groups), async (i) => {
    const candidate = { group: `group-${i}`, agentId: agentAt(i) };
    await engine.execute({ type: "election.campaign", ...candidate }, LIBRARY);
  });
  await inGroups(upTo(COUNT.policies), async (i) => {
    const rule = {
      subject: `team-${i}:*`,
      action: "tool:*",
      resource: "*",
      effect: "deny",
    } as const;
    await engine.execute({ type: "policy.set", policy: { id: `policy-${i}`, ...rule } }, LIBRARY);
  });
  // Of the others: those that hold leases are at work, among few agents as among many.
  await inGroups(upTo(RETENTION.questions), (i) =>
    askPerson(engine, i, agentAt(i % 10 === 0 ? i + 1 : i)),
  );
  await inGroups(upTo(COUNT.entries), (i) => enterDirectory(engine, i));
  return taskIds;
}

async function askPerson(engine: Engine, i: number, agentId: string): Promise<void> {
  const ruled = <Value>(value: Value) => ({ value, rule: "bench" });
  const report = {
    alias: `bench:${i}`,
    agentId,
    links: [],
    order: 1,
    reportedAtMs: engine.nowMs,
    facts: {
      liveness: ruled("alive" as const),
      question: ruled({ kind: "text" as const, text: "May I?", sinceMs: engine.nowMs }),
    },
  };
  await engine.execute({ type: "fleet.report", report }, LIBRARY);
}

/** A card that was fetched, of one of many hosts and senders; its heartbeats need not come. */
async function enterDirectory(engine: Engine, i: number): Promise<void> {
  const origin = `https://host-${Math.floor(i / 100)}.example`;
  const url = `${origin}/${i}`;
  const source = `sender-${Math.floor(i / 500)}`;
  const card = {
    text: JSON.stringify({
      name: `remote-${i}`,
      description: "Translates texts",
      version: "1.0.0",
      url,
    }),
    digest: `digest-${i}`,
  };
  const by: By = namedBy(source, "a2a");
  const said = { url, origin, source, card, intervalMs: 0, staleMultiplier: 3 };
  const tokens = { newTokenHash: `token-${i}`, tokenHash: "" };
  await engine.execute({ type: "directory.heartbeat", ...said, ...tokens }, by);
  const proof = { isItsOwn: true, isSigned: false, signature: "" };
  const fetched = { url, heard: card.digest, card, from: `${url}/card`, proof };
  await engine.execute({ type: "directory.confirm", ...fetched }, LIBRARY);
}

/** Jobs that ended, as a file of an older program brings them. */
async function importJobs(folder: string, count: number, head: number): Promise<void> {
  const store = sqliteStore({ path: join(folder, "rollcall.db") });
  await store.log.open();
  const nowMs = Date.now();
  const times = { submittedAtMs: nowMs, startedAtMs: nowMs, endedAtMs: nowMs };
  for (let from = 0; from < count; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - from);
    const entries = Array.from({ length: size }, (_, i) => {
      const job = oldJob({ id: `job_${String(from + i).padStart(8, "0")}`, ...times });
      return encode({ type: "job.imported", job }, nowMs);
    });
    const at = head + from;
    await store.log.append({ entries }, { head: at, mark: at }, { id: `fill.${at}` });
  }
  await store.close();
}

async function inGroups(count: number, act: (i: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - from);
    await Promise.all(Array.from({ length: size }, (_, i) => act(from + i)));
  }
}

const [, file = "", folder = "", filling = ""] = process.argv;
if (file.endsWith(join("scale", "fill.ts"))) {
  console.log(JSON.stringify(await write(folder, JSON.parse(filling) as Filling)));
}
