/** The decision of a rule: the events to record and the reply, or the reason of a refusal. */
import type { By } from "./by.ts";
import type { ErrorCode } from "./errors.ts";

export type Decision<Event, Reply> =
  | { readonly ok: true; readonly events: readonly Event[]; readonly reply: Reply }
  | Refusal;

export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly reason: string;
}

/** Inputs that a rule may not make up itself: moment, caller, and ids that cannot be guessed. */
export interface Moment {
  readonly nowMs: number;
  readonly by: By;
  /** A fresh id: 32 lower-case hex characters. */
  newId(): string;
}

export function decided<Event, Reply>(
  events: readonly Event[],
  reply: Reply,
): Decision<Event, Reply> {
  return { ok: true, events, reply };
}

export function refuse(code: ErrorCode, reason: string): Refusal {
  return { ok: false, code, reason };
}
