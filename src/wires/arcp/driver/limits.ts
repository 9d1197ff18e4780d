/** The bounds of agents that run in processes of their own, each with its reason. */
import { SECOND } from "../../../core/units.ts";

export const CHILD = {
  /** From the start to its welcome: an interpreter with large libraries takes some seconds. */
  startMs: 30 * SECOND,
  /** Restarts in a row after which it is given up: a quarter of an hour of them. */
  restarts: 20,
  firstDelayMs: 500,
  lastDelayMs: 60 * SECOND,
  /** One that was up for so long begins anew with its delays. */
  steadyMs: 60 * SECOND,
  /** A job that finds it starting waits so long for it. */
  waitMs: 30 * SECOND,
  /** From the request to end to the end by force. */
  graceMs: 150,
  /** Of what it writes to its standard error. */
  lineLength: 1_000,
} as const;
