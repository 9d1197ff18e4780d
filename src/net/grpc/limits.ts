/** The bounds of a gRPC server, each with its reason. */
import type { ConnectionLimits } from "../http2/connection.ts";
import { KIB, MIB, SECOND } from "../../core/units.ts";

export interface ServerLimits extends ConnectionLimits {
  /** The size of a message, where its method sets no other. */
  readonly messageBytes: number;
  /** The size of all incomplete requests together. */
  readonly gatheredBytes: number;
  /** How long a request may take to come. */
  readonly requestMs: number;
  /** How long a stream that was cut may take to read its last words. */
  readonly lastWordsMs: number;
}

export const SERVER_LIMITS: ServerLimits = {
  /** Names, keys and reasons; cards, inputs and outputs have their own. */
  messageBytes: 256 * KIB,
  /** Of one connection: a program that runs thousands of agents shares one. */
  streams: 10_000,
  headerBytes: 16 * KIB,
  /** The largest message in a few round trips. */
  streamWindow: 1 * MIB,
  connectionWindow: 4 * MIB,
  /** The largest answers of some calls; who leaves more unread is cut. */
  waitingBytes: 64 * MIB,
  /** Ten times what the busiest client we know sends. */
  idleFramesPerSecond: 20_000,
  gatheredBytes: 64 * MIB,
  requestMs: 30 * SECOND,
  keepaliveMs: 30 * SECOND,
  keepaliveTimeoutMs: 10 * SECOND,
  lastWordsMs: 10 * SECOND,
};
