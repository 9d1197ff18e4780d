/**
 * Getting a lease: at once or not at all, or when it is free.
 *
 *   ask ──free──▶ held
 *    ▲ └──somebody has it──▶ waiting ──released, expired──┐
 *    └────────────────────────────────────────────────────┘
 *
 * A waiting caller is woken by the event: no polling. The watch is open before the second try, so
 * there is no moment in which a release goes unseen. Among several waiting callers the first to
 * ask after the release gets it: the daemon keeps no queue.
 */
import { TTL } from "../../../core/limits.ts";
import { markOf } from "../../../core/clock.ts";
import { linked, unlessAborted } from "../../../machine/waiting.ts";
import { LeaseService, RegistryService } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { Bell } from "./bell.ts";
import { leaseFrom, secondsOf } from "./from-wire.ts";
import { HeldLease } from "./lease.ts";
import { PACE } from "./limits.ts";
import type { Life } from "./presence.ts";
import { KeeperWatch } from "./watch.ts";
import type { KeeperCallOptions, KeeperWire } from "./wire.ts";

export interface AcquireOptions extends KeeperCallOptions {
  /** How long it lasts without a renewal; whole seconds, rounded up. */
  readonly ttlMs?: number;
  /** Wait until it is free. Then `timeoutMs` is for each question, and `signal` ends the wait. */
  readonly wait?: boolean;
}

export interface AcquireRequest {
  readonly taskId: string;
  readonly agentId: string;
  readonly life?: Life | undefined;
}

/** Nothing when somebody else has it, another of this program included. */
export function acquire(
  wire: KeeperWire,
  wanted: AcquireRequest,
  options: AcquireOptions,
): Promise<HeldLease | undefined> {
  const { agentId, taskId } = wanted;
  return wire.holdings.acquire(agentId, taskId, () => ask(wire, wanted, options));
}

async function ask(
  wire: KeeperWire,
  { taskId, agentId, life }: AcquireRequest,
  options: AcquireOptions,
): Promise<HeldLease | undefined> {
  const ttlSeconds = secondsOf(options.ttlMs ?? TTL.leaseDefaultMs);
  const since = markOf(wire.clock);
  const { signal, timeoutMs } = options;
  const answer = await wire.call(
    LeaseService.method.acquireLease,
    { taskId, agentId, ttlSeconds },
    { signal, timeoutMs },
  );
  if (!answer.acquired) return undefined;
  const info = leaseFrom(answer.lease);
  return new HeldLease(wire, { info, ttlMs: ttlSeconds * 1000, since, life });
}

/** When it is free. */
export async function acquireInTime(
  wire: KeeperWire,
  wanted: AcquireRequest,
  options: AcquireOptions,
): Promise<HeldLease> {
  const atOnce = await acquire(wire, wanted, options);
  if (atOnce) return atOnce;
  const { timeoutMs } = options;
  const stop = new AbortController();
  const { signal, unlink } = linked(options.signal, wanted.life?.signal, wire.closing);
  const topics = ["lease.released", "lease.expired"];
  const watch = new KeeperWatch(
    wire,
    (opening) => wire.open(RegistryService.method.watch, { topics }, opening),
    { signal: stop.signal, timeoutMs },
  );
  const freed = new Bell();
  const listening = listen(watch, wanted.taskId, freed);
  try {
    await unlessAborted(watch.ready(), signal);
    for (;;) {
      const rung = freed.next();
      const lease = await acquire(wire, wanted, { ...options, signal });
      if (lease) return lease;
      // The watch says when it is free; should it fail, this asks all the same.
      const cancel = wire.clock.after(PACE.waitAgainMs, () => freed.ring());
      await unlessAborted(rung, signal).finally(cancel);
    }
  } finally {
    stop.abort();
    unlink();
    await listening;
  }
}

/** Rings when the lease was given back, ran out, or that cannot be told. */
async function listen(watch: KeeperWatch, taskId: string, bell: Bell): Promise<void> {
  try {
    for await (const item of watch) {
      const isIt = item.kind === "event" && "lease" in item && item.lease.taskId === taskId;
      if (isIt || item.kind === "resync") bell.ring();
    }
  } catch {
    // The wait goes on without it, by asking now and then.
  } finally {
    bell.ring();
  }
}
