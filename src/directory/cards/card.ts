/**
 * An A2A agent card, of either generation. It is kept as the text its author wrote; what the rules
 * need of it is read beside it. The key of an agent in the registry is its `url` (v0.3), else that
 * of its first interface (v1.0), letter by letter as written: its clients look it up so.
 */
import { check } from "./check.ts";
import { readJson, type Json, type JsonObject } from "../../core/json.ts";
import { CARD } from "../../core/card-limits.ts";
import { notJson, tooLarge, wrongValue, type CardProblem, type Path } from "./problems.ts";
import { CARD_MODEL } from "./schema.ts";

export type CardVersion = "0.3" | "1.0";

export interface Card {
  /** As its author wrote it: write this down, not the rest. */
  readonly text: string;
  readonly key: string;
  /** 1.0 where it has interfaces. It may have a `url` as well. */
  readonly version: CardVersion;
  /** As written: clean it (prose.ts) before anybody sees it. */
  readonly name: string;
  readonly json: JsonObject;
  /** Some names occur twice, so that others may read another card than we do. */
  readonly isAmbiguous: boolean;
}

export type CardReading =
  | { readonly ok: true; readonly card: Card }
  | { readonly ok: false; readonly problems: readonly CardProblem[] };

/** For a card that stands alone, as an agent publishes it. */
export function readCard(text: string): CardReading {
  if (text.length > CARD.bytes) return { ok: false, problems: [tooLarge([], CARD.bytes)] };
  const read = readJson(text);
  if (!read.ok) return { ok: false, problems: [notJson(read.at, read.problem)] };
  const found = cardOf(read.value, []);
  if (!found.ok || !read.hasRepeatedNames) return found;
  return { ok: true, card: { ...found.card, isAmbiguous: true } };
}

/** For a card inside something else, at `loc`. */
export function cardOf(json: Json, loc: Path): CardReading {
  const problems = check(json, CARD_MODEL, loc);
  if (problems.length > 0 || json.kind !== "object") return { ok: false, problems };
  const url = textIn(json, "url");
  const [first] = interfacesOf(json);
  const key = url || (first && textIn(first, "url"));
  if (!key) {
    const reason =
      "AgentCard must provide either 'url' (A2A v0.3) or 'supportedInterfaces' (A2A v1.0)";
    return { ok: false, problems: [wrongValue(loc, json, reason)] };
  }
  const version = first ? "1.0" : "0.3";
  const name = textIn(json, "name") ?? "";
  return { ok: true, card: { text: json.text, key, version, name, json, isAmbiguous: false } };
}

export function textIn(json: JsonObject, name: string): string | undefined {
  const found = json.members.get(name);
  return found?.kind === "string" ? found.value : undefined;
}

/** The objects of a list; none where there is no list. */
export function objectsIn(json: JsonObject, name: string): readonly JsonObject[] {
  const found = json.members.get(name);
  return found?.kind === "array" ? found.items.filter((item) => item.kind === "object") : [];
}

export function interfacesOf(json: JsonObject): readonly JsonObject[] {
  return objectsIn(json, "supportedInterfaces");
}

/** Every URL at which the card says its agent can be reached. */
export function endpointsOf({ json, key }: Card): readonly string[] {
  const lists = [...interfacesOf(json), ...objectsIn(json, "additionalInterfaces")];
  const urls = lists.map((each) => textIn(each, "url")).filter((url) => url !== undefined);
  return [...new Set([key, ...urls])];
}

/**
 * Whether a card found at an agent's URL is that agent's own: it names that URL. One that names
 * another URL proves nothing about either. `http://host` and `http://host/` are the same place.
 */
export function speaksFor(card: Card, key: string): boolean {
  return endpointsOf(card).some((url) => url === key || placeOf(url) === placeOf(key));
}

function placeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url;
}
