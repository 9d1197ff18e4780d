/** The bounds of a connection; a server gives each its number and its reason. */
import type { FrameLimits } from "./frame-parser.ts";

export interface ConnectionLimits extends FrameLimits {
  /** At a time. */
  readonly streams: number;
  /** The same before a caller of the connection is known. */
  readonly strangerStreams: number;
  /** So many streams may come to nothing a second, beside as many at once as may be open. */
  readonly wastedStreamsPerSecond: number;
  readonly settingsPerSecond: number;
  /** The receive windows of one stream, and of all together. */
  readonly streamWindow: number;
  readonly connectionWindow: number;
  /** While so much waits for a client that does not read, it gets no new streams. */
  readonly unreadBytes: number;
  /** How often the other end is asked whether it is there, and how long it has to answer. */
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
}
