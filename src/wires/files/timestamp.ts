/**
 * Moments as status files have them. Read is what the peer reads: the extended and the basic form
 * of ISO 8601, any one character between date and time, fractions of a second, always with a zone.
 * Written is UTC in whole seconds.
 */

const DAY = String.raw`-(?<month>\d\d)-(?<day>\d\d)|(?<month_>\d\d)(?<day_>\d\d)`;
const DATE = String.raw`(?<year>\d{4})(?:${DAY})`;
const FORM = new RegExp(`^${DATE}(?:.${clock("")}(?:(?<sign>[+-])${clock("zone_")})?)?$`, "su");

/**
 * HH, HH:MM, HH:MM:SS or the same without colons, each with a fraction, which is always one of a
 * second. Names given twice end in an underscore.
 */
function clock(prefix: string): string {
  const form = (colon: string, mark: string) =>
    `${colon}(?<${prefix}minute${mark}>\\d\\d)(?:${colon}(?<${prefix}second${mark}>\\d\\d))?`;
  const minutes = `(?:${form(":", "")}|${form("", "_")})?`;
  return `(?<${prefix}hour>\\d\\d)${minutes}(?:[.,](?<${prefix}fraction>\\d+))?`;
}

/** What writers write, on days that every month has: most of all that is ever read. */
const USUAL =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** Milliseconds since 1970, with microseconds behind the point; or what is wrong, in words. */
export function readTimestamp(value: unknown): number | string {
  if (typeof value !== "string" || value === "") return "timestamp must be non-empty string";
  if (USUAL.test(value)) return Date.parse(value);
  const parts = FORM.exec(value.replaceAll("Z", "+00:00"))?.groups;
  const atMs = parts && momentOf(parts);
  if (atMs === undefined) return `invalid timestamp: ${value}`;
  const zoneMs = zoneOf(parts ?? {});
  if (zoneMs === undefined) return `timestamp must include timezone: ${value}`;
  return Number.isNaN(zoneMs) ? `invalid timestamp: ${value}` : atMs - zoneMs;
}

/** Of a timestamp that was checked. */
export function timestampMs(value: string): number {
  return Number(readTimestamp(value));
}

export function writeTimestamp(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

type Parts = Readonly<Record<string, string | undefined>>;

function numberOf(parts: Parts, name: string): number {
  return Number(parts[name] ?? parts[`${name}_`] ?? 0);
}

function microsecondsOf(parts: Parts, name: string): number {
  const digits = parts[name] ?? "";
  return Number(digits.slice(0, 6).padEnd(6, "0"));
}

function momentOf(parts: Parts): number | undefined {
  const [year, month, day] = [
    numberOf(parts, "year"),
    numberOf(parts, "month"),
    numberOf(parts, "day"),
  ];
  const [hour, minute, second] = [
    numberOf(parts, "hour"),
    numberOf(parts, "minute"),
    numberOf(parts, "second"),
  ];
  if (year < 1 || hour > 23 || minute > 59 || second > 59) return undefined;
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  // A day that its month does not have ends up in another one.
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) return undefined;
  at.setUTCHours(hour, minute, second);
  return at.getTime() + microsecondsOf(parts, "fraction") / 1000;
}

/** How far the zone is ahead of UTC; nothing without a zone, NaN when it is a day or more. */
function zoneOf(parts: Parts): number | undefined {
  if (parts["sign"] === undefined) return undefined;
  const seconds =
    numberOf(parts, "zone_hour") * 3600 +
    numberOf(parts, "zone_minute") * 60 +
    numberOf(parts, "zone_second");
  if (seconds >= 86_400) return NaN;
  const ms = seconds * 1000 + microsecondsOf(parts, "zone_fraction") / 1000;
  return parts["sign"] === "-" ? -ms : ms;
}
