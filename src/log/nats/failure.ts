/**
 * What JetStream and the network say when they fail, in our codes, with what to do about it.
 *
 * Of a failed write three things must be told apart. *Refused*: the leader answered that it did
 * not take it. *Not sent*: nobody was there to take it. *Lost*: no answer came, or one that does
 * not tell, and nobody here knows what became of it.
 */
import { failuresOf, FULL, UNREACHABLE, type Verdict } from "../failures.ts";

/** The leader of a stream said no, by JetStream's own codes. */
export class Refused extends Error {
  readonly code: number;

  constructor(code: number, description: string) {
    super(`${description} (${code})`);
    this.code = code;
  }
}

/** Nobody was there to take it. */
export class NotSent extends Error {}

/** No answer came, or one that means nothing. */
export class Lost extends Error {}

/** The last sequence is not the expected one. */
export const WRONG_SEQUENCE = 10_071;
/** The same, while another write is in the leader's hands. */
export const BUSY = 10_164;
export const NO_STREAM = 10_059;
export const NO_MESSAGE = 10_037;
/** Another one made a stream of this name, with other settings, or is about to. */
export const NAME_TAKEN = 10_058;
export const TOO_LARGE_BATCH = 10_199;
const STORE_FAILED = 10_077;

const GONE: Verdict = {
  code: "STORAGE_CORRUPT",
  advice:
    "has lost the streams of rollcall: restore them from a backup; to begin with an empty log, " +
    "stop all members and start them anew",
};
const OFF: Verdict = {
  code: "UNAVAILABLE",
  advice: "has no JetStream for this account: enable it in the server's configuration",
};
const FEW: Verdict = {
  code: "UNAVAILABLE",
  advice:
    "has too few servers with JetStream and room for it: start three, or make the log with " +
    "nats_replicas = 1 and log_durability = trust",
};

const AT_WORK: Verdict = {
  code: "UNAVAILABLE",
  advice: "is still busy with another write: try again",
  isPassing: true,
};
const BEING_MADE: Verdict = {
  code: "UNAVAILABLE",
  advice: "is still making the streams that another member asked for: try again",
  isPassing: true,
};

const VERDICTS: Readonly<Record<number, Verdict>> = {
  10_002: FULL,
  10_005: FEW,
  10_008: UNREACHABLE,
  10_009: UNREACHABLE,
  10_023: FULL,
  10_028: FULL,
  10_035: OFF,
  10_039: OFF,
  10_047: FULL,
  [NAME_TAKEN]: BEING_MADE,
  10_059: GONE,
  10_074: FEW,
  10_076: OFF,
  [BUSY]: AT_WORK,
  10_176: UNREACHABLE,
  10_210: UNREACHABLE,
};

/** Answers by which a write was surely not taken. */
const REFUSALS = new Set([
  10_002, 10_023, 10_028, 10_035, 10_039, 10_047, 10_054, 10_059, 10_060, 10_071, 10_076, 10_164,
  10_174, 10_175, 10_176, 10_177, 10_179, 10_199, 10_200, 10_201, 10_210,
]);

/** Refused by a bound that the operator set, before anybody took it. */
function isFull(error: Refused): boolean {
  return error.code === STORE_FAILED && error.message.includes("maximum");
}

export function isRefusal(error: Refused): boolean {
  return REFUSALS.has(error.code) || isFull(error);
}

function verdictOn(error: unknown): Verdict | undefined {
  if (error instanceof Refused) return isFull(error) ? FULL : VERDICTS[error.code];
  if (error instanceof NotSent || error instanceof Lost) return UNREACHABLE;
  return undefined;
}

export const { isPassing, damaged, otherLog, errorOf: natsError } = failuresOf("NATS", verdictOn);
