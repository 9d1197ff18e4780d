/** The row that a person means: by its id, an alias, its name, or a part of one. */
import { refusalError } from "../core/errors.ts";
import { meant, seek, type Match } from "../core/meant.ts";
import type { Row } from "./row.ts";
import { aliasKeys } from "./sources.ts";
import type { FleetView, KeptRow } from "./view.ts";

/** Rejects when it is none, or may be several. */
export function rowMeant(rows: readonly Row[], word: string): Row {
  return found(meant(rows, namesOf, { word, ...PLACE }));
}

/** Of the rows that are kept: an id and an alias cost nothing. */
export function keptNamed(view: FleetView, word: string): KeptRow | undefined {
  const byId = view.kept(word);
  if (byId) return byId;
  for (const key of aliasKeys(word)) {
    const kept = view.keptOf(key);
    if (kept) return kept;
  }
  return undefined;
}

/** The same by a name, or by a part of one: for that all rows are looked at, in steps. */
export function seekKept(view: FleetView, word: string): Generator<void, Match<KeptRow>> {
  const [...named] = view.names.of(word);
  return seek(named.length > 0 ? named : view.all(), namesOf, { word, ...PLACE });
}

export function found<T>(given: Match<T>): T {
  if (!given.ok) throw refusalError(given);
  return given.item;
}

const PLACE = { noun: "agent", place: " in the fleet" } as const;

function namesOf({ id, name, headline, aliases = [] }: RowNames) {
  return { id, name, aliases, isHere: headline !== "GONE" };
}

interface RowNames extends Pick<Row, "id" | "name" | "headline"> {
  readonly aliases?: readonly string[];
}
