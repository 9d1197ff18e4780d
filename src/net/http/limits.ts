/** Sizes and timeouts of a client of a daemon, each with its reason. */
import { MIB } from "../../core/units.ts";

export const HTTP_CLIENT = {
  /** Answers are pages of listings; a daemon never sends more in one. */
  bodyBytes: 64 * MIB,
  /** A task's input is 2 MiB as base64 inside one event, and one event is one line. */
  eventLength: 8 * MIB,
  /** A local daemon answers in milliseconds; one that needs this long is stuck. */
  answerMs: 10_000,
  /** For the rest of an answer that is no stream: one that drips must not hold a command. */
  bodyMs: 20_000,
  /** Of a connection without a request: a daemon closes it after 5 s. */
  idleMs: 2_000,
  /** A stream is silent for 15 s at most, then it says so: three of those missed is a dead one. */
  silenceMs: 45_000,
  /** Between tries to connect again: at once for a restart, bounded for a long absence. */
  firstRetryMs: 100,
  lastRetryMs: 5_000,
  /** One message from an MCP client: what the daemon takes in one body. */
  messageLength: 1 * MIB,
  /** For answers under way when an MCP client has nothing more to say. */
  farewellMs: 2_000,
} as const;
