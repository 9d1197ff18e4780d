/** Sizes and timeouts of transports, each with its reason. */
import { RollcallError } from "../../../core/errors.ts";
import type { TransportEnding } from "../server/transport.ts";
import { KIB, MIB } from "../../../core/units.ts";

export const TRANSPORT = {
  /** A frame we take: four times what the other SDKs send. vigil.ts counts incomplete ones. */
  inboundBytes: 4 * MIB,
  /** A frame we send: the Python client ends the connection at a larger one. */
  outboundBytes: MIB,
  /** A line we send, with its end: the Python runtime dies of one of more than 64 KiB. */
  lineBytes: 64 * KIB - 1,
  /** Held by a pair in memory for an end that does not read. */
  memoryBytes: 16 * MIB,
  /** For a WebSocket to open; a runtime that needs longer is stuck. */
  connectMs: 10_000,
  /** How often a client is asked whether it is there: it has until the next time to answer. */
  pingMs: 30_000,
  /** For the peer to answer that it closes, too; then the connection is cut. */
  closingMs: 2_000,
  /** Of the text that says why; what a close frame has room for, RFC 6455, 5.5. */
  reasonBytes: 123,
} as const;

/** The codes of an ending that this program gives: RFC 6455, 7.4.1. */
export const CLOSE_CODE = {
  normal: 1000,
  leaving: 1001,
  /** Never sent: it ended without a word. */
  lost: 1006,
  notText: 1007,
  tooLarge: 1009,
  overload: 1013,
} as const;

export const NORMAL: TransportEnding = { code: CLOSE_CODE.normal, reason: "" };

/** Counted only where the length leaves a doubt: a character is three bytes at most. */
export function exceeds(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}

export function checkOutbound(frame: string, bytes: number): void {
  if (!exceeds(frame, bytes)) return;
  const message = `a frame of ${Buffer.byteLength(frame)} bytes: at most ${bytes} can be sent`;
  throw new RollcallError("TOO_LARGE", message);
}
