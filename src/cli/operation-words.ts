/** Fields of operations as words of the command line, and the values that these stand for. */
import type { Client } from "../wires/api/client/client.ts";
import type { InputField } from "./api.ts";
import type { Context } from "./context.ts";
import { actingAgent, agentId, directoryUrl, taskId } from "./daemon.ts";
import { parseDuration } from "./durations.ts";
import { actingFlag, atFlag, parseToken, switchFlag } from "./flags.ts";
import { camel } from "./help.ts";

export interface Word extends InputField {
  /** card.name */
  readonly field: string;
  /** `--input-file`, or `KEY` of an argument. */
  readonly text: string;
  /** The name of its value in the help: TIME. */
  readonly placeholder: string;
}

/** `--ttl TIME`, `--all`, `KEY`; `QUERY…` is all that is left, and `[QUERY…]` may be nothing. */
export function typedWord(field: string, typed: string, known: InputField): Word {
  const [text = "", placeholder = text] = typed.split(" ");
  return { ...known, field, text, placeholder };
}

export function isFlag({ text }: Word): boolean {
  return text.startsWith("--");
}

export function isRest({ text }: Word): boolean {
  return text.includes("…");
}

/** As the parser calls it: inputFile of --input-file. */
export function keyOf({ text }: Word): string {
  return camel(text.slice(2));
}

export function flagOf(word: Word): object {
  const { field, schema, description: brief, isRequired, placeholder } = word;
  if (field === "agentId") return actingFlag;
  if (field === "at") return atFlag;
  if (schema.type === "boolean") {
    return switchFlag(brief);
  }
  const isMany = schema.type === "array";
  const { enum: values } = isMany ? (schema.items ?? {}) : schema;
  const rest = { brief, optional: !isRequired, ...(isMany && { variadic: true }) };
  if (values) return { kind: "enum", values, ...rest };
  return { kind: "parsed", parse: parserOf(word), placeholder, ...rest };
}

/** The arguments: each in its place, or all that is left as one. */
export function positionalOf(words: readonly Word[]): object {
  const rest = words.find(isRest);
  if (!rest) return { kind: "tuple", parameters: words.map(argumentOf) };
  const minimum = rest.text.startsWith("[") ? 0 : 1;
  return { kind: "array", minimum, parameter: argumentOf(rest) };
}

function argumentOf(word: Word): object {
  const { enum: values = [] } = word.schema;
  return {
    brief: word.description,
    placeholder: word.placeholder.replaceAll(/[[…\]]/g, ""),
    parse: parserOf(word),
    proposeCompletions: (partial: string) => values.filter((each) => each.startsWith(partial)),
  };
}

/** Throws the reason that the parser shows after the value. */
function parserOf({ field, schema }: Word): (text: string) => unknown {
  if (field === "token") return parseToken;
  if (field.endsWith("Ms")) return parseDuration;
  const { enum: values, type, minimum = 0 } = schema;
  return (text) => {
    if (values && !values.includes(text)) throw new Error(`not ${values.join(" or ")}`);
    if (type !== "integer") return text;
    if (/^\d{1,9}$/.test(text) && Number(text) >= minimum) return Number(text);
    throw new Error(`not a whole number from ${minimum} up`);
  };
}

/** Fields that hold the id of an agent of the registry. */
const OF_AGENTS = ["agentId", "holder", "claimedBy"];

export interface OperationLookup {
  readonly daemon: Pick<Client, "get">;
  readonly context: Context;
}

/** The value of a field: the id of what a person named, the agent that acts. */
export function valueOf(
  { field, text, placeholder }: Word,
  typed: unknown,
  { daemon, context }: OperationLookup,
): unknown {
  if (text === "--agent" && field === "agentId") {
    return actingAgent(daemon, context, typed as string | undefined);
  }
  if (typeof typed !== "string") return typed;
  if (OF_AGENTS.includes(field)) return agentId(daemon, typed);
  if (placeholder === "TASK") return taskId(daemon, typed);
  return field === "url" && placeholder === "AGENT" ? directoryUrl(daemon, typed) : typed;
}
