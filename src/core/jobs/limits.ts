/** The bounds of jobs, with their reasons. What reaches one is refused by name. */

import { HOUR, KIB, MIB } from "../units.ts";

export const LEASE = {
  /** The seven of the protocol and room for vendors'. */
  namespaces: 32,
  nameLength: 128,
  patterns: 256,
  /** A long path or URL; matching costs pattern times target. */
  patternLength: 1 * KIB,
  targetLength: 8 * KIB,
  /**
   * Moves of a state in which one lease is compared with another before that is given up: some
   * twenty milliseconds. An honest pair of patterns needs some hundreds.
   */
  subsetMoves: 100_000,
} as const;

export const BUDGET = {
  currencies: 16,
  currencyLength: 32,
  /** Enough for the smallest price of one token, and for a sum nobody has. */
  fractionDigits: 24,
  wholeDigits: 24,
} as const;

export const AGENT = {
  nameLength: 128,
  versionLength: 64,
} as const;

export const EVENT = {
  kindLength: 128,
  /** Names of tools, metrics, phases, units; ids of calls. */
  nameLength: 256,
  /** One paragraph of a log, or one thought. */
  textLength: 64 * KIB,
  uriLength: 4 * KIB,
  dimensions: 64,
  /** Nested data of agents: what is deeper is an attack or a mistake. */
  depth: 64,
  /** A whole body, encoded: no peer may be sent more than 1 MiB in a frame, its head included. */
  bodyBytes: 1 * MIB - 1 * KIB,
} as const;

export const RESULT = {
  /** Encoded text of one chunk: half of what the strictest client takes in a frame. */
  chunkBytes: 512 * KIB,
  /** The largest chunk read: other runtimes send up to this much. */
  receivedChunkBytes: 1 * MIB,
  /** All chunks of a job, decoded: what a client can be asked to hold. */
  totalBytes: 256 * MIB,
  idLength: 128,
  /** Inline results beyond this go as chunks: a frame of 1 MiB kills the Python client. */
  inlineBytes: 900_000,
  summaryLength: 4 * KIB,
} as const;

/** Defaults of what may run, wait and be kept; each is a setting of the runtime. */
export const JOBS = {
  running: 10_000,
  runningPerPrincipal: 2_000,
  /** Accepted and waiting for a slot; beyond it a submit is refused and may be sent again. */
  queuedPerPrincipal: 10_000,
  /** From the cancel to the end by force; the number of the first text of the protocol. */
  cancelGraceMs: 30_000,
  /** A job that takes the process with it each time is given up after so many. */
  restarts: 5,
  /** Generations of delegated jobs below a submitted one. */
  depth: 8,
  /** Children of one job, over its life and at once. */
  children: 1_000,
  childrenAtOnce: 64,
  /** Jobs that ended can be listed and read for so long, and so many of them. */
  finishedMs: 24 * HOUR,
  finished: 50_000,
  keyTtlMs: 24 * HOUR,
  /** A key is a promise for a day, so the oldest is not forgotten: a new one is refused instead. */
  keysPerPrincipal: 100_000,
} as const;

export const TERMS = {
  /** Of a lease as JSON: it comes back in answers, beside other things. */
  leaseLength: 128 * KIB,
  /** Of what an agent throws: a sentence, and details that fit into the last frame. */
  reasonLength: 1 * KIB,
  detailsLength: 64 * KIB,
} as const;

/** When the log hears of what a job does. */
export const PROGRESS = {
  stepPercent: 5,
  everyMs: 60_000,
  /** Of what a job says, in a row of the fleet. */
  textLength: 200,
} as const;

/** Defaults of sessions; each is a setting of the runtime. */
export const SESSIONS = {
  helloMs: 10_000,
  heartbeatSec: 30,
  resumeWindowSec: 600,
  /** Open or waiting to be resumed; each costs some kilobytes. */
  perPrincipal: 20_000,
  total: 100_000,
  /** Frames of one principal, over all its sessions; 0 means no limit. */
  framesPerSecond: 200_000,
  /** Kept of one job's stream and of one session's numbers. Beyond it the oldest go. */
  keptEvents: 1_000_000,
  keptBytes: 256 * MIB,
} as const;

export const CREDENTIALS = {
  /** Of one job. */
  perJob: 16,
} as const;

export const JOB_LISTING = {
  /** Jobs looked at for one page: a filter that matches little gets a short page and a cursor. */
  scanned: 10_000,
  /** Of a page, as text: it is one frame, and leases may be long. */
  pageLength: 640 * KIB,
  /** Of an entry without its lease. */
  entryLength: 512,
} as const;
