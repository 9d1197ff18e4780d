/** Which rows of the fleet are meant: the same for an answer, for its stream, and for the files. */
import { hostOf } from "../core/wires.ts";
import { HEADLINES, isFolded, placesOf, type Headline, type Places } from "./headline.ts";
import type { Row } from "./row.ts";

export interface FleetFilters {
  /** None means any. */
  readonly headline: readonly Headline[];
  /** The machine that a wire of it is on. */
  readonly host?: string | undefined;
  readonly workspacePrefix: string;
  readonly needs?: "me" | undefined;
  /** With those that are gone or silent for long. */
  readonly all: boolean;
}

/** All that are not folded away; with them those that are. */
export const ANY: FleetFilters = { headline: [], workspacePrefix: "", all: false };
export const ALL: FleetFilters = { ...ANY, all: true };

export function isWanted(row: Row, filters: FleetFilters, nowMs: number): boolean {
  const { host, workspacePrefix } = filters;
  if (!headlinesOf(filters).includes(row.headline)) return false;
  if (host !== undefined && !hostsOfAliases(row.aliases).includes(host)) return false;
  if (!isBelow(row.workspace, workspacePrefix)) return false;
  return filters.all || !isFolded(row, nowMs);
}

/** Where in the order of all rows those that are wanted stand, the first first. */
export function placesIn(filters: FleetFilters): readonly Places[] {
  const headlines = HEADLINES.filter((each) => headlinesOf(filters).includes(each));
  const shown = headlines.map((each) => placesOf(each));
  const away = filters.all ? headlines.map((each) => placesOf(each, true)) : [];
  return joined([...shown, ...away]);
}

/** Those that follow each other as one. */
function joined(stretches: readonly Places[]): readonly Places[] {
  const found: Places[] = [];
  for (const each of stretches) {
    const last = found.at(-1);
    if (last?.to === each.from) found[found.length - 1] = { from: last.from, to: each.to };
    else found.push(each);
  }
  return found;
}

function headlinesOf({ headline, needs }: FleetFilters): readonly Headline[] {
  const wanted = headline.length > 0 ? headline : HEADLINES;
  return needs === "me" ? wanted.filter((each) => each === "NEEDS YOU") : wanted;
}

export function isBelow(workspace: string | null, prefix: string): boolean {
  return (workspace ?? "").startsWith(prefix);
}

/** `box` of file@box:NAME. */
export function hostsOfAliases(aliases: readonly string[]): readonly string[] {
  const hosts = new Set<string>();
  for (const alias of aliases) {
    const host = hostOf(alias);
    if (host !== undefined) hosts.add(host);
  }
  return hosts.size > 0 ? [...hosts] : NO_HOSTS;
}

/** One for all of the many that are on no machine. */
const NO_HOSTS: readonly string[] = [];
