/** Which rows of the fleet are meant: the same for an answer, for its stream, and for the files. */
import { isLongSilent, type Headline } from "../fleet/headline.ts";
import type { Row } from "../fleet/row.ts";
import { FLEET } from "./limits.ts";

export interface Filters {
  /** None means any. */
  readonly headline: readonly Headline[];
  /** The machine that a wire of it is on. */
  readonly host?: string | undefined;
  readonly workspacePrefix: string;
  readonly needs?: "me" | undefined;
  /** With those that are gone or silent for long. */
  readonly all: boolean;
}

export function isWanted(row: Row, filters: Filters, nowMs: number): boolean {
  const { headline, host, workspacePrefix, needs } = filters;
  if (headline.length > 0 && !headline.includes(row.headline)) return false;
  if (needs === "me" && row.headline !== "NEEDS YOU") return false;
  if (host !== undefined && !row.aliases.some((alias) => hostOf(alias) === host)) return false;
  if (!(row.workspace ?? "").startsWith(workspacePrefix)) return false;
  return filters.all || !isFolded(row, nowMs);
}

/** An agent that is gone, or as good as gone, is shown for a while. */
function isFolded(row: Row, nowMs: number): boolean {
  const isGone = row.headline === "GONE" && nowMs - row.reportedAtMs > FLEET.goneMs;
  return isGone || isLongSilent(row, nowMs);
}

/** `box` of file@box:NAME. */
function hostOf(alias: string): string | undefined {
  return /^[^:@]*@([^:]*):/.exec(alias)?.[1];
}
