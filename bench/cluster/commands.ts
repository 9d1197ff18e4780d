/** The engine under load on any store: as many callers as wait for one commit, or one alone. */
import { setTimeout as delay } from "node:timers/promises";
import { LIBRARY } from "../../src/core/by.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { Store } from "../../src/log/store.ts";
import { percentile, rate, type Measured } from "../measure.ts";

const CARD = {
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
  const { log } = store;
  let at = await log.open();
  const entries = Array.from({ length: load.batch }, (_, i) => `${i}`.padEnd(200, "x"));
  const tookMs: number[] = [];
  const perSecond = await rate(load.appends, async () => {
    for (let n = 0; n < load.appends; n += 1) {
      const startMs = performance.now();
      at = { ...at, ...(await log.append({ entries }, at, { id: `bench.${n}` })) };
      tookMs.push(performance.now() - startMs);
    }
  });
  await store.close();
  return { perSecond, p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99) };
}
