/** Which agent a person means: by its id, by an alias, by its name, or by how its id begins. */
import { RollcallError } from "../core/errors.ts";
import { shortId } from "../core/words.ts";
import type { Row } from "./row.ts";

/** As many as one reads to see which was meant. */
const CANDIDATES = 5;

/** The row that is meant; rejects when it is none, or may be several. */
export function rowMeant(rows: readonly Row[], given: string): Row {
  const exact = rows.find(({ id, aliases }) => id === given || aliases.includes(given));
  if (exact) return exact;
  const named = rows.filter(({ name }) => name === given);
  const begun = given === "" ? [] : rows.filter(({ id }) => id.startsWith(given));
  const found = named.length > 0 ? named : begun;
  const [first, ...others] = found;
  if (!first) throw new RollcallError("NOT_FOUND", `no agent ${given} in the fleet`);
  if (others.length === 0) return first;
  const shown = found.slice(0, CANDIDATES).map(({ id, name }) => `${id} (${name})`);
  const more = found.length > CANDIDATES ? `, and ${found.length - CANDIDATES} more` : "";
  const how = named.length > 0 ? "are called" : "have an id that begins";
  const message = `${found.length} agents ${how} ${shortId(given)}: ${shown.join(", ")}${more}`;
  throw new RollcallError("INVALID_ARGUMENT", message);
}
