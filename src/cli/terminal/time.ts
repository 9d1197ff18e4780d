/** Moments and durations as people read them in a column. */

/** The local time of day; the date is said once, where it changes. */
export function timeOfDay(atMs: number): string {
  const at = new Date(atMs);
  const [hours, minutes, seconds] = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two);
  return `${hours}:${minutes}:${seconds}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

export function dayOf(atMs: number): string {
  const at = new Date(atMs);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** In its largest unit, with one digit behind the point where that says more. */
export function shortDuration(durationMs: number): string {
  for (const [unit, sizeMs] of UNITS) {
    if (durationMs >= sizeMs) return `${Number((durationMs / sizeMs).toFixed(1))}${unit}`;
  }
  return `${Math.round(durationMs)}ms`;
}
