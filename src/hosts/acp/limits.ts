/** The bounds of the proxy between an editor and its agent, each with its reason. */

const SECOND = 1000;
const KIB = 1024;
const MIB = 1024 * KIB;

/** How an agent is brought to its end. */
export const ENDING = {
  /** From the end of the input to a SIGTERM: codex-acp takes seven seconds to put things away. */
  graceMs: 10 * SECOND,
  /** From SIGTERM to SIGKILL: as long as process managers usually wait. */
  termMs: 5 * SECOND,
  /** The agent is gone, its output still open: somebody it started holds it, and says nothing. */
  silenceMs: 500,
  /** The same, and somebody still writes: nothing that a client asked for. */
  drainMs: 5 * SECOND,
} as const;

export const OBSERVER = {
  /** Bytes that wait to be looked at; what comes beyond is forwarded and not looked at. */
  queueBytes: 16 * MIB,
  /** Looked at in one go: in between bytes are forwarded. A quarter of the latency promised. */
  sliceMs: 0.25,
  /** Looked at without a look at the clock: some dozen frames. */
  pieceBytes: 4 * KIB,
  /** With more than this waiting and more coming, forwarding has the word … */
  hurryBytes: 256 * KIB,
  /** … and reading along a tenth of the time, until nothing came for so long. */
  hurryMs: 2,
  quietMs: 10,
  /** At the end, while somebody may wait for it. */
  lastMs: 100,
} as const;

export const INJECTION = {
  /** A proxy behind us says the same within a few milliseconds, if there is one. */
  listenMs: 250,
  /** Sessions that wait to be told of; more than an editor has open at once. */
  sessions: 64,
} as const;

export const PUBLISHER = {
  /** A daemon that does not answer is tried again after this long, doubled up to the most. */
  retryMs: 1 * SECOND,
  retryMostMs: 15 * SECOND,
  /** A daemon that was replaced by another learns of us within this time. */
  repeatMs: 30 * SECOND,
  /** On loopback an answer takes a millisecond; whoever takes longer has other troubles. */
  answerMs: 2 * SECOND,
  /** The last word, while an editor may wait for our end. */
  lastMs: 500,
} as const;

export const TIMELINE = {
  /** Of one agent: some thousand lines, twice (the file and the one before it). */
  bytes: 512 * KIB,
  /** Lines that wait for the disk; more are not written. */
  queued: 1000,
  /** As long as one asks what an agent did. */
  keptMs: 24 * 3600 * SECOND,
} as const;

export const RECORDING = {
  /** What waits for the disk; frames beyond are left out, and a line says so. */
  queuedBytes: 8 * MIB,
  /** Of a text: enough for titles and prompts, too little for files. */
  textLength: 512,
  /** Of a list and of an object: enough for a plan. */
  entries: 256,
  depth: 12,
  /** What `replay` reads: a day of work. */
  bytes: 256 * MIB,
} as const;

/** By how much the clock on the wall must run ahead to say that the machine slept. */
export const SLEEP_MS = 5 * SECOND;

export const FOLLOW = {
  /** Where the system does not tell of changes: soon enough for somebody who looks. */
  pollMs: 500,
  /** Read of one file in one go: more than it may hold. */
  readBytes: 1 * MIB,
} as const;
