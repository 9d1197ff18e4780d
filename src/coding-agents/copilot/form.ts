/**
 * The form with which Copilot CLI asks a person: a message, and a JSON schema of the answer. The
 * options are those of its first field, which has them as `enum` or as `oneOf` with titles.
 */
import { field, wordOf } from "../../core/text.ts";
import { TEXT } from "../hooks/limits.ts";
import { optionsOf, type HookQuestion } from "../hooks/question.ts";

/** Nothing where the input is no form. */
export function formOf(input: unknown): HookQuestion | undefined {
  const text = wordOf(field(input, "message"), TEXT.questionLength);
  const fields = field(field(input, "requestedSchema"), "properties");
  if (text === undefined || typeof fields !== "object" || fields === null) return undefined;
  const [first, ...others] = Object.values(fields) as unknown[];
  const options = optionsOf(choicesOf(first) ?? choicesOf(field(first, "items")));
  const whole = others.length === 0 ? text : `${text} (and ${others.length} more)`;
  return options.length === 0
    ? { kind: "text", text: whole }
    : { kind: "choice", text: whole, options };
}

function choicesOf(schema: unknown): readonly unknown[] | undefined {
  const titled = field(schema, "oneOf") ?? field(schema, "anyOf");
  if (Array.isArray(titled)) return titled.map((each: unknown) => field(each, "title"));
  const plain = field(schema, "enumNames") ?? field(schema, "enum");
  return Array.isArray(plain) ? plain : undefined;
}
