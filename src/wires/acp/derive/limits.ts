/**
 * The bounds of what is remembered of an ACP connection, each with its reason. An agent may send
 * anything for days; what is kept of it stays below some ten megabytes whatever it sends.
 */
import { MIB, SECOND } from "../../../core/units.ts";

/** How much of a line is read. */
export const INSPECT = {
  /**
   * A prompt with a screenshot, an edit of a whole file: parsed in some 30 ms, in a thread of its
   * own. Longer lines go by unread, and are counted.
   */
  lineBytes: 4 * MIB,
} as const;

/** How much is remembered. What is beyond goes, the oldest first, so that what is new is seen. */
export const MEMORY = {
  /** Sessions of one connection. Editors open a few; an agent may invent millions. */
  sessions: 128,
  /** Tool calls of one session; those that are over go first. Busy agents run a dozen at once. */
  tools: 64,
  /** Requests without an answer, per direction. */
  requests: 512,
  /** Plans of one session. */
  plans: 16,
  /** How deep child sessions lie in each other: what is deeper is not rolled up. */
  generations: 8,
  /** Background tasks, terminals and compactions of one session, and closed sessions, each. */
  others: 64,
  /** Characters of an id; a longer one is not an id but an attempt. */
  idLength: 256,
  /** Characters of a word of the protocol, like a kind or a status. */
  wordLength: 32,
} as const;

/** How much is shown. */
export const SHOWN = {
  /** One line of a status display (§4.5). */
  message: 120,
  /** The text of a question: a person decides on it, so it may be longer. */
  question: 400,
  /** The first prompt, as the goal of the agent. */
  goal: 200,
  name: 80,
  path: 1024,
  questions: 8,
  options: 16,
  /** Ways to sign in that are offered with "Sign in required". */
  authMethods: 8,
} as const;

/** When a turn is over for good, and when work outside of a turn is (§4.2, row 10). */
export const TURN = {
  /** Frames this late belong to the turn that just ended; they change nothing. */
  stragglerMs: 2 * SECOND,
  /** Work without a prompt has no end on the wire: silence for this long is one. */
  backgroundQuietMs: 30 * SECOND,
} as const;

/** How silence is judged (§4.7): first a hint, then "stalled". It never changes the status. */
export const QUIET = {
  initialize: quiet(10, 30),
  open: quiet(15, 60),
  thinking: quiet(30, 120),
  edit: quiet(30, 120),
  read: quiet(60, 300),
  execute: quiet(120, 900),
  cancel: quiet(5, 15),
  /** It is a person who is quiet: remind, but nothing is stuck. */
  waiting: quiet(300, Infinity),
} as const;

export interface Quiet {
  readonly hintMs: number;
  readonly stalledMs: number;
}

export type QuietSituation = keyof typeof QUIET;

function quiet(hintSeconds: number, stalledSeconds: number): Quiet {
  return { hintMs: hintSeconds * SECOND, stalledMs: stalledSeconds * SECOND };
}

/** How a display is kept calm (§4.8). */
export const DISPLAY = {
  /** A state shorter than this is not seen, only flickers. */
  stableMs: 250,
  /** Four a second: as much as a person reads. */
  intervalMs: 250,
  /** A status that flickers without end is shown as it is after this long. */
  latestMs: 1 * SECOND,
} as const;
