/** Values that the peer reads as true and false, beside true and false. */
import type { Json } from "../../core/json.ts";

const TRUE = new Set(["1", "on", "t", "true", "y", "yes"]);
const FALSE = new Set(["0", "off", "f", "false", "n", "no"]);

/** Undefined where it is neither. */
export function flagOf(value: Json): boolean | undefined {
  switch (value.kind) {
    case "word":
      return value.value ?? undefined;
    case "number":
      return value.value === 1 ? true : value.value === 0 ? false : undefined;
    case "string": {
      const word = value.value.toLowerCase();
      return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined;
    }
    case "array":
    case "object":
      return undefined;
  }
}
