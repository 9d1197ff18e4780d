/** The row that a person means: by its id, an alias, its name, or a part of one. */
import { RollcallError } from "../core/errors.ts";
import { meant } from "../core/meant.ts";
import type { Row } from "./row.ts";

/** Rejects when it is none, or may be several. */
export function rowMeant(rows: readonly Row[], word: string): Row {
  const found = meant(rows, namesOf, { word, noun: "agent", place: " in the fleet" });
  if (!found.ok) throw new RollcallError(found.code, found.reason);
  return found.item;
}

function namesOf({ id, name, aliases, headline }: Row) {
  return { id, name, aliases, isHere: headline !== "GONE" };
}
