/**
 * The changes between two cards, for a person who decides whether to trust the new one: the place
 * and the value before and after. Skills and interfaces are told apart by their id or url, so that
 * a new one at the top of the list is one change and not a list full of them.
 *
 * Values are others' text: clipped, and clean enough for a terminal or a page.
 */
import { clean } from "../../core/clean.ts";
import { canonical } from "./canonical.ts";
import type { Card } from "./card.ts";
import type { Json, JsonArray } from "../../core/json.ts";
import { DIFF } from "../../core/card-limits.ts";

export interface CardChange {
  /** Such as `skills[translate].tags[0]`. */
  readonly path: string;
  /** JSON; absent where there was nothing. */
  readonly before?: string;
  readonly after?: string;
}

export interface CardDiff {
  readonly changes: readonly CardChange[];
  /** How many there are beyond those listed. */
  readonly more: number;
}

export function diffCards(before: Card, after: Card): CardDiff {
  const changes: CardChange[] = [];
  let more = 0;
  for (const change of compare(before.json, after.json, "")) {
    if (changes.length < DIFF.changes) changes.push(change);
    else more += 1;
  }
  return { changes, more };
}

type Maybe = Json | undefined;

function* compare(before: Maybe, after: Maybe, path: string): Iterable<CardChange> {
  const [one, other] = [before && canonical(before), after && canonical(after)];
  if (one === other) return;
  const [ours, theirs] = [partsOf(before), partsOf(after)];
  if (ours && theirs && before?.kind === after?.kind) {
    const isObject = before?.kind === "object";
    for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
      const inside = isObject ? (path === "" ? name : `${path}.${name}`) : `${path}[${name}]`;
      yield* compare(ours.get(name), theirs.get(name), inside);
    }
    return;
  }
  yield {
    path: shown(path, DIFF.pathLength),
    ...(one !== undefined && { before: shown(one, DIFF.valueLength) }),
    ...(other !== undefined && { after: shown(other, DIFF.valueLength) }),
  };
}

function partsOf(json: Maybe): ReadonlyMap<string, Json> | undefined {
  if (json?.kind === "object") return json.members;
  if (json?.kind === "array") return itemsByName(json);
  return undefined;
}

function itemsByName({ items }: JsonArray): ReadonlyMap<string, Json> {
  const named = new Map(items.map((item, i) => [nameOf(item) ?? String(i), item]));
  return named.size === items.length ? named : new Map(items.map((item, i) => [String(i), item]));
}

function nameOf(item: Json): string | undefined {
  if (item.kind !== "object") return undefined;
  const name = item.members.get("id") ?? item.members.get("url");
  return name?.kind === "string" ? name.value : undefined;
}

function shown(text: string, maxLength: number): string {
  const cleaned = clean(text.slice(0, 2 * maxLength));
  return cleaned.length <= maxLength ? cleaned : `${cleaned.slice(0, maxLength - 1)}…`;
}
