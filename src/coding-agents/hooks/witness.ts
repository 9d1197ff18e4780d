/** A second source about one session, which its sidecar asks at every look. */
import type { Seat } from "./fact.ts";
import type { Presence } from "./presence.ts";
import type { HookSession } from "./session.ts";

/** The terminal of a session, if it is in one. */
export interface Seating {
  readonly seat?: Seat;
}

export interface Witness {
  /** Whether it says by itself when something changes, so that it need not be asked often. */
  readonly isLive: boolean;
  /** The state of the session; undefined where the source does not know. */
  presence(session: HookSession): Presence | undefined;
  /** In which terminal it is, or that it is in none; nothing where the source does not know. */
  seating?(): Seating | undefined;
  /** Idempotent. */
  close(): void;
}

/** Of a program whose hooks tell everything. */
export function noWitness(): Witness {
  return { isLive: true, presence: () => undefined, close: () => undefined };
}

/** Looks after a session until it is closed, and says when there may be something new. */
export type WitnessMaker = (sessionId: string, noticed: () => void) => Witness;
