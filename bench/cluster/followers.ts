/** What a member that follows sees, and what it asks the leader for: two engines on one log. */
import { setTimeout as delay } from "node:timers/promises";
import { LIBRARY } from "../../src/core/by.ts";
import { Engine } from "../../src/engine/engine.ts";
import { InProcessForwarder } from "../../src/engine/forward.ts";
import type { Store } from "../../src/log/store.ts";
import { percentile } from "../measure.ts";

/** Counts the barriers that are asked for at once. */
class CountingForwarder extends InProcessForwarder {
  most = 0;
  barriers = 0;
  #open = 0;

  override async barrier(leader: string): Promise<number> {
    this.#open += 1;
    this.barriers += 1;
    this.most = Math.max(this.most, this.#open);
    try {
      return await super.barrier(leader);
    } finally {
      this.#open -= 1;
    }
  }
}

interface TwoMembers {
  readonly leader: Engine;
  readonly follower: Engine;
  readonly forwarder: CountingForwarder;
}

async function withTwo<T>(
  stores: readonly [Store, Store],
  use: (members: TwoMembers) => Promise<T>,
): Promise<T> {
  const forwarder = new CountingForwarder();
  const [first, second] = stores;
  const leader = await Engine.open({ node: "a", log: first.log, forwarder });
  while (leader.mode !== "leading") await delay(10);
  const follower = await Engine.open({ node: "b", log: second.log, forwarder, mayLead: false });
  forwarder.nodes.set("a", leader);
  forwarder.nodes.set("b", follower);
  try {
    return await use({ leader, follower, forwarder });
  } finally {
    await follower.close();
    await leader.close();
    for (const store of stores) await store.close();
  }
}

const POLICY = { id: "p", subject: "s", action: "a", effect: "deny" } as const;

export interface WatchLag {
  /** Of a command at the leader, which is one append. */
  readonly commandMs: number;
  /** From its answer until a watcher at the other member sees it; below zero: before the answer. */
  readonly lagMs: number;
  readonly lagP99Ms: number;
}

/** Commands one after the other. */
export async function watchLag(
  stores: readonly [Store, Store],
  commands: number,
): Promise<WatchLag> {
  return withTwo(stores, async ({ leader, follower }) => {
    const over = new AbortController();
    let onSeen: (atMs: number) => void = () => undefined;
    const watch = follower.watch({ prefixes: ["policy.set"], signal: over.signal });
    const watching = (async () => {
      for await (const item of watch) if (item.kind === "event") onSeen(performance.now());
    })().catch(() => undefined);
    await follower.read(() => undefined);
    const [tookMs, lagMs]: [number[], number[]] = [[], []];
    for (let n = 0; n < commands; n += 1) {
      const seen = new Promise<number>((resolve) => (onSeen = resolve));
      const policy = { ...POLICY, resource: `${n}` };
      const startMs = performance.now();
      await leader.execute({ type: "policy.set", policy }, LIBRARY);
      const endMs = performance.now();
      tookMs.push(endMs - startMs);
      lagMs.push((await seen) - endMs);
    }
    over.abort();
    await watching;
    return {
      commandMs: percentile(tookMs, 0.5),
      lagMs: percentile(lagMs, 0.5),
      lagP99Ms: percentile(lagMs, 0.99),
    };
  });
}

/** Reads at a follower, so many at once and again and again: how many barriers were under way. */
export async function barriersOf(
  stores: readonly [Store, Store],
  { readers, turns }: { readonly readers: number; readonly turns: number },
): Promise<{ readonly most: number; readonly perRead: number }> {
  return withTwo(stores, async ({ follower, forwarder }) => {
    const reader = async () => {
      for (let n = 0; n < turns; n += 1) await follower.read((_, sequence) => sequence);
    };
    await follower.read(() => undefined);
    forwarder.barriers = 0;
    await Promise.all(Array.from({ length: readers }, reader));
    return { most: forwarder.most, perRead: forwarder.barriers / (readers * turns) };
  });
}
