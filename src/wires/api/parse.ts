/**
 * What a caller sends, as a body or behind the question mark, held against a schema. A refusal
 * names the field that is wrong in the caller's own words; what is not known is refused as well,
 * since a filter that is misspelt and ignored shows everything.
 */
import type { Context } from "hono";
import { z } from "zod";
import { RollcallError } from "../../core/errors.ts";
import { tooLong, type Problem } from "../../core/fields.ts";
import { FIELD } from "../../core/limits.ts";
import { LIST } from "./limits.ts";

/** A whole number that came as text. */
export const wholeText = z
  .string()
  .regex(/^\d{1,15}$/, "is not a whole number")
  .transform(Number);

/** What every list may be asked. */
export const LIST_QUERY = {
  limit: wholeText.pipe(z.number().min(1).max(LIST.limitMost)).default(LIST.limitDefault),
  cursor: z.string().optional(),
} as const;

/** Of a body: how long, in milliseconds; 0 stands for the default. */
export const ttlMs = z.int().default(0);

type Schema = z.ZodObject;

/** Only JSON: a form that a page of another site sends is none. */
export async function bodyOf<S extends Schema>(c: Context, schema: S): Promise<z.output<S>> {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw wrong(`content-type is ${quoted(type)}: send application/json`);
  }
  return parse(schema, json(await c.req.text()));
}

/** Fields whose schema is a list may be given several times, the others once. */
export function queryOf<S extends Schema>(c: Context, schema: S): z.output<S> {
  const given = new URL(c.req.url).searchParams;
  const fields = Object.create(null) as Record<string, unknown>;
  for (const name of new Set([...Object.keys(schema.shape), ...given.keys()])) {
    const values = given.getAll(name);
    for (const value of values) check(tooLong(name, value, LONGEST));
    if (schema.shape[name] instanceof z.ZodArray) {
      if (values.length > FIELD.tools) throw wrong(`${name} is given ${values.length} times`);
      fields[name] = values;
    } else if (values.length > 1) {
      throw wrong(`${name} is given more than once`);
    } else if (values.length === 1) {
      fields[name] = values[0];
    }
  }
  return parse(schema, fields);
}

/** A query in words is the longest there is. */
const LONGEST = FIELD.descriptionLength;

/** Throws when there is something wrong with what was said. */
export function check(...problems: readonly Problem[]): void {
  const problem = problems.find((each) => each !== undefined);
  if (problem !== undefined) throw wrong(problem);
}

export function wrong(message: string): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", message);
}

/** Theirs to choose, so shown as data and not at length. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function json(text: string): unknown {
  if (text === "") throw wrong("the body is empty: send a JSON object");
  try {
    return JSON.parse(text, (name, value: unknown) => {
      if (name === "__proto__") throw wrong("__proto__ is no name for a field");
      return value;
    });
  } catch (error) {
    if (error instanceof RollcallError) throw error;
    throw wrong("the body is not JSON");
  }
}

function parse<S extends Schema>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => complaint(issue, Object.keys(schema.shape)));
  throw wrong(issues[0] ?? "the request cannot be read");
}

function complaint(issue: z.core.$ZodIssue, known: readonly string[]): string {
  const field = fieldOf(issue.path);
  const name = field === "" ? "the body" : field;
  const isMissing = issue.input === undefined && issue.code.startsWith("invalid_");
  if (isMissing) return `${name} is not set`;
  const value = quoted(issue.input);
  switch (issue.code) {
    case "unrecognized_keys": {
      const [key = ""] = issue.keys;
      const shown = key.slice(0, 60);
      if (field !== "") return `${field}.${shown} is unknown`;
      return `${shown} is unknown; there are ${known.join(", ")}`;
    }
    case "invalid_type":
      return `${name} is ${value}, not ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `${name} is ${value}; it may be ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `${name} is ${value}, at least ${issue.minimum} is allowed`;
    case "too_big":
      return `${name} is ${value}, at most ${issue.maximum} is allowed`;
    case "invalid_format":
    case "not_multiple_of":
    case "invalid_union":
    case "invalid_key":
    case "invalid_element":
    case "custom":
      return `${name} ${issue.message}`;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** As JavaScript writes it: card.tools[3]. */
function fieldOf(path: readonly PropertyKey[]): string {
  let field = "";
  for (const step of path) {
    const name = String(step).slice(0, 60);
    if (typeof step === "number") field += `[${name}]`;
    else field += field === "" ? name : `.${name}`;
  }
  return field;
}

/** Whether the caller wants to hear what changes, too. */
export function wantsStream(c: Context): boolean {
  if (c.req.method !== "GET") return false;
  return /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(c.req.header("accept") ?? "");
}
