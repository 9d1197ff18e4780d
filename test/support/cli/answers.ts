/** Answers of a daemon, as the description of the API shows them. */
import { readFileSync } from "node:fs";
import type { AnswerOf, OperationName } from "../../../src/operations/table.ts";
import type { Schema, Schemas } from "../../../src/wires/api/openapi-example.ts";

interface Described {
  readonly operationId: string;
  readonly responses: {
    readonly 200: { readonly content: Readonly<Record<string, DescribedAnswer>> };
  };
}

interface DescribedAnswer {
  readonly schema: Schema;
  readonly example: unknown;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Schemas };
}

const file = new URL("../../../assets/openapi.json", import.meta.url);
const { paths, components } = JSON.parse(readFileSync(file, "utf8")) as Description;

export const { schemas } = components;

/** Of each operation that answers with JSON. */
export const described: ReadonlyMap<string, DescribedAnswer> = new Map(
  Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses }) => {
      const answer = responses[200].content["application/json"];
      return answer?.schema ? [[operationId, answer] as const] : [];
    }),
);

export function exampleAnswer<Name extends OperationName>(name: Name): AnswerOf<Name> {
  return structuredClone(described.get(name)?.example) as AnswerOf<Name>;
}
