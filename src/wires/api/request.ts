/** The input of an operation as a caller of the API sends it: in the body, query or path. */
import type { Context } from "hono";
import { z } from "zod";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import { tooLong } from "../../core/fields.ts";
import { FIELD } from "../../core/limits.ts";
import { check, parse, quoted } from "../../operations/parse.ts";

/** Only JSON: a form that a page of another site sends is none. */
export async function bodyOf<S extends z.ZodObject>(c: Context, schema: S): Promise<z.output<S>> {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw invalidArgument(`content-type is ${quoted(type)}: send application/json`);
  }
  return parse("the body", schema, json(await c.req.text()));
}

function json(text: string): unknown {
  if (text === "") throw invalidArgument("the body is empty: send a JSON object");
  try {
    return JSON.parse(text, (name, value: unknown) => {
      if (name === "__proto__") throw invalidArgument("__proto__ is no name for a field");
      return value;
    });
  } catch (error) {
    if (error instanceof RollcallError) throw error;
    throw invalidArgument("the body is not JSON");
  }
}

/** Fields whose schema is a list may be given several times, the others once. */
export function queryOf<S extends z.ZodObject>(c: Context, schema: S): z.output<S> {
  const given = new URL(c.req.url).searchParams;
  const fields: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  const values = Object.create(null) as Record<string, unknown>;
  for (const name of new Set(given.keys())) {
    const texts = given.getAll(name);
    for (const text of texts) check(tooLong(name, text, LONGEST));
    const field = bare(fields[name]);
    if (field instanceof z.ZodArray) {
      if (texts.length > FIELD.tools)
        throw invalidArgument(`${name} is given ${texts.length} times`);
      values[name] = texts;
    } else if (texts.length > 1) {
      throw invalidArgument(`${name} is given more than once`);
    } else {
      values[name] = valueOf(name, texts[0] ?? "", field);
    }
  }
  return parse("the query", schema, values);
}

/** A query in words is the longest there is. */
const LONGEST = FIELD.descriptionLength;

/** A field without what says that it may be left out. */
function bare(field: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  if (field instanceof z.ZodDefault || field instanceof z.ZodOptional) return bare(field.unwrap());
  return field;
}

/** The value that the text of a parameter stands for. */
function valueOf(name: string, text: string, field: z.core.$ZodType | undefined): unknown {
  if (field instanceof z.ZodNumber) {
    if (!/^\d{1,15}$/.test(text)) throw invalidArgument(`${name} is not a whole number`);
    return Number(text);
  }
  if (!(field instanceof z.ZodBoolean)) return text;
  if (text === "true" || text === "false") return text === "true";
  throw invalidArgument(`${name} is ${quoted(text)}; it may be true, false`);
}

/** Whether the caller wants to hear what changes, too. */
export function wantsStream(c: Context): boolean {
  if (c.req.method !== "GET") return false;
  return /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(c.req.header("accept") ?? "");
}
