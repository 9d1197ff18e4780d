/** Which part of the fleet is asked for, and when. */
import { z } from "zod";
import { HEADLINES } from "../../fleet/headline.ts";
import type { Row } from "../../fleet/row.ts";
import { FLEET_LIST } from "./limits.ts";
import { LIST_QUERY, quoted, wrong } from "./parse.ts";

/** The answer and its stream take the same filters. */
const FILTERS = {
  headline: z.array(z.enum(HEADLINES)),
  /** The machine that a wire of it is on. */
  host: z.string().optional(),
  workspacePrefix: z.string().default(""),
  needs: z.enum(["me"]).optional(),
  /** With those that are gone for long. */
  all: z.enum(["true", "false"]).default("false"),
} as const;

export const FLEET = z.strictObject({ ...FILTERS, ...LIST_QUERY, at: z.string().optional() });
export const FLEET_LIVE = z.strictObject(FILTERS);

export type Filters = z.output<typeof FLEET_LIVE>;

export function isWanted(row: Row, filters: Filters, nowMs: number): boolean {
  const { headline, host, workspacePrefix, needs } = filters;
  if (headline.length > 0 && !headline.includes(row.headline)) return false;
  if (needs === "me" && row.headline !== "NEEDS YOU") return false;
  if (host !== undefined && !row.aliases.some((alias) => hostOf(alias) === host)) return false;
  if (!(row.workspace ?? "").startsWith(workspacePrefix)) return false;
  const isOld = row.headline === "GONE" && nowMs - row.reportedAtMs > FLEET_LIST.goneMs;
  return !isOld || filters.all === "true";
}

/** `box` of file@box:NAME. */
function hostOf(alias: string): string | undefined {
  return /^[^:@]*@([^:]*):/.exec(alias)?.[1];
}

/** A moment as milliseconds or ISO 8601 with its zone. */
export function momentOf(at: string | undefined): number | undefined {
  if (at === undefined) return undefined;
  if (/^\d{1,15}$/.test(at)) return Number(at);
  const atMs = ISO.test(at) ? Date.parse(at) : NaN;
  if (!Number.isNaN(atMs)) return atMs;
  throw wrong(`at is ${quoted(at)}, neither milliseconds nor a time like 2026-06-20T16:04:05Z`);
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;
