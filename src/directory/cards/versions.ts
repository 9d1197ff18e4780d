/**
 * A card in the generation its reader asked for, as the peer writes it: every field of the table in
 * its order, with its default or an explicit null where its author wrote nothing (clients of the
 * peer read those), then all others. Whatever its author did write stands there as he wrote it.
 *
 *   0.3   url: "http://…"   supportedInterfaces: null
 *   1.0   url: null         supportedInterfaces: [{ url, protocolBinding, … }]
 *   own   both as its author has them: each card in its own generation
 *
 * A card that already has what its reader needs keeps both.
 */
import { interfacesOf, textIn, type Card, type CardVersion } from "./card.ts";
import { flagOf } from "./flags.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { CARD_MODEL, type CardModel, type Shape } from "./schema.ts";

export const LISTED_VERSIONS = ["own", "0.3", "1.0"] as const;

export type ListedVersion = (typeof LISTED_VERSIONS)[number];

export function cardAs(card: Card, version: ListedVersion): string {
  return writeModel(card.json, CARD_MODEL, changesFor(card.json, version));
}

/** Reads the header `A2A-Version` as the peer does. */
export function versionAsked(header: string): CardVersion {
  return header.startsWith("0") ? "0.3" : "1.0";
}

type FieldChanges = ReadonlyMap<string, string>;

const NONE: FieldChanges = new Map();

function changesFor(json: JsonObject, version: ListedVersion): FieldChanges {
  const url = textIn(json, "url");
  const [first] = interfacesOf(json);
  switch (version) {
    case "own":
      return NONE;
    case "1.0": {
      if (first || !url) return NONE;
      const binding = bindingFor(textIn(json, "preferredTransport") ?? "");
      const only = { url, protocolBinding: binding, protocolVersion: null, tenant: null };
      return new Map([
        ["url", "null"],
        ["supportedInterfaces", JSON.stringify([only])],
      ]);
    }
    case "0.3": {
      if (url || !first) return NONE;
      return new Map([
        ["url", JSON.stringify(textIn(first, "url"))],
        ["supportedInterfaces", "null"],
      ]);
    }
  }
}

function bindingFor(transport: string): string {
  const name = transport.toUpperCase();
  if (name.includes("GRPC")) return "grpc";
  return name === "HTTP" ? "http" : "json-rpc/2.0";
}

function writeModel(json: JsonObject, model: CardModel, changes: FieldChanges): string {
  const written: string[] = [];
  for (const [name, field] of model.fields) {
    const found = json.members.get(name);
    const text = found ? write(found, field.shape) : (field.absent ?? "null");
    written.push(`"${name}":${changes.get(name) ?? text}`);
  }
  for (const [name, found] of json.members) {
    if (!model.fields.has(name)) written.push(`${JSON.stringify(name)}:${found.text}`);
  }
  return `{${written.join(",")}}`;
}

function write(json: Json, shape: Shape): string {
  if (json.text === "null") return json.text;
  switch (shape.kind) {
    case "model":
      return json.kind === "object" ? writeModel(json, shape, NONE) : json.text;
    case "list":
      if (json.kind !== "array" || shape.of.kind !== "model") return json.text;
      return `[${json.items.map((item) => write(item, shape.of)).join(",")}]`;
    case "flag":
      return String(flagOf(json));
    case "text":
    case "record":
      return json.text;
  }
}
