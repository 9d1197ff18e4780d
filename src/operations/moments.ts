/** A moment of the past, as milliseconds or ISO 8601 with its zone. */
import { invalidArgument } from "../core/errors.ts";
import { quoted } from "./parse.ts";

export function momentOf(at: string | undefined): number | undefined {
  if (at === undefined) return undefined;
  if (/^\d{1,15}$/.test(at)) return Number(at);
  const atMs = ISO.test(at) ? Date.parse(at) : NaN;
  if (!Number.isNaN(atMs)) return atMs;
  throw invalidArgument(
    `at is ${quoted(at)}, neither milliseconds nor a time like 2026-06-20T16:04:05Z`,
  );
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;
