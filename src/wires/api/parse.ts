/** What a caller of the API sends, as a body or behind the question mark. */
import type { Context } from "hono";
import { z } from "zod";
import { RollcallError } from "../../core/errors.ts";
import { tooLong } from "../../core/fields.ts";
import { FIELD } from "../../core/limits.ts";
import { check, parse, quoted, wrong } from "../parse.ts";
import { LIST } from "./limits.ts";

export { check, quoted, wrong };

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

/** Only JSON: a form that a page of another site sends is none. */
export async function bodyOf<S extends z.ZodObject>(c: Context, schema: S): Promise<z.output<S>> {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw wrong(`content-type is ${quoted(type)}: send application/json`);
  }
  return parse("the body", schema, json(await c.req.text()));
}

/** Fields whose schema is a list may be given several times, the others once. */
export function queryOf<S extends z.ZodObject>(c: Context, schema: S): z.output<S> {
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
  return parse("the query", schema, fields);
}

/** A query in words is the longest there is. */
const LONGEST = FIELD.descriptionLength;

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

/** Whether the caller wants to hear what changes, too. */
export function wantsStream(c: Context): boolean {
  if (c.req.method !== "GET") return false;
  return /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(c.req.header("accept") ?? "");
}
