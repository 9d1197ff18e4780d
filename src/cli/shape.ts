/**
 * Compares an answer with what the API's description promises, so that the commands may rely on
 * it: at the address may be another program, or another version of this one.
 */
import { isRecord } from "../core/json-object.ts";
import type { Schema, Schemas } from "../wires/api/openapi-example.ts";

/** The first thing that is not as promised, in words; nothing where all is. */
export type ShapeCheck = (value: unknown, schema: Schema) => string | undefined;

export function shapeCheck(components: Schemas): ShapeCheck {
  return (value, schema) => {
    const problem = problemIn(value, schema, components);
    return problem === undefined ? undefined : `its answer${problem}`;
  };
}

/**
 * Where it is, and what is wrong there: ".leases[1].token is no integer". The place is put together
 * on the way back: nearly all answers are right, and need none.
 */
function problemIn(value: unknown, schema: Schema, components: Schemas): string | undefined {
  const { $ref, type, anyOf, items } = schema;
  if ($ref !== undefined) return problemIn(value, components[nameIn($ref)] ?? {}, components);
  if (anyOf) {
    const isAny = anyOf.some((each) => problemIn(value, each, components) === undefined);
    return isAny ? undefined : " is unknown";
  }
  if (type !== undefined && !isOfTypes(value, type)) {
    return ` is no ${typeof type === "string" ? type : type.join(", and no ")}`;
  }
  if (schema.enum && !schema.enum.includes(String(value))) return " is unknown";
  if (Array.isArray(value)) return items && problemInItems(value, items, components);
  return isRecord(value) ? problemInFields(value, schema, components) : undefined;
}

function problemInItems(
  values: readonly unknown[],
  items: Schema,
  components: Schemas,
): string | undefined {
  for (let i = 0; i < values.length; i += 1) {
    const problem = problemIn(values[i], items, components);
    if (problem !== undefined) return `[${i}]${problem}`;
  }
  return undefined;
}

function problemInFields(
  value: Readonly<Record<string, unknown>>,
  { properties = {}, required = [], additionalProperties }: Schema,
  components: Schemas,
): string | undefined {
  for (const name of required) if (value[name] === undefined) return ` has no ${name}`;
  for (const name of Object.keys(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const problem = known && problemIn(value[name], known, components);
    if (problem !== undefined) return `.${name}${problem}`;
  }
  return undefined;
}

function isOfTypes(value: unknown, type: string | readonly string[]): boolean {
  return typeof type === "string"
    ? isOfType(value, type)
    : type.some((each) => isOfType(value, each));
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
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
