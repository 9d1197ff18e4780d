/** An example of what a schema describes, put together from the examples of its parts. */

/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Schemas;
  readonly required?: readonly string[];
  /** Of all other names. */
  readonly additionalProperties?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
}

export type Schemas = Readonly<Record<string, Schema>>;

export function exampleOf(schema: Schema, components: Schemas): unknown {
  const { examples, anyOf, items, type } = schema;
  if (examples) return examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  const [first] = anyOf ?? [];
  const other = first ?? components[schema.$ref?.split("/").at(-1) ?? ""];
  if (other) return exampleOf(other, components);
  switch (type) {
    case "object":
      return objectExample(schema, components);
    case "array":
      return items ? [exampleOf(items, components)] : [];
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    case "string":
      return "";
    default:
      return null;
  }
}

/** With what must be there, and what has an example of its own. */
function objectExample({ properties = {}, required = [] }: Schema, components: Schemas): unknown {
  const shown = Object.entries(properties).filter(
    ([name, each]) => required.includes(name) || each.examples,
  );
  return Object.fromEntries(shown.map(([name, each]) => [name, exampleOf(each, components)]));
}
