/**
 * The API as commands know it: from its own description (assets/openapi.json), which is made of the
 * table of operations. The table itself would cost every command the loading of its schemas; only
 * its types come from there.
 */
import { invalidArgument } from "../core/errors.ts";
import { incompatible } from "../net/http/refusal.ts";
import type { AnswerOf, InputOf, OperationName } from "../operations/table.ts";
import type { Client, PostOptions } from "../wires/api/client/client.ts";
import type { Schema, Schemas } from "../wires/api/openapi-example.ts";
import { apiDocument } from "./api-document.ts";
import { shapeCheck } from "./shape.ts";

/** A field of the input. */
export interface InputField {
  readonly schema: Schema;
  readonly description: string;
  readonly isRequired: boolean;
}

export interface ApiOperation {
  readonly isRead: boolean;
  /** With {field} for a field of the input. */
  readonly path: string;
  readonly about: string;
  /** By their names; those within another as card.name. */
  readonly fields: ReadonlyMap<string, InputField>;
  readonly answer: Schema;
  /** The field of the answer that holds the rows of a list. */
  readonly rows: string;
}

/** The part of the document that is read here. */
interface DocumentedOperation {
  readonly operationId: string;
  readonly description: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly 200: { readonly content: Content } };
}

type Content = { readonly "application/json": { readonly schema: Schema } };

const known = new Map<OperationName, ApiOperation>();

export function apiOperation(name: OperationName): ApiOperation {
  const operation = known.get(name) ?? describedOperation(name);
  known.set(name, operation);
  return operation;
}

function describedOperation(name: OperationName): ApiOperation {
  const { paths, components } = apiDocument();
  for (const [path, methods] of Object.entries(paths)) {
    const { get, post } = methods as Readonly<Record<string, unknown>>;
    const found = (get ?? post) as DocumentedOperation;
    if (found.operationId !== name) continue;
    const [about = ""] = found.description.split("\n\n");
    const answer = found.responses[200].content["application/json"].schema;
    const { properties = {} } = answer;
    const [rows = ""] = Object.keys(properties).filter(
      (each) => properties[each]?.type === "array",
    );
    const fields = new Map(fieldsOf(found, components.schemas));
    return { isRead: get !== undefined, path, about, fields, answer, rows };
  }
  throw new Error(`assets/openapi.json does not describe ${name}`);
}

function fieldsOf(
  { parameters = [], requestBody }: DocumentedOperation,
  components: Schemas,
): readonly (readonly [string, InputField])[] {
  if (requestBody) {
    const { schema } = requestBody.content["application/json"];
    return fieldsIn(components[schema.$ref?.split("/").at(-1) ?? ""] ?? schema, "");
  }
  return parameters.map(({ name, required, description = "", schema }) => [
    name,
    { schema, description, isRequired: required },
  ]);
}

function fieldsIn(
  { properties = {}, required = [] }: Schema,
  path: string,
): [string, InputField][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (schema.properties) return fieldsIn(schema, `${path}${name}.`);
    const { description = "" } = schema;
    return [[`${path}${name}`, { schema, description, isRequired: required.includes(name) }]];
  });
}

type OperationRequest<Name extends OperationName> = PostOptions & {
  readonly input: InputOf<Name>;
};

/** Calls an operation of the daemon; the answer has the shape that the table promises. */
export async function call<Name extends OperationName>(
  daemon: Pick<Client, "get" | "post">,
  name: Name,
  request: OperationRequest<Name>,
): Promise<AnswerOf<Name>> {
  const { isRead, path } = apiOperation(name);
  if (isRead) return lookUp(daemon, name, request);
  const { input, ...options } = request;
  return checked(
    name,
    await daemon.post(path, input as Readonly<Record<string, QueryValue>>, options),
  );
}

/** The same for one that reads. */
export async function lookUp<Name extends OperationName>(
  daemon: Pick<Client, "get">,
  name: Name,
  { input, ...options }: OperationRequest<Name>,
): Promise<AnswerOf<Name>> {
  const path = pathOf(apiOperation(name).path, input as Readonly<Record<string, QueryValue>>);
  return checked(name, await daemon.get(path, options));
}

/** The answer, if it is what this version knows by that name. */
function checked<Name extends OperationName>(name: Name, answer: unknown): AnswerOf<Name> {
  const problem = shapeCheck(apiDocument().components.schemas)(answer, apiOperation(name).answer);
  if (problem === undefined) return answer as AnswerOf<Name>;
  throw incompatible(`${name}: ${problem}`);
}

export type QueryValue = string | number | boolean | readonly string[] | undefined;

/**
 * `/v1/leases/{taskId}` with its key, or `/v1/agents?status=alive&…`: what is undefined is left
 * out, a list is given several times.
 */
export function pathOf(path: string, params: Readonly<Record<string, QueryValue>> = {}): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    if (path.includes(`{${name}}`)) {
      filled = filled.replace(`{${name}}`, () => keyInPath(String(value)));
    } else {
      for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
    }
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

/** A key may be any text but two that no URL can hold. */
function keyInPath(key: string): string {
  if (key !== "." && key !== ".." && key !== "") return encodeURIComponent(key);
  throw invalidArgument(`"${key}" cannot be looked up: use the list`);
}
