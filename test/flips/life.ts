/**
 * The files of a daemon that lived a little: closed well, and as kill -9 leaves them (copied while
 * they are open and at rest, which is what is in the page cache then). Its events, snapshots and
 * streams are of every kind that the store keeps in its own way.
 */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { LIBRARY } from "../../src/core/by.ts";
import { fenceOf } from "../../src/core/fencing.ts";
import { capture } from "../../src/core/snapshot.ts";
import { Engine } from "../../src/engine/engine.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { backUp } from "../../src/log/sqlite/upkeep.ts";
import type { Store } from "../../src/log/store.ts";
import { TestClock } from "../support/engine/fixture.ts";

const DATABASE = "rollcall.db";
const FILES = [DATABASE, `${DATABASE}-wal`, `${DATABASE}.witness`];

export interface Ended {
  /** Its files are here. */
  readonly folder: string;
  /** Everything that can be read from them. */
  readonly content: string;
  /** No token and no term that was handed out is above it. */
  readonly fence: number;
}

export interface Lives {
  readonly closed: Ended;
  readonly killed: Ended;
  /** A backup of it is in the folder, in place of the database. */
  readonly backup: Ended;
  /** Closed well, and too large for all of its rows to be checked at a start. */
  readonly large?: Ended;
}

/** A large one takes its time, with every flip. */
export async function live(folder: string, hasLarge = false): Promise<Lives> {
  const source = join(folder, "source");
  mkdirSync(source);
  const path = join(source, DATABASE);
  const first = await opened(path);
  await work(first.engine, first.store, 0);
  await snapshot(first.engine, first.store);
  await first.close();
  // The next one has a write-ahead log beside what is in the file.
  const { engine, store } = await opened(path);
  await work(engine, store, 1);
  const fence = engine.peek(fenceOf);
  // First, or a deadline that passes meanwhile on a busy machine is in the file, and not in this.
  await engine.close();
  const content = await contentOf(store);
  const backup = join(folder, "backup");
  mkdirSync(backup);
  await backUp({ path, target: join(backup, DATABASE), madeBy: "flips" });
  const killed = copyOf(source, join(folder, "killed"));
  await store.close();
  const closed = copyOf(source, join(folder, "closed"));
  const ended = (of: string): Ended => ({ folder: of, content, fence });
  const lives = { closed: ended(closed), killed: ended(killed), backup: ended(backup) };
  return hasLarge ? { ...lives, large: await grown(lives.closed, join(folder, "large")) } : lives;
}

const GROWN_STREAMS = 3000;

/** By many streams of a few blocks: most of it are the pages of tables and indexes. */
async function grown(from: Ended, folder: string): Promise<Ended> {
  const { engine, store } = await opened(copied(from, folder));
  for (let round = 0; round < 3; round += 1) {
    const blocks = Array.from({ length: GROWN_STREAMS }, (_, index) => ({
      stream: `large/${index}`,
      entries: [`round ${round}`, "z".repeat(1100 + (index % 7) * 50)],
    }));
    await store.streams.appendAll(blocks);
  }
  const fence = engine.peek(fenceOf);
  await engine.close();
  const content = await contentOf(store);
  await store.close();
  return { folder, content, fence };
}

async function opened(path: string) {
  const store = sqliteStore({ path });
  // Time that stands still: a machine that is slow would have the leader record that time was lost.
  const engine = await Engine.open({ log: store.log, clock: new TestClock() });
  const close = async () => {
    await engine.close();
    await store.close();
  };
  return { engine, store, close };
}

const AGENTS = 12;
const LEASES = 60;

async function work(engine: Engine, { streams }: Store, round: number): Promise<void> {
  for (let i = 0; i < AGENTS; i += 1) {
    const card = { ...CARD, name: `agent ${round}.${i}` };
    const { agentId } = await engine.execute({ type: "agent.register", card, ttlMs: 0 }, LIBRARY);
    await engine.execute({ type: "election.campaign", group: `group ${i % 3}`, agentId }, LIBRARY);
    for (let n = 0; n < LEASES / AGENTS; n += 1) {
      const taskId = `lease ${round}.${i}.${n}`;
      await engine.execute({ type: "lease.acquire", taskId, agentId, ttlMs: 0 }, LIBRARY);
    }
    const stream = `job/${round}.${i}`;
    await streams.append(stream, [`begins ${"x".repeat(i * 150)}`]);
    for (let n = 0; n < i; n += 1) await streams.append(stream, [`step ${n}`, "y".repeat(n * 40)]);
    if (i % 4 === 1) await streams.trim(stream, i);
    if (i % 4 === 2) await streams.remove(stream);
  }
}

const CARD = {
  name: "",
  description: "Lives to be damaged",
  version: "1",
  capabilities: [],
  tools: ["http"],
  metadata: {},
};

/** The log is cut at it. */
async function snapshot(engine: Engine, { log }: Store): Promise<void> {
  const { head } = engine;
  await log.saveSnapshot({ sequence: head, chunks: [...engine.peek(capture)] });
  await log.truncate(head);
}

function copyOf(source: string, target: string): string {
  mkdirSync(target, { recursive: true });
  for (const name of FILES) {
    if (existsSync(join(source, name))) copyFileSync(join(source, name), join(target, name));
  }
  return target;
}

export function copied({ folder }: Ended, target: string): string {
  return join(copyOf(folder, target), DATABASE);
}

/** Everything that a reader of an open store can see. */
export async function contentOf({ log, streams }: Store): Promise<string> {
  const { head, oldest } = await log.open();
  const seen: unknown[] = [head, oldest];
  for await (const { first, entries } of log.read(oldest - 1)) seen.push(first, entries);
  const saved = await log.loadSnapshot(head);
  seen.push(saved?.sequence);
  for await (const chunk of saved?.chunks ?? []) seen.push(chunk);
  for await (const range of streams.ranges("")) {
    seen.push(range);
    for await (const { entries } of streams.read(range.stream, range.oldest - 1))
      seen.push(entries);
  }
  return JSON.stringify(seen.flat(2));
}
