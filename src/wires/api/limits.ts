/** The bounds of our own HTTP API, each with its reason. */
import { MIB, SECOND } from "../../core/units.ts";

export const EVENT_STREAM = {
  /** A connection and a cursor each; a machine has fewer programs that look on than this. */
  streams: 4_000,
  /** Of the fleet: each remembers what it was told of every agent. */
  lookers: 256,
  /** Shorter than what proxies and clients wait for before they call a connection dead. */
  heartbeatMs: 15 * SECOND,
  /** A client that reads nothing for this long is not there, however little there is to read. */
  stallMs: 60 * SECOND,
  /** For the last words to reach a client that was cut and may not read them. */
  farewellMs: 1 * SECOND,
  /** What a client waits before it comes back. */
  retryMs: 1 * SECOND,
} as const;

export const LIST = {
  /** A screen or a few; who wants more says so. */
  limitDefault: 100,
  limitMost: 1_000,
  /** Of one page in characters, whatever the limit: cards may have 128 Ki each. */
  answerLength: 8 * MIB,
  /** A place is a moment and a key of at most 1,024 characters, three bytes each, as base64. */
  cursorLength: 4_200,
} as const;

export const FLEET_LIST = {
  /** Those gone for longer are shown to who asks for all. */
  goneMs: 3_600 * SECOND,
  /** Of one frame of a stream: a client takes 16 MiB, and a row has a few KiB. */
  frameRows: 500,
  /** What a timeline shows at most. */
  timeline: 1_000,
  /** Events of others after which a follower of one agent is told where it stands. */
  bookmarkEvents: 1_024,
} as const;

export const CLAIM = {
  /** Each wait holds a connection; a worker that finds nothing for this long asks again. */
  waitMsMost: 600 * SECOND,
} as const;

/** What a page shows of a state that may hold millions. */
export const OVERVIEW = {
  /** Of each list: more than a screen shows, few enough to send every second. */
  rows: 50,
  /** Of one agent or task. */
  tools: 12,
  events: 30,
  /** Of one event in words: a reason may be a page. */
  textLength: 400,
} as const;
