/** Buffers and timeouts of an ARCP client, each with its reason. */
import { MIB } from "../../../core/units.ts";

export const ARCP_CLIENT = {
  /** For a welcome, and for the answer to a request: a runtime answers in milliseconds. */
  answerMs: 10_000,
  /** Requests without an answer; more is a caller that does not wait. */
  pendingRequests: 10_000,
  /** Events of one job that nobody has read yet, and what they take. */
  queuedEvents: 10_000,
  queuedBytes: 32 * MIB,
  /** Jobs of an earlier client, or children of jobs, that nobody here has asked for. */
  unclaimedJobs: 1_000,
  /** A reader this far behind stops the runtime, until it has caught up again. */
  pauseEvents: 2_000,
  resumeEvents: 500,
  /** One that has read nothing for this long will not: the runtime goes on without it. */
  stalledMs: 30_000,
  /** While it is stopped, we say so often that we live; or once in each of its heartbeats. */
  keepAliveMs: 10_000,
  /** An acknowledgement after this many events, or this long after the first of them. */
  ackEvents: 32,
  ackMs: 250,
  /** Between tries to connect again: at once for a restart, bounded for a long absence. */
  firstRetryMs: 100,
  lastRetryMs: 5_000,
  /** A connection that held this long was of use: after it the first try comes at once. */
  heldMs: 1_000,
  /** A runtime that has not noticed yet that the old connection is gone refuses to resume. */
  resumeTries: 5,
  /** A runtime that pings is gone when this many of its intervals were silent. */
  silentIntervals: 2,
  /** Of a page of `listJobs`. */
  pageSize: 100,
} as const;
