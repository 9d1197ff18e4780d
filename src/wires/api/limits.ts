/** The bounds of our own HTTP API, each with its reason. */
import { SECOND } from "../../core/units.ts";

export const EVENT_STREAM = {
  /** A connection and a cursor each; a machine has fewer programs that look on than this. */
  streams: 4_000,
  /** Of the fleet: each remembers what it was told of every agent. */
  lookers: 256,
  /** Shorter than what proxies and clients wait for before they call a connection dead. */
  heartbeatMs: 15 * SECOND,
  /** A client that reads nothing for this long is not there, however little there is to read. */
  stallMs: 60 * SECOND,
  /** How long a silent stream may outlive what its caller may do. */
  lookMs: SECOND / 2,
  /** For the last words to reach a client that was cut and may not read them. */
  farewellMs: 1 * SECOND,
  /** The delay before a client retries. */
  retryMs: 1 * SECOND,
} as const;

export const FLEET_LIST = {
  /** Of one frame of a stream: a client takes 16 MiB, and a row has a few KiB. */
  frameRows: 250,
  /** Events of others after which a follower of one agent is told where it stands. */
  bookmarkEvents: 1_024,
} as const;
