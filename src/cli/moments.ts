/** Moments of the past as people type them: 14:03, yesterday 14:03, 10m ago, an ISO time. */
import { parseDuration } from "./durations.ts";

const WORDS = /^(?:(today|yesterday|\d{4}-\d\d-\d\d)[ T]+)?(\d{1,2}):(\d\d)(?::(\d\d))?$/i;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/i;

const UNITS: Readonly<Record<string, string>> = { sec: "s", min: "m", hour: "h", day: "d" };

/** In milliseconds, by the local clock; throws what the parser of flags tells. */
export function parseMoment(text: string, nowMs: number = Date.now()): number {
  const atMs = momentOf(text.trim(), nowMs);
  if (Number.isNaN(atMs)) {
    throw new Error("not a time, such as 14:03, yesterday 14:03, 10m ago or 2026-06-20T16:04:05Z");
  }
  if (atMs > nowMs) throw new Error("yet to come");
  return atMs;
}

function momentOf(text: string, nowMs: number): number {
  const [, ago] = /^(.+?)\s+ago$/i.exec(text) ?? [];
  if (ago !== undefined) return nowMs - durationOf(ago);
  if (ISO.test(text)) return Date.parse(text);
  const [, day, hours, minutes, seconds = "0"] = WORDS.exec(text) ?? [];
  if (hours === undefined || minutes === undefined) return NaN;
  const at = dayOf(day?.toLowerCase(), nowMs);
  at.setHours(Number(hours), Number(minutes), Number(seconds), 0);
  // 24:00, 14:60 and the 30th of February become another moment than was typed.
  if (at.getHours() !== Number(hours) || at.getMinutes() !== Number(minutes)) return NaN;
  // A time alone is the last time that it was so.
  if (day === undefined && at.getTime() > nowMs) at.setDate(at.getDate() - 1);
  return at.getTime();
}

function dayOf(day: string | undefined, nowMs: number): Date {
  if (day === "yesterday") {
    const at = new Date(nowMs);
    at.setDate(at.getDate() - 1);
    return at;
  }
  if (day === undefined || day === "today") return new Date(nowMs);
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const at = new Date(year, month - 1, date);
  return at.getMonth() === month - 1 ? at : new Date(NaN);
}

/** `10m`, `1.5h`, `10 min`, `2 hours`. */
function durationOf(text: string): number {
  const [, amount = text, unit = ""] = /^([\d.]+)\s*(sec|min|hour|day)\w*$/i.exec(text) ?? [];
  try {
    return parseDuration(amount.replace(/\s+/, "") + (UNITS[unit.toLowerCase()] ?? ""));
  } catch {
    return NaN;
  }
}
