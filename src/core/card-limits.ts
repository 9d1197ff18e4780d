/** How large a card may be, each number with its reason. What is shown of it is in prose.ts. */
import { KIB } from "./units.ts";

export const CARD = {
  /** In UTF-8 as in memory: the largest cards in use have some 40 KiB. */
  bytes: 256 * KIB,
  /** It is the key of an index and stands in logs and tables. */
  urlLength: 2 * KIB,
  nameLength: 1 * KIB,
  /** Versions, media types, ids, names of bindings. */
  wordLength: 1 * KIB,
  /** Some agents paste a manual here; what is shown of it is far shorter. */
  proseLength: 64 * KIB,
  interfaces: 64,
  skills: 1024,
  /** Tags, examples, media types, security requirements: per list. */
  listed: 256,
  /** A card without a single right field shall not be answered with a book. */
  problems: 32,
  /** An answer repeats what was wrong only where that is short. */
  echoLength: 1 * KIB,
} as const;

export const HEARTBEAT = {
  /** The card, and room for the interval around it. */
  bytes: CARD.bytes + 1 * KIB,
  defaultIntervalS: 60,
  minIntervalS: 1,
  /** An agent that is silent for longer than three days is gone, whatever it had announced. */
  maxIntervalS: 24 * 3600,
} as const;

export const CANDIDATES = {
  /** Two file names at four bases: the origin, and the three most specific. */
  urls: 8,
} as const;

export const DIFF = {
  changes: 32,
  /** Of one value, before and after. */
  valueLength: 200,
  pathLength: 200,
} as const;

/** The most of a card's prose that reaches a person or a model. */
export const PROSE = {
  nameLength: 128,
  descriptionLength: 1 * KIB,
  wordLength: 64,
  skills: 64,
  tags: 16,
  /** How many of an agent's own examples a registry should show (ARD). */
  examples: 5,
  exampleLength: 256,
} as const;
