/** The bounds of a gRPC server, each with its reason. */
import type { Keepalive } from "./keepalive.ts";

const SECOND = 1000;
const KIB = 1024;
const MIB = 1024 * KIB;

export interface ServerLimits extends Keepalive {
  /** What a message may weigh where its method says nothing else. */
  readonly messageBytes: number;
  /** Of one connection at a time: a program that runs thousands of agents shares one. */
  readonly streams: number;
  readonly headerBytes: number;
  /** What the streams of one connection may hold in memory. */
  readonly sessionMiB: number;
  /** What all requests that have not come whole may hold together. */
  readonly gatheredBytes: number;
  /** How long a request may take to come. */
  readonly requestMs: number;
  /** How long a stream that was cut may take to read its last words. */
  readonly lastWordsMs: number;
}

export const SERVER_LIMITS: ServerLimits = {
  /** Names, keys and reasons; cards, inputs and outputs have their own. */
  messageBytes: 256 * KIB,
  streams: 10_000,
  headerBytes: 16 * KIB,
  sessionMiB: 256,
  gatheredBytes: 64 * MIB,
  requestMs: 30 * SECOND,
  keepaliveMs: 30 * SECOND,
  keepaliveTimeoutMs: 10 * SECOND,
  lastWordsMs: 10 * SECOND,
};
