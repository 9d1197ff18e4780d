/** The bounds of what outposts send and are asked, each with its reason. */
import { KIB, SECOND } from "../core/units.ts";

export const LINK = {
  /** Reports a second of one host: ten busy agents, each with several changes a second. */
  reportsPerSecond: 100,
  /** At once: all that a host may have, twice, after a long absence. */
  reportsBurst: 4_000,
  /** Parts of one take that are decided one after the other. */
  steps: 256,
  /** Of the input of a job: it goes down the stream whole. */
  inputLength: 256 * KIB,
  /** Requests that wait for one host. */
  requests: 64,
  /** A caller that asks something of a host waits so long for its answer. */
  answerMs: 10 * SECOND,
} as const;
