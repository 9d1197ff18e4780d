/** The bounds of the directory as a service, each with its reason; those of entries are core's. */
import { MIB } from "../core/units.ts";

export const SERVICE = {
  /** How long a heartbeat waits for what its fetch finds: its sender has other things to do. */
  answerMs: 500,
  /** Heartbeats known by their very bytes, in bytes: some 20,000 of 1.5 KiB. */
  knownLength: 32 * MIB,
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
