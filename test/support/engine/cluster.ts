/** For tests of several engines on one log. */
import type { Log } from "../../../src/log/log.ts";
import { memoryStore, MemoryMedium } from "../../../src/log/memory/store.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { InProcessForwarder } from "../../../src/engine/forward.ts";
import type { EngineOptions } from "../../../src/engine/options.ts";
import { openEngine, TestClock, TestLog } from "./fixture.ts";

export const NAMES = ["a", "b", "c"];

/** Nodes on one shared log; the first one leads. */
export async function openCluster<L extends TestLog = TestLog>(
  names: readonly string[],
  options: Partial<EngineOptions> = {},
  logOn = (inner: Log) => new TestLog(inner) as L,
) {
  const medium = new MemoryMedium();
  const clock = new TestClock();
  const forwarder = new InProcessForwarder();
  const nodes: { engine: Engine; log: L }[] = [];
  for (const node of names) {
    const log = logOn(memoryStore({ medium }).log);
    const { engine } = await openEngine({ ...options, node, log, clock, forwarder });
    forwarder.nodes.set(node, engine);
    nodes.push({ engine, log });
    await clock.advance(10);
  }
  const [first, second, third] = nodes;
  if (!first || !second || !third) throw new Error("a cluster has three nodes here");
  return { first, second, third, clock, forwarder };
}

export function leaderOf(nodes: readonly { readonly engine: Engine }[]): Engine | undefined {
  return nodes.find(({ engine }) => engine.mode === "leading")?.engine;
}
