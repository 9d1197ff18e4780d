/** Which part of the fleet is asked for, and when. */
import { z } from "zod";
import { HEADLINES } from "../../fleet/headline.ts";
import { LIST_QUERY, quoted, wrong } from "./parse.ts";

/** As in fleet-filter.ts; the answer and its stream take the same. */
const FILTERS = {
  headline: z.array(z.enum(HEADLINES)),
  host: z.string().optional(),
  workspacePrefix: z.string().default(""),
  needs: z.enum(["me"]).optional(),
  all: z.enum(["true", "false"]).default("false"),
} as const;

export const FLEET = z.strictObject({ ...FILTERS, ...LIST_QUERY, at: z.string().optional() });
export const FLEET_LIVE = z.strictObject(FILTERS);

/** A moment as milliseconds or ISO 8601 with its zone. */
export function momentOf(at: string | undefined): number | undefined {
  if (at === undefined) return undefined;
  if (/^\d{1,15}$/.test(at)) return Number(at);
  const atMs = ISO.test(at) ? Date.parse(at) : NaN;
  if (!Number.isNaN(atMs)) return atMs;
  throw wrong(`at is ${quoted(at)}, neither milliseconds nor a time like 2026-06-20T16:04:05Z`);
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;
