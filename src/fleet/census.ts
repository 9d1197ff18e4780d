/** The fleet in numbers. */
import { HEADLINES, isLongSilent, type Headline } from "./headline.ts";
import type { Row } from "./row.ts";

export type Counts = Readonly<Record<Headline, number>>;

export function countsOf(rows: Iterable<Pick<Row, "headline">>): Counts {
  const counts = Object.fromEntries(HEADLINES.map((each) => [each, 0])) as Record<Headline, number>;
  for (const { headline } of rows) counts[headline] += 1;
  return counts;
}

/** Without agents that were at nothing when they fell silent, long ago. */
export function countsAt(rows: Iterable<Row>, nowMs: number): Counts {
  return countsOf([...rows].filter((row) => !isLongSilent(row, nowMs)));
}
