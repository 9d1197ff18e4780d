/** The bounds of the job service, with their reasons. What reaches one is refused by name. */
const KIB = 1024;
const MIB = 1024 * KIB;
const HOUR_MS = 3_600_000;

export const RECORDER = {
  /**
   * Of one batch; beyond it agents wait for the next one before they say more. It is a few
   * milliseconds of a good disk: so the disk, the agents and the sockets are at work all at once.
   */
  softBytes: 1 * MIB,
  /** An agent that does not wait is stopped here; the journal itself refuses at 64 MiB. */
  hardBytes: 32 * MIB,
} as const;

export const LEDGER = {
  /** A ledger shorter than this is not worth cleaning: it is read in a tenth of a second. */
  minEntries: 20_000,
  /** Entries for each living record before the oldest are written again. */
  slack: 4,
  /** Records written again per batch: work that nobody notices. */
  rewrites: 256,
  /** Trimming costs a transaction, so it waits until it is worth it. */
  trimEntries: 2_048,
} as const;

/** Defaults of what may run, wait and be kept; each is an option of the runtime. */
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
  /** Finished jobs can be listed and tailed for so long, and so many of them. */
  finishedMs: 24 * HOUR_MS,
  finished: 50_000,
  keyTtlMs: 24 * HOUR_MS,
  /** A key is a promise for a day, so there is no forgetting the oldest: refused instead. */
  keysPerPrincipal: 100_000,
  /** It comes back in answers, beside other things. */
  leaseLength: 128 * KIB,
  detailsLength: 64 * KIB,
  reasonLength: 1 * KIB,
} as const;

export const LISTING = {
  defaultLimit: 100,
  maxLimit: 1_000,
  /** Jobs looked at for one page: a filter that matches little gets a short page and a cursor. */
  scanned: 10_000,
  /** Of a page, as text: it is one frame, and leases may be long. */
  pageLength: 640 * KIB,
} as const;

export const CREDENTIALS = {
  /** Of one job. */
  perJob: 16,
  issueMs: 4_000,
  revokeMs: 10_000,
  /** Between tries of a revocation that failed: doubled from the first to the last. */
  firstRetryMs: 1_000,
  lastRetryMs: 300_000,
  revokesAtOnce: 8,
} as const;

export const SPANS = {
  /** Pieces of a stream remembered for one job; beyond it the nearest two become one. */
  perJob: 32,
} as const;

export const TRACKING = {
  /** Jobs that the engine has not heard of; beyond it new ones are refused for a while. */
  untold: 50_000,
  /** Between tries when the engine cannot take them. */
  retryMs: 500,
} as const;

/** Jobs as rows of the fleet: what a person can follow, whatever the jobs do. */
export const ROWS = {
  /** A job that is over sooner is no row: nobody could have looked at it. */
  afterMs: 500,
  /** Jobs that are rows at once; the others are counted in the row of their agent. */
  jobs: 1_000,
  /** How often rows are told, how many at a time, and how often one of them at most. */
  tickMs: 500,
  perTick: 100,
  eachMs: 1_000,
  /** How exactly a row says when its job last did something: each change is an event of the log. */
  momentMs: 10_000,
  /** Whoever reports them may die without a word; it repeats them well before the time is up. */
  ttlMs: 300_000,
  repeatMs: 120_000,
  /** Jobs that are over and still rows. */
  ended: 100,
  /** Of what a job says. */
  textLength: 200,
} as const;
