/** Moments as people read them in a column. */

import { dayOf, timeOfDay } from "../../machine/local-time.ts";

export { dayOf, timeOfDay };

const SPOKEN = [
  ["d", 86_400_000, 48 * 3_600_000],
  ["h", 3_600_000, 3_600_000],
  ["min", 60_000, 60_000],
  ["s", 1000, 1000],
] as const;

/** How long, in one whole unit: "3 s", "5 min"; days from the third on. */
function spoken(durationMs: number, whole = Math.floor): string {
  const [unit, sizeMs] = SPOKEN.find(([, , fromMs]) => durationMs >= fromMs) ?? [];
  return unit === undefined ? "" : `${whole(durationMs / sizeMs)} ${unit}`;
}

/** "3 s ago". What lies ahead, by a clock that differs, is now. */
export function ago(atMs: number, nowMs: number): string {
  const duration = spoken(nowMs - atMs);
  return duration === "" ? "now" : `${duration} ago`;
}

/** "in 12 s", and "now" once it is due. What was made for 30 days a moment ago ends in 30. */
export function inTime(atMs: number, nowMs: number): string {
  const duration = spoken(atMs - nowMs, Math.round);
  return duration === "" ? "now" : `in ${duration}`;
}

/** A moment in full, where there is room for it. */
export function momentText(atMs: number, nowMs: number): string {
  const when = atMs > nowMs ? inTime(atMs, nowMs) : ago(atMs, nowMs);
  return `${dayOf(atMs)} ${timeOfDay(atMs).slice(0, 8)} (${when})`;
}
