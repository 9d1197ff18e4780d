/**
 * Are two submits the same? Objects whose keys stand in another order are, and so are a default
 * that was said and one that was not: defaults are filled in before this is asked.
 */
import { createHash } from "node:crypto";
import { isRecord, type JsonRecord } from "../core/json-object.ts";

export function orderFingerprint(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("base64url");
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (isRecord(each) ? sorted(each) : each));
}

function sorted(value: JsonRecord): JsonRecord {
  const keys = Object.keys(value).sort();
  // Without a prototype: a key named __proto__ is a key like any other.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of keys) copy[key] = value[key];
  return copy;
}
