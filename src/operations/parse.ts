/**
 * The input of a caller, held against a schema: the same on every wire that takes JSON. A refusal
 * names the field that is wrong in the caller's own words; what is not known is refused as well,
 * since a filter that is misspelt and ignored shows everything.
 */
import type { z } from "zod";
import { invalidArgument } from "../core/errors.ts";
import type { Problem } from "../core/fields.ts";

/** `whole` is what the caller calls all of it together. */
export function parse<S extends z.ZodObject>(
  whole: string,
  schema: S,
  input: unknown,
): z.output<S> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  const known = Object.keys(schema.shape);
  const issues = parsed.error.issues.map((issue) => complaint(issue, whole, known));
  throw invalidArgument(issues[0] ?? "the request cannot be read");
}

/** Throws when there is something wrong with what was said. */
export function check(...problems: readonly Problem[]): void {
  const problem = problems.find((each) => each !== undefined);
  if (problem !== undefined) throw invalidArgument(problem);
}

/** Theirs to choose, so shown as data and not at length. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function complaint(issue: z.core.$ZodIssue, whole: string, known: readonly string[]): string {
  const field = fieldOf(issue.path);
  const name = field === "" ? whole : field;
  const isMissing = issue.input === undefined && issue.code.startsWith("invalid_");
  if (isMissing) return `${name} is not set`;
  const value = quoted(issue.input);
  switch (issue.code) {
    case "unrecognized_keys": {
      const [key = ""] = issue.keys;
      const shown = key.slice(0, 60);
      if (field !== "") return `${field}.${shown} is unknown`;
      if (known.length === 0) return `${shown} is unknown`;
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
