/**
 * Requests that were answered, so that a retry gets the first answer and nothing is done twice. A
 * caller, or the member that forwards for it, names a request; what it changed and its reply are
 * one batch of the log, so every node that may ever lead knows both or neither.
 *
 * A refusal and an answer that changed nothing are not kept: asked again, they are true again.
 */
import type { By } from "./by.ts";
import type { Decision } from "./decide.ts";
import type { Event } from "./events.ts";
import { REQUESTS } from "./limits.ts";
import type { Reply } from "./rules.ts";
import type { State } from "./state.ts";

/** A reply under the name of its request. */
export interface AnsweredRequest {
  readonly name: string;
  readonly reply: Reply;
  readonly atMs: number;
}

export class AnsweredRequests {
  /** The oldest first. */
  readonly byName = new Map<string, AnsweredRequest>();
  /** Of all replies, as JSON. */
  length = 0;
}

export interface RequestEvent {
  readonly type: "request.answered";
  readonly name: string;
  readonly reply: Reply;
}

/** Decides once: a request that was answered before gets that answer. */
export function decideOnce(
  { requests }: State,
  request: { readonly type: string; readonly by: By },
  decide: () => Decision<Event, Reply>,
): Decision<Event, Reply> {
  const name = requestName(request);
  if (name === undefined) return decide();
  const answered = requests.byName.get(name);
  if (answered) return { ok: true, events: [], reply: answered.reply };
  const decision = decide();
  if (!decision.ok || decision.events.length === 0) return decision;
  const { events, reply } = decision;
  return { ok: true, events: [...events, { type: "request.answered", name, reply }], reply };
}

/** A call may be several commands, and two callers may choose one name. */
export function requestName({
  type,
  by,
}: {
  readonly type: string;
  readonly by: By;
}): string | undefined {
  return by.requestId === undefined ? undefined : `${by.requestId} ${type} ${by.principal.name}`;
}

export function evolveRequest(state: State, { name, reply }: RequestEvent): void {
  restoreAnswer(state, { name, reply, atMs: state.lastAtMs });
  forgetAnswers(state);
}

/** From a snapshot: what had to go is not in it. */
export function restoreAnswer({ requests }: State, answered: AnsweredRequest): void {
  requests.byName.set(answered.name, answered);
  requests.length += lengthOf(answered);
}

/**
 * Forgets answers that are too old, and the oldest where there are too many. Time in which nobody
 * could try again, or that a clock was put forward, makes none of them older.
 */
function forgetAnswers({ requests, lastAtMs, graceFromMs }: State): void {
  for (const oldest of requests.byName.values()) {
    const isTooMuch = requests.byName.size > REQUESTS.kept || requests.length > REQUESTS.keptLength;
    const ageMs = lastAtMs - Math.max(oldest.atMs, graceFromMs);
    if (!isTooMuch && ageMs < REQUESTS.keptMs) return;
    requests.byName.delete(oldest.name);
    requests.length -= lengthOf(oldest);
  }
}

function lengthOf({ reply }: AnsweredRequest): number {
  return JSON.stringify(reply).length;
}
