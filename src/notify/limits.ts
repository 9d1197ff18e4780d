/** The bounds of notifications, each with its reason. */
import { SECOND } from "../core/units.ts";

export const NOTICES = {
  /** As many as a person can take in at once; further ones are combined. */
  burst: 5,
  /** Ten a minute, for as long as it goes on: more are switched off, not read. */
  everyMs: 6 * SECOND,
  /** Agents whose questions are remembered: far more than a person looks after. */
  agents: 10_000,
  /** Named in one line; the others are counted. */
  named: 3,
  titleLength: 100,
  textLength: 300,
  /** A notification that takes longer is of no use any more. */
  deliverMs: 10 * SECOND,
} as const;
