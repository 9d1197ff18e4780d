/**
 * Compares an answer with what the API's description promises, so that the commands may rely on
 * it: at the address may be another program, or another version of this one.
 */
import { isRecord } from "../core/json-object.ts";
import type { Schema, Schemas } from "../wires/api/openapi-example.ts";

/** The first thing that is not as promised, in words; nothing where all is. */
export type ShapeCheck = (value: unknown, schema: Schema, place?: string) => string | undefined;

export function shapeCheck(components: Schemas): ShapeCheck {
  const check: ShapeCheck = (value, schema, place = "its answer") => {
    const { $ref, type, anyOf, items, properties = {}, required = [] } = schema;
    if ($ref !== undefined) return check(value, components[nameIn($ref)] ?? {}, place);
    if (anyOf) return anyOf.every((each) => check(value, each)) ? `${place} is unknown` : undefined;
    const types = typeof type === "string" ? [type] : type;
    if (types?.some((each) => isOfType(value, each)) === false) {
      return `${place} is no ${types.join(", and no ")}`;
    }
    if (schema.enum && !schema.enum.includes(String(value))) return `${place} is unknown`;
    if (items && Array.isArray(value)) {
      return firstOf(value.entries(), ([i, each]) => check(each, items, `${place}[${i}]`));
    }
    if (!isRecord(value)) return undefined;
    const absent = required.find((name) => value[name] === undefined);
    if (absent !== undefined) return `${place} has no ${absent}`;
    return firstOf(Object.entries(value), ([name, each]) => {
      const { [name]: known = schema.additionalProperties } = properties;
      return known && check(each, known, `${place}.${name}`);
    });
  };
  return check;
}

function nameIn(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function firstOf<T>(
  items: Iterable<T>,
  problemOf: (item: T) => string | undefined,
): string | undefined {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
