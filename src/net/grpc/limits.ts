/** The bounds of a gRPC server, each with its reason. */
import type { ConnectionLimits } from "../http2/limits.ts";
import { KIB, MIB, SECOND } from "../../core/units.ts";

export interface ServerLimits extends ConnectionLimits {
  /** The size of a message, where its method sets no other. */
  readonly messageBytes: number;
  /** How long a stream that was cut may take to read its last words. */
  readonly lastWordsMs: number;
}

export const SERVER_LIMITS: ServerLimits = {
  /** Names, keys and reasons; cards, inputs and outputs have their own. */
  messageBytes: 256 * KIB,
  /** Of one connection: a program that runs thousands of agents shares one. */
  streams: 10_000,
  /** Enough for a program that starts all its agents at once; more come when one is known. */
  strangerStreams: 1_000,
  /** As a well-known server of HTTP/2 has it (nghttp2). */
  wastedStreamsPerSecond: 33,
  /** Clients send one when they connect, and some a few more when they measure the line. */
  settingsPerSecond: 100,
  headerBytes: 16 * KIB,
  /** The largest message in a few round trips. */
  streamWindow: 1 * MIB,
  connectionWindow: 4 * MIB,
  /** The largest answers of some calls. */
  unreadBytes: 8 * MIB,
  /** Ten times what the busiest client we know sends. */
  idleFramesPerSecond: 20_000,
  keepaliveMs: 30 * SECOND,
  keepaliveTimeoutMs: 10 * SECOND,
  lastWordsMs: 10 * SECOND,
};
