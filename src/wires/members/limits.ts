/** The bounds of the wire between members, each with its reason. */
import { MIB, SECOND } from "../../core/units.ts";
import type { ClientLimits } from "../../net/grpc/client-limits.ts";
import { CLIENT_LIMITS } from "../../net/grpc/client-limits.ts";

export const MEMBER_WIRE = {
  /** A command with the largest input of a task, as JSON. */
  commandBytes: 8 * MIB,
  /** A batch of ids, of 33 bytes each. */
  beatBytes: 2 * MIB,
  /** The largest frame of an ARCP client. */
  relayBytes: 8 * MIB,
  /** Of a relayed connection, in one direction, before its sender is paused. */
  relayWaitingBytes: 1 * MIB,
  /** How long the leader may take for a command: as long as the store for its append, and a bit. */
  executeMs: 6 * SECOND,
  /** It need only prove that it leads. */
  barrierMs: 2 * SECOND,
  beatMs: 1 * SECOND,
  greetMs: 1 * SECOND,
  /** More are addresses of members that are gone. */
  channels: 64,
} as const;

/** A member that is gone is told from one that is slow within seconds: another leads by then. */
export const MEMBER_CLIENT: ClientLimits = {
  ...CLIENT_LIMITS,
  messageBytes: MEMBER_WIRE.commandBytes,
  windowBytes: 1 * MIB,
  connectMs: 1 * SECOND,
  keepaliveMs: 1 * SECOND,
  keepaliveTimeoutMs: 2 * SECOND,
  firstRetryMs: 20,
  lastRetryMs: 250,
};
