/** The bounds of the doors, each with its reason. Tests pass their own; users never need to. */
import { KIB, MIB, SECOND } from "../core/units.ts";

export interface HttpLimits {
  /** A heartbeat or a job is a few KiB; what is larger has its own way in. */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  readonly headers: number;
  /** A client that takes longer to say what it wants holds a connection for nothing. */
  readonly headersMs: number;
  /** To send the whole request; what streams back may take for ever. */
  readonly requestMs: number;
  /** Between two requests on one connection. */
  readonly idleMs: number;
  /** How often the three above are looked at. */
  readonly checkMs: number;
  readonly connections: number;
  /** Requests that one connection may send before the answer to the first is out. */
  readonly pipelined: number;
  /** How long a client may take nothing of an answer. */
  readonly stallMs: number;
  /** Of HTTP/2: requests of one connection at a time, and the memory that they have together. */
  readonly streams: number;
  readonly http2Megabytes: number;
  /** How long the rest of a refused request is read and dropped, so that its sender sees why. */
  readonly lingerMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  bodyBytes: 1 * MIB,
  headerBytes: 16 * KIB,
  headers: 100,
  headersMs: 10 * SECOND,
  requestMs: 30 * SECOND,
  idleMs: 5 * SECOND,
  checkMs: 1 * SECOND,
  /** Every agent of a large machine and its streams; a file descriptor each. */
  connections: 10_000,
  /** Programs that do so at all send ten at a time. */
  pipelined: 64,
  /** As for streams of events. */
  stallMs: 60 * SECOND,
  /** The number that browsers and proxies expect of a server. */
  streams: 100,
  http2Megabytes: 8,
  lingerMs: 1 * SECOND,
};

/** Every agent of a large machine that brings its own connection. */
export const GRPC_CONNECTIONS = 10_000;

/** One of each other member, and of those that came back under another address. */
export const MEMBER_CONNECTIONS = 256;

/** One connection of an ARCP client to a member that does not lead. */
export const RELAY = {
  /** That came while its caller was looked at. */
  earlyBytes: 4 * MIB,
  /** Of the leader, that its client has not taken: beyond it the leader waits. */
  waitingBytes: 1 * MIB,
} as const;

/** How the files that a process may open are shared. */
export const OPEN_FILES = {
  /** For the log, the status files, pipes of agents and calls to other machines. */
  reserved: 128,
  /** HTTP, gRPC, A2A and ARCP may have a port each. */
  doors: 4,
  /** Of a door, however few files there are. */
  least: 16,
} as const;

/** Closing: together under the 5 s after which a supervisor kills. */
export const CLOSING = {
  /** For the leader to hear that a member goes. */
  leaveMs: 250,
  /** For jobs to become durable and their processes to end. */
  arcpMs: 500,
  /** For what is under way below the wires. */
  servicesMs: 250,
  /** For commands under way to become durable. */
  engineMs: 1.5 * SECOND,
  /** For answers and last words to reach their clients; then connections are cut. */
  doorsMs: 1 * SECOND,
  /** For cut connections to be gone. */
  cutMs: 250,
  storeMs: 1250,
} as const;
