/**
 * Nobody dies of a restart, and nobody dies who was heard.
 *
 * - When a node begins to lead, every live deadline has a full ttl from there: what was not heard
 *   by then, nobody could hear.
 * - When a heartbeat was acknowledged, its agent is not dead before two ttls from there have gone
 *   by, whoever leads then.
 *
 * What the check grants the clocks: they run up to 5 % fast, and a wall that was set forward by
 * less than what counts as "unseen" (see ENGINE.unseenMs) takes that time away.
 */
import type { Event, RecordedEvent } from "../../src/core/events.ts";
import { ENGINE } from "../../src/core/limits.ts";
import type { Op } from "./history.ts";
import { commandOf } from "./model.ts";
import { MAX_DRIFT } from "./sim-clock.ts";
import type { Durable, Term } from "./sim-disk.ts";
import type { Jump } from "./troubles.ts";

/** The engine's clock follows the wall in steps of about this much. */
const STEP_MS = 1100;

export interface VitalityOptions {
  readonly ops: readonly Op[];
  readonly terms: readonly Term[];
  readonly jumps: readonly Jump[];
  readonly fail: (invariant: string, detail: string) => void;
}

interface Heard {
  readonly sentMs: number;
  readonly headAtReturn: number;
}

export class Vitality {
  readonly #options: VitalityOptions;
  readonly #heard = new Map<string, Heard[]>();

  constructor(options: VitalityOptions) {
    this.#options = options;
    for (const op of options.ops) {
      const agentId = commandOf(op, "agent.heartbeat")?.agentId;
      if (agentId === undefined || op.outcome.kind !== "ok") continue;
      const heard = { sentMs: op.calledMs, headAtReturn: op.headAtReturn };
      this.#heard.set(agentId, [...(this.#heard.get(agentId) ?? []), heard]);
    }
  }

  take({ event, sequence }: RecordedEvent, { virtualMs }: Durable): void {
    const needsMs = timeOf(event);
    if (needsMs === undefined) return;
    const term = this.#options.terms.findLast((each) => each.sequence < sequence);
    const what = `${sequence} ${event.type}`;
    if (term && this.#isTooSoon(needsMs, term.actsFromMs, virtualMs)) {
      const sinceMs = Math.round(virtualMs - term.actsFromMs);
      const detail = `${what}, with a ttl of ${needsMs}, ${sinceMs} ms after ${term.node} began`;
      this.#options.fail("nobody dies of a restart", detail);
    }
    if (event.type !== "agent.died") return;
    for (const { sentMs, headAtReturn } of this.#heard.get(event.agent.agentId) ?? []) {
      // Acknowledged before this was written: it must have counted.
      if (headAtReturn >= sequence || !this.#isTooSoon(needsMs, sentMs, virtualMs)) continue;
      const detail = `${what}, ${Math.round(virtualMs - sentMs)} ms after a heartbeat`;
      this.#options.fail("whoever is heard lives on", `${detail} that was acknowledged`);
    }
  }

  #isTooSoon(needsMs: number, fromMs: number, toMs: number): boolean {
    const takenMs = this.#options.jumps
      .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
      .reduce((sum, { byMs }) => sum + Math.min(byMs, ENGINE.unseenMs), 0);
    return toMs - fromMs < needsMs / (1 + MAX_DRIFT) - STEP_MS - takenMs;
  }
}

/** How much silence comes before it; nothing when it does not come of silence. */
function timeOf(event: Event): number | undefined {
  if (event.type === "agent.unreachable") return event.agent.ttlMs;
  if (event.type === "lease.expired") return event.lease.ttlMs;
  return event.type === "agent.died" && event.cause === "silent"
    ? 2 * event.agent.ttlMs
    : undefined;
}
