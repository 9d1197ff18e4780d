/**
 * The log is the witness of everything that was said. For every answer there must be a moment
 * between question and answer, a sequence q of the log, at which the rules give this very answer;
 * and when the answer changed something, the log must go on from q with exactly those events,
 * durable before the answer was given. So what was acknowledged is in the log, nobody was told
 * what is not, and all answers together are linearizable in the order of the log.
 */
import { encode, type RecordedEvent } from "../../src/core/events.ts";
import { rules } from "../../src/core/rules.ts";
import type { State } from "../../src/core/state.ts";
import { describe, type Ask, type Op, type Outcome } from "./history.ts";
import type { Replay } from "./replay.ts";

/** Replays beside the log: `at` is called at every sequence, from 0 to the head. */
export class Witness {
  readonly #waiting: Op[];
  #open: Op[] = [];
  readonly unproven: Op[] = [];

  constructor(ops: readonly Op[]) {
    this.#waiting = ops
      .filter(({ outcome }) => outcome.kind !== "unknown")
      .toSorted((a, b) => b.headAtCall - a.headAtCall);
  }

  /** The replay stands at `sequence`; `next` is what the log says after it. */
  at(sequence: number, replay: Replay, next: readonly RecordedEvent[]): void {
    while ((this.#waiting.at(-1)?.headAtCall ?? Infinity) <= sequence) {
      const op = this.#waiting.pop();
      if (op) this.#open.push(op);
    }
    this.#open = this.#open.filter((op) => {
      if (op.headAtReturn < sequence) this.unproven.push(op);
      else return !isProven(op, replay, next);
      return false;
    });
  }

  /** Whatever is left at the end has no moment. */
  end(): readonly Op[] {
    return [...this.unproven, ...this.#open, ...this.#waiting];
  }
}

export function unprovenText(op: Op): string {
  const { id, who, ask, outcome, headAtCall, headAtReturn } = op;
  const between = `between ${headAtCall} and ${headAtReturn}`;
  return `#${id} of ${who}, ${between}: ${describe(ask)} → ${JSON.stringify(outcome)}`;
}

/** How many events one command has at most here: a death with all that hangs on it. */
export const LOOK_AHEAD = 40;

/**
 * Decided at any time between two events, of which the later may be a day after the other, and
 * written after the answer: some things end with time alone.
 */
function isProven(op: Op, replay: Replay, following: readonly RecordedEvent[]): boolean {
  const { ask, outcome } = op;
  if (ask.kind === "read") return outcome.kind === "ok" && readAt(ask, replay) === outcome.reply;
  const { state } = replay;
  const { lastAtMs } = state;
  const [first] = following;
  const nextAtMs = first?.atMs ?? lastAtMs;
  const next = following.filter(({ sequence }) => sequence <= op.headAtReturn);
  const isSo = (nowMs: number) => isDecidedAt({ nowMs, next, state }, ask, outcome);
  return isSo(nextAtMs) || (nextAtMs > lastAtMs && isSo(lastAtMs));
}

function readAt({ noun, select }: Ask & { readonly kind: "read" }, replay: Replay): string {
  return noun === "fingerprint" ? replay.fingerprint : select(replay.state);
}

interface ProofMoment {
  readonly state: State;
  readonly nowMs: number;
  readonly next: readonly RecordedEvent[];
}

function isDecidedAt(
  { state, nowMs, next }: ProofMoment,
  { command, by }: Ask & { readonly kind: "command" },
  outcome: Outcome,
): boolean {
  const newId = () => idIn(outcome.kind === "ok" ? outcome.reply : null) ?? idOfQuestion(next);
  const decision = rules.decide(state, command, { nowMs, newId, by });
  if (!decision.ok) return outcome.kind === "refused" && outcome.code === decision.code;
  // What a job has spent is soft: that a budget did not reach for a child cannot be told from here.
  if (outcome.kind === "refused" && outcome.code === "LEASE_SUBSET_VIOLATION") return true;
  // When an outpost was last heard is soft, and so is whether another may take its place.
  if (outcome.kind === "refused" && outcome.code === "ALREADY_EXISTS") {
    if (command.type === "outpost.join") return true;
  }
  // A heartbeat is soft: it is taken by whoever leads, whatever the log knows of the agent by then.
  if (command.type === "agent.heartbeat") return outcome.kind === "ok";
  if (outcome.kind !== "ok" || decision.events.length > next.length) return false;
  if (JSON.stringify(decision.reply) !== JSON.stringify(outcome.reply)) return false;
  return decision.events.every((event, i) => {
    const written = next[i];
    return written !== undefined && hard(encode(event, nowMs, by)) === hard(written.text);
  });
}

/** Heartbeats are soft, and so is what a job spends: the leader of the time alone knows them. */
function hard(text: string): string {
  return text.replace(/"lastHeartbeatAtMs":\d+|"budget":\{[^}]*\}/, "");
}

/** What was made, if the answer tells. */
function idIn(reply: unknown): string | undefined {
  const named = (reply ?? {}) as Readonly<Partial<Record<"agentId" | "id" | "session", string>>>;
  return named.agentId ?? named.id ?? named.session;
}

/** A report's answer does not tell the id of the question it asks; the log does. */
function idOfQuestion(next: readonly RecordedEvent[]): string {
  for (const { event } of next) if (event.type === "question.asked") return event.question.id;
  return "";
}
