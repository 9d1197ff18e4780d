/** How long a gRPC client waits for what, and what it takes from a server, each with its reason. */
import { KIB, MIB, SECOND } from "../../core/units.ts";

export interface ClientLimits {
  /** The limit of gRPC servers, unless both sides agree on more. */
  readonly messageBytes: number;
  /** The flow-control window of one stream. */
  readonly windowBytes: number;
  /** For TCP and the first word of HTTP/2: one that takes longer is stuck, or speaks another. */
  readonly connectMs: number;
  /** A peer that went away without a word is noticed, while calls wait, after the sum of these. */
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  /** Between tries: at once for a restart, bounded for a long absence. */
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
}

export const CLIENT_LIMITS: ClientLimits = {
  messageBytes: 4 * MIB,
  windowBytes: 256 * KIB,
  connectMs: 5 * SECOND,
  keepaliveMs: 10 * SECOND,
  keepaliveTimeoutMs: 5 * SECOND,
  firstRetryMs: 50,
  lastRetryMs: 2 * SECOND,
};
