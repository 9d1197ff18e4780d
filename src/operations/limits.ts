/** The bounds of what operations take and answer with, each with its reason. */
import { MIB, SECOND } from "../core/units.ts";

export const LIST = {
  /** A screen or a few; who wants more says so. */
  limitDefault: 100,
  limitMost: 1_000,
  /** Items that a filter looks at for one page: some ten milliseconds, in several turns. */
  looked: 20_000,
  /** Of them in one turn: what a caller that waits behind it does not notice. */
  atOnce: 1_000,
  /** Of one page in characters, whatever the limit: cards may have 128 Ki each. */
  answerLength: 8 * MIB,
} as const;

export const CLAIM = {
  /** Each wait holds a connection; a worker that finds nothing for this long asks again. */
  waitMsMost: 600 * SECOND,
} as const;

export const TIMELINE_LIMITS = {
  /** Events of one timeline. */
  timeline: 1_000,
} as const;

/** An overview of a state that may hold millions. */
export const OVERVIEW = {
  /** Of each list: more than a screen shows, few enough to send every second. */
  rows: 50,
  /** Of one agent or task. */
  tools: 12,
  events: 30,
  /** Of one event in words: a reason may be a page. */
  textLength: 400,
} as const;
