/** The engine under load on any store: as many callers as wait for one commit, or one alone. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { LIBRARY } from "../../src/core/by.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { Log } from "../../src/log/log.ts";
import type { Store } from "../../src/log/store.ts";
import { percentile, rate, type Measured } from "../measure.ts";

export const CARD = {
  name: "agent",
  description: "Fetches and parses web pages",
  version: "1.0.0",
  capabilities: [],
  tools: ["browser", "http_client"],
  metadata: {},
};

/** Agents that register, so many at a time. */
export async function engineRate(store: Store, callers: number, commands: number): Promise<number> {
  const engine = await Engine.open({ log: store.log });
  // On a log that is shared it has to claim the lead first.
  while (engine.mode !== "leading") await delay(10);
  const caller = async () => {
    for (let n = 0; n < commands / callers; n += 1) {
      await engine.execute({ type: "agent.register", card: CARD, ttlMs: 0 }, LIBRARY);
    }
  };
  const perSecond = await rate(commands, async () => {
    await Promise.all(Array.from({ length: callers }, caller));
  });
  await engine.close();
  await store.close();
  return perSecond;
}

export interface AppendLoad {
  readonly appends: number;
  /** Entries in each, of about two hundred bytes. */
  readonly batch: number;
}

/** Appends of the log itself, one after the other. */
export async function appendRate(store: Store, load: AppendLoad): Promise<Measured> {
  const measured = await appended(store.log, load);
  await store.close();
  return measured;
}

/** The same while a snapshot of so many bytes is saved, until it is. */
export async function besideSnapshot(store: Store, bytes: number): Promise<Measured> {
  await appended(store.log, { appends: 1, batch: 1 });
  const chunks = Array.from({ length: bytes >> 16 }, () => "x".repeat(1 << 16));
  let isSaved = false;
  const saving = store.log.saveSnapshot({ sequence: 1, chunks }).finally(() => (isSaved = true));
  const measured = await appended(store.log, { appends: Infinity, batch: 1 }, () => isSaved);
  await saving;
  await store.close();
  return measured;
}

async function appended(
  log: Log,
  load: AppendLoad,
  isOver: () => boolean = () => false,
): Promise<Measured> {
  let at = await log.open();
  const run = randomUUID();
  const entries = Array.from({ length: load.batch }, (_, i) => `${i}`.padEnd(200, "x"));
  const tookMs: number[] = [];
  const beganMs = performance.now();
  for (let n = 0; n < load.appends && !isOver(); n += 1) {
    const startMs = performance.now();
    at = { ...at, ...(await log.append({ entries }, at, { id: `${run}.${n}` })) };
    tookMs.push(performance.now() - startMs);
  }
  const perSecond = (tookMs.length / (performance.now() - beganMs)) * 1000;
  return { perSecond, p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99) };
}
