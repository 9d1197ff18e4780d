/** The bounds of the proxy between an editor and its agent, each with its reason. */
import { HOUR, KIB, MIB, SECOND } from "../../../core/units.ts";

/** How an agent is brought to its end. */
export const AGENT_END = {
  /** From the end of the input to a SIGTERM: codex-acp takes seven seconds to put things away. */
  graceMs: 10 * SECOND,
  /** From SIGTERM to SIGKILL: as long as process managers usually wait. */
  termMs: 5 * SECOND,
  /** The agent is gone, its output still open: somebody it started holds it, and says nothing. */
  silenceMs: 500,
  /** The same, and somebody still writes: nothing that a client asked for. */
  drainMs: 5 * SECOND,
} as const;

/** The observer, in a thread of its own. */
export const FEED = {
  /** Bytes that wait to be looked at; what comes beyond is forwarded and not looked at. */
  waitingBytes: 16 * MIB,
  /** Held back for as long as nobody notices in a status, so that threads are woken less … */
  batchMs: 5,
  /** … and not when much flows. */
  batchBytes: 256 * KIB,
  /** Not looked at, at least, after too much came. */
  restMs: 1 * SECOND,
  /** Its heap: the waiting bytes, twice, and the remembered state. Beyond it, it alone ends. */
  heapMib: 128,
  /** From the agent's end to ours, while an editor may wait for it: the last words are written. */
  lastMs: 2 * SECOND,
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
  /** A proxy that is silent for so long may have been killed, where no daemon watches. */
  ttlMs: 60 * SECOND,
  /** Three times in it, so that one may be lost; another daemon learns of us this soon, too. */
  repeatMs: 20 * SECOND,
  /** On loopback an answer takes a millisecond; a daemon that takes longer has other troubles. */
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
  keptMs: 24 * HOUR,
} as const;

export const RECORDING = {
  /** Bytes that wait for the disk; frames beyond are left out. */
  queuedBytes: 8 * MIB,
  /** Of a text: enough for titles and prompts, too little for files. */
  textLength: 512,
  /** Of a list and of an object: enough for a plan. */
  entries: 256,
  depth: 12,
} as const;

export const FOLLOW = {
  /** Between two looks at a few small files, while somebody follows them: at once, to the eye. */
  pollMs: 100,
  /** Read of one file in one go: more than it may hold. */
  readBytes: 1 * MIB,
} as const;
