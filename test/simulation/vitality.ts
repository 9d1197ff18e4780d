/**
 * Nobody is declared dead who was heard: when a heartbeat was acknowledged, its agent has its full
 * time (two ttls) from there, whoever leads by then, whatever was restarted.
 *
 * What the check grants the clocks: they run up to 5 % fast, and a wall that was set forward by
 * less than what counts as "unseen" (see ENGINE.unseenMs) takes that time away.
 */
import type { Recorded } from "../../src/core/events.ts";
import { ENGINE } from "../../src/core/limits.ts";
import type { Op } from "./history.ts";
import { commandOf } from "./model.ts";
import { MAX_DRIFT } from "./sim-clock.ts";
import type { Durable } from "./sim-disk.ts";
import type { Jump } from "./troubles.ts";

/** The engine's clock follows the wall in steps of about this much. */
const STEP_MS = 1100;

interface Heard {
  readonly sentMs: number;
  readonly headAtReturn: number;
}

export class Vitality {
  readonly #jumps: readonly Jump[];
  readonly #heard = new Map<string, Heard[]>();
  readonly #fail: (invariant: string, detail: string) => void;

  constructor(
    ops: readonly Op[],
    jumps: readonly Jump[],
    fail: (invariant: string, detail: string) => void,
  ) {
    this.#jumps = jumps;
    this.#fail = fail;
    for (const op of ops) {
      const agentId = commandOf(op, "agent.heartbeat")?.agentId;
      if (agentId === undefined || op.outcome.kind !== "ok") continue;
      const heard = { sentMs: op.calledMs, headAtReturn: op.headAtReturn };
      this.#heard.set(agentId, [...(this.#heard.get(agentId) ?? []), heard]);
    }
  }

  take({ event, sequence }: Recorded, { virtualMs }: Durable): void {
    if (event.type !== "agent.died" || event.cause !== "silent") return;
    const { agentId, ttlMs } = event.agent;
    for (const { sentMs, headAtReturn } of this.#heard.get(agentId) ?? []) {
      // Acknowledged before this was written: it must have counted.
      if (headAtReturn >= sequence) continue;
      const leastMs = (2 * ttlMs) / (1 + MAX_DRIFT) - STEP_MS - this.#takenMs(sentMs, virtualMs);
      const passedMs = virtualMs - sentMs;
      if (passedMs >= leastMs) continue;
      const detail = `${sequence}: ${agentId} (ttl ${ttlMs}) died ${Math.round(passedMs)} ms`;
      this.#fail("whoever is heard lives on", `${detail} after an acknowledged heartbeat`);
    }
  }

  #takenMs(fromMs: number, toMs: number): number {
    return this.#jumps
      .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
      .reduce((sum, { byMs }) => sum + Math.min(byMs, ENGINE.unseenMs), 0);
  }
}
