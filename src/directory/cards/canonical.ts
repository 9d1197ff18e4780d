/**
 * One text for all ways to write the same JSON (JCS, RFC 8785): no spaces, names in the order of
 * their UTF-16 units, numbers and strings as JavaScript writes them. Signatures are made over it
 * and digests compare it.
 *
 * It cannot fail: the reader has refused what has no such form (numbers beyond a double, halves of
 * characters).
 */
import type { Json } from "../../core/json.ts";

export function canonical(value: Json): string {
  switch (value.kind) {
    case "word":
      return value.text;
    case "string":
      return JSON.stringify(value.value);
    case "number":
      return JSON.stringify(value.value);
    case "array":
      return `[${value.items.map(canonical).join(",")}]`;
    case "object":
      return canonicalMembers([...value.members]);
  }
}

export function canonicalMembers(members: readonly (readonly [string, Json])[]): string {
  const written = members
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`);
  return `{${written.join(",")}}`;
}
