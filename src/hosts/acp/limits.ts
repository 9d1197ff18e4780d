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
  /** A frame beyond this is an image or a file: half a second of parsing that tells nothing. */
  wholeBytes: 8 * MIB,
  /** What is read of such a frame: which call it answers stands at its beginning. */
  headBytes: 512,
  /** Looked at in one go: in between bytes are forwarded. A quarter of the latency promised. */
  sliceMs: 0.25,
} as const;
