/** The bounds of the ARCP wire, with their reasons. */
import { KIB, MIB } from "../../../core/units.ts";

export const FRAME_LIMITS = {
  /** The largest frame we read. Transports count bytes; the decoder counts characters once more. */
  inboundBytes: 4 * MIB,
  /** The largest frame we send: the Python client ends at one byte more. */
  outboundBytes: 1 * MIB,
  /** Ids of others: `any non-empty`, but they are echoed, kept and indexed. */
  idLength: 128,
  typeLength: 128,
  /** How deep free data may nest; the writer of JSON recurses. */
  depth: 64,
} as const;

export const HELLO = {
  nameLength: 256,
  tokenLength: 16 * KIB,
  features: 64,
  featureLength: 64,
  encodings: 16,
  resumeTokenLength: 256,
} as const;

export const REQUEST = {
  nonceLength: 256,
  timestampLength: 64,
  reasonLength: 1 * KIB,
  idempotencyKeyLength: 256,
  minRuntimeSec: 1,
  maxRuntimeSec: 86_400,
  listLimitDefault: 100,
  listLimit: 1_000,
  statuses: 16,
  cursorLength: 1 * KIB,
} as const;

/** The limits of a client for replies of a runtime, beyond the size of a frame. */
export const REPLY = {
  messageLength: 16 * KIB,
  agents: 100_000,
  jobs: 10_000,
} as const;
