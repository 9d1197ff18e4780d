/**
 * A claim to lead: `node.leading`, appended at the position that this node knows. If that succeeds
 * it leads, and every append of another node is fenced from then on.
 */
import { markOf, type Clock, type EngineTime, type Mark } from "../core/clock.ts";
import { encode, type RecordedEvent } from "../core/events.ts";
import { leading } from "../core/nodes.ts";
import type { Rules } from "../core/rules.ts";
import type { Log } from "../log/log.ts";
import { apply, type Replica } from "./replica.ts";

export interface ClaimOptions {
  readonly node: string;
  readonly log: Log;
  readonly rules: Rules;
  readonly replica: Replica;
  readonly clock: Clock;
  readonly time: EngineTime;
  /** Of the append. */
  readonly id: string;
}

export interface LeadClaim {
  /** Its sequence. */
  readonly sequence: number;
  /** When its append was begun: as the log has it, and on the clock. */
  readonly atMs: number;
  readonly proved: Mark;
  readonly recorded: readonly RecordedEvent[];
}

/** Rejects as the append does. */
export async function claimLead(options: ClaimOptions): Promise<LeadClaim> {
  const { node, log, rules, replica, clock, time, id } = options;
  const { state, head, mark, lastId: previous, floor } = replica;
  const atMs = time.nowMs();
  const proved = markOf(clock);
  const first = log.shared && head === 0 ? { format: rules.formats[1] } : {};
  const entries = [encode(leading(state, node, { floor, ...first }), atMs)];
  const position = await log.append({ entries, fence: floor }, { head, mark }, { id });
  const batch = { first: head + 1, entries, mark: position.mark, id, previous };
  const recorded = apply(replica, rules, batch);
  return { sequence: head + 1, atMs, proved, recorded };
}

/** After a claim that was fenced: whether the leader had shown a sign of life, unheard. */
export async function hasSigned(log: Log, replica: Replica): Promise<boolean> {
  const { head, mark } = await log.open();
  if (head !== replica.head || mark <= replica.mark) return false;
  replica.mark = mark;
  return true;
}
