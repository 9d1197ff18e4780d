/** Moments by the clock on the wall of this machine. */

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

/** "14:03"; with its day where that is not today. */
export function sinceWhen(atMs: number, nowMs: number): string {
  const minute = timeOfDay(atMs).slice(0, 5);
  return dayOf(atMs) === dayOf(nowMs) ? minute : `${dayOf(atMs)} ${minute}`;
}
