/** The bounds of the MCP wire, each with its reason. */
import { HOUR, KIB, MIB, SECOND } from "../../core/units.ts";

export const MCP = {
  /** Sessions of streamable HTTP: an editor or two of every person on a large machine. */
  sessions: 256,
  /** A session in which nobody said anything for this long, and nobody listens, is over. */
  idleMs: 1800 * SECOND,
  /** Connections of the older SSE transport and of `rollcall mcp`: a socket each. */
  connections: 1_000,
  /** Streams of `subscriptions/listen`, over all clients. */
  listeners: 256,
  /** Subscriptions of one session: there are few kinds of resources. */
  subscriptions: 64,
  /** Messages in one body; only clients of one old revision send more than one at all. */
  batch: 32,
  /** Back-pressure of a client that does not read: the longest resource, and some more. */
  unreadBytes: 16 * MIB,
  /** Shorter than what proxies wait for before they call a connection dead. */
  keepAliveMs: 15 * SECOND,
  /** However much happens, a subscriber is told that often: it reads the whole again. */
  changeMs: 1 * SECOND,
} as const;

/** Texts for a model: it pays for every word, and believes too many of them. */
export const MODEL_TEXT = {
  /** Of a text that an agent wrote, in an answer of a tool. */
  textLength: 1 * KIB,
  /** Of what goes into a task: it is the work itself, so as long as a page or a few. */
  taskTextLength: 32 * KIB,
  /** Of one in a card. */
  cardTextLength: 4 * KIB,
  /** How deep a card may go, and how many entries one list or object of it may have. */
  cardDepth: 12,
  cardEntries: 512,
  /** Of a whole resource as JSON; what is more is refused, and the tools find parts of it. */
  resourceLength: 2 * MIB,
  /** Of a resource: as many as can fit into its length. */
  resourceRows: 5_000,
  rowsDefault: 50,
  rowsMost: 200,
  foundDefault: 10,
  foundMost: 50,
  /** Agents that have a resource of their own in the list. */
  listed: 1_000,
} as const;

export const WAIT = {
  /** Clients give a tool a minute by default; who finds no task in this time asks again. */
  claimSeconds: 50,
} as const;

export const MEMBER = {
  /** How long an agent outlives the connection it is, if nobody could say good-bye. */
  ttlMs: 60 * SECOND,
  /** Three may be late before it counts as gone. */
  heartbeatMs: 20 * SECOND,
} as const;

export const STATUS = {
  /** How long a published status is believed: a model that works says something more often. */
  ttlDefaultMs: 600 * SECOND,
  ttlLeastMs: 10 * SECOND,
  ttlMostMs: 24 * HOUR,
} as const;

export const URI = {
  /** A URL of 2 KiB, every character of it percent-encoded. */
  length: 8 * KIB,
} as const;
