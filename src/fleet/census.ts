/**
 * The fleet in numbers, for scrapes every few seconds: gauges. Counting means making
 * all rows, so it is done at most every few seconds, and the larger the fleet the more seldom.
 */
import type { State } from "../core/state.ts";
import type { Clock } from "../core/clock.ts";
import { HEADLINES, isLongSilent, type Headline } from "./headline.ts";
import type { Row } from "./row.ts";

export type Counts = Readonly<Record<Headline, number>>;

export interface Numbers {
  readonly headlines: Counts;
  readonly openQuestions: number;
  /** Since when the oldest of them waits; null without any. */
  readonly askedAtMs: number | null;
}

/** Gauges are read every fifteen seconds or so. */
const FRESH_MS = 5_000;
/** Of the time that counting took. */
const PAUSES = 50;

export function countsOf(rows: Iterable<Pick<Row, "headline">>): Counts {
  const counts = Object.fromEntries(HEADLINES.map((each) => [each, 0])) as Record<Headline, number>;
  for (const { headline } of rows) counts[headline] += 1;
  return counts;
}

/** Without agents that were at nothing when they fell silent, long ago. */
export function countsAt(rows: Iterable<Row>, nowMs: number): Counts {
  return countsOf([...rows].filter((row) => !isLongSilent(row, nowMs)));
}

export class Census {
  readonly #clock: Clock;
  #numbers: Numbers | undefined;
  #goodUntilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(state: State, rows: () => readonly Row[], nowMs: number): Numbers {
    const startedMs = this.#clock.monotonicMs();
    if (this.#numbers && startedMs < this.#goodUntilMs) return this.#numbers;
    let askedAtMs: number | null = null;
    for (const id of state.questions.openOf.values()) {
      const sinceMs = state.questions.byId.get(id)?.question.sinceMs ?? Infinity;
      if (sinceMs < (askedAtMs ?? Infinity)) askedAtMs = sinceMs;
    }
    const openQuestions = state.questions.openOf.size;
    this.#numbers = { headlines: countsAt(rows(), nowMs), openQuestions, askedAtMs };
    const doneMs = this.#clock.monotonicMs();
    this.#goodUntilMs = doneMs + Math.max(FRESH_MS, PAUSES * (doneMs - startedMs));
    return this.#numbers;
  }
}
