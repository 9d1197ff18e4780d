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

/** Milliseconds since 1970, with microseconds behind the point; or what is wrong, in words. */
export function readTimestamp(value: unknown): number | string {
  if (typeof value !== "string" || value === "") return "timestamp must be non-empty string";
  if (value === usual.text) return usual.atMs;
  const usualMs = readUsual(value);
  if (usualMs !== undefined) {
    usual = { text: value, atMs: usualMs };
    return usualMs;
  }
  const parts = FORM.exec(value.replaceAll("Z", "+00:00"))?.groups;
  const atMs = parts && momentOf(parts);
  if (atMs === undefined) return `invalid timestamp: ${value}`;
  const zoneMs = zoneOf(parts ?? {});
  if (zoneMs === undefined) return `timestamp must include timezone: ${value}`;
  return Number.isNaN(zoneMs) ? `invalid timestamp: ${value}` : atMs - zoneMs;
}

/** The last one: those of one file, and of files of the same second, are mostly the same. */
let usual = { text: "1970-01-01T00:00:00Z", atMs: 0 };

const DIGITS = "0".charCodeAt(0);

/**
 * The usual form, 2026-06-20T16:45:00Z, on days that every month has: nearly all that is ever
 * read, and ten times as fast as the rest.
 */
function readUsual(text: string): number | undefined {
  if (text.length !== 20 || text[10] !== "T" || text[19] !== "Z") return undefined;
  if (text[4] !== "-" || text[7] !== "-" || text[13] !== ":" || text[16] !== ":") return undefined;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const isDay = year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= 28;
  const isTime = hour <= 23 && minute <= 59 && second <= 59;
  return isDay && isTime ? Date.UTC(year, month - 1, day, hour, minute, second) : undefined;
}

/** NaN when they are none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - DIGITS;
  const ones = text.charCodeAt(at + 1) - DIGITS;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

/** Of a timestamp that was checked. */
export function timestampMs(value: string): number {
  return Number(readTimestamp(value));
}

export function writeTimestamp(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

type MatchedParts = Readonly<Record<string, string | undefined>>;

function numberOf(parts: MatchedParts, name: string): number {
  return Number(parts[name] ?? parts[`${name}_`] ?? 0);
}

function microsecondsOf(parts: MatchedParts, name: string): number {
  const digits = parts[name] ?? "";
  return Number(digits.slice(0, 6).padEnd(6, "0"));
}

function momentOf(parts: MatchedParts): number | undefined {
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
function zoneOf(parts: MatchedParts): number | undefined {
  if (parts["sign"] === undefined) return undefined;
  const seconds =
    numberOf(parts, "zone_hour") * 3600 +
    numberOf(parts, "zone_minute") * 60 +
    numberOf(parts, "zone_second");
  if (seconds >= 86_400) return NaN;
  const ms = seconds * 1000 + microsecondsOf(parts, "zone_fraction") / 1000;
  return parts["sign"] === "-" ? -ms : ms;
}
