/** The bounds of the directory as a service, each with its reason; those of entries are core's. */
import { MIB, SECOND } from "../core/units.ts";

/** Of heartbeats that wait for the card of a new agent. */
export const WAITING = {
  /** Each holds a connection, and the card it came with: 64 MiB at the worst. */
  most: 256,
  /** The registry clients from PyPI hang up after 10 s, and would not learn the answer. */
  longestMs: 9.5 * SECOND,
  /** For those beyond `most`: a card that is there comes sooner. */
  shortMs: 0.5 * SECOND,
} as const;

/** Of heartbeats that must be read and decided on, as those of new agents. */
export const TURNSTILE = {
  /** Half a millisecond of work: so long they keep a heartbeat of a known agent waiting. */
  perTurn: 4,
  /** Each holds its body; they are through in a second. */
  waiting: 4_096,
} as const;

export const SERVICE = {
  /** Of heartbeats that are known by their very bytes: some 20,000 of 1.5 KiB. */
  knownBytes: 32 * MIB,
  /** Verifications at a time, those that wait for the fetcher included. */
  verifications: 4_096,
} as const;

export const MENTIONS = {
  /** All of them are one sender: see COUNT.entriesPerSource. */
  source: "status files",
  /** A first heartbeat may wait for its fetch; these shall not take the places of agents. */
  atOnce: 4,
  /** As many as their source may have; the others come again. */
  due: 5_000,
  /** Two repeats may be missed. */
  intervalS: 60,
  nameLength: 256,
} as const;

export const QUERY = {
  limitMost: 1_000,
  /** Skills, tags: what one asks for has a few words. */
  wordLength: 256,
  /** A moment and a URL, three bytes for each character, as base64. */
  cursorLength: 4_200,
} as const;
