/**
 * `rollcall emit`, `list`, `get`, `watch`, `prune` and `validate`: status files, without a daemon.
 * Their flags and their work are those of `agent-status`; here they get our parser and our help.
 */
import { buildCommand, type Command, type FlagParametersForType } from "@stricli/core";
import { STATUS_SCHEMA } from "../../wires/files/schema.ts";
import { jsonText } from "../../wires/files/json-text.ts";
import { invalidArgument } from "../../core/errors.ts";
import type { Context } from "../context.ts";
import { argument, switchFlag } from "../flags.ts";
import { about, camel, kebab, type Example } from "../help.ts";
import { integerOf, numberOf, type Option, type ArgumentValue } from "../status/arguments.ts";
import {
  folderOf,
  STATUS_COMMANDS,
  ArgumentValues,
  type StatusCommand,
} from "../status/commands.ts";

/** The name of a value in the help, unless its flag has its own. */
const PLACEHOLDERS = {
  text: "TEXT",
  many: "KEY=VALUE",
  integer: "NUMBER",
  number: "SECONDS",
} as const;

export const emit = build("emit", {
  text: "Write the status of an agent into its file, whole or not at all, and print its path.",
  examples: [
    {
      call: "rollcall emit --agent-id pi-1 --agent-name pi --lifecycle running",
      does: "it is idle",
    },
    { call: "… --task-state working --task-summary 'fix the tests'", does: "at a task" },
  ],
});

export const list = build("list", {
  text: "Show the agents of this machine, from their status files. No daemon is needed.",
  examples: [
    { call: "rollcall list", does: "a table" },
    { call: "rollcall list --needs-me", does: "only agents that wait for you" },
    { call: "rollcall list --oneline", does: "2 need you · 5 working · 3 idle" },
    { call: "rollcall list --json | jq '.agents[].state'", does: "for programs" },
  ],
});

export const get = build("get", {
  text: "Print the status file of an agent: JSON, keys in order.",
  examples: [
    { call: "rollcall get pi-1", does: "the agent of the example of `emit`" },
    { call: "rollcall get pi-1 | jq .task", does: "its task" },
  ],
  argument: argument("AGENT", "Its id, its name, or a part of one that no other has"),
  async run(context, values) {
    const { getMeant } = await import("../status/files.ts");
    await getMeant(context, values.text("agent_id") ?? "", folderOf(context, values));
  },
});

export const watch = build("watch", {
  text: "Show the agents of this machine, as they change; q ends it.",
  examples: [
    { call: "rollcall watch", does: "a table that follows" },
    { call: "rollcall watch --json --needs-me", does: "one JSON object for each change" },
  ],
});

export const prune = build("prune", {
  text: "Remove status files of agents that stopped or fell silent long ago; print their paths.",
  examples: [{ call: "rollcall prune --prune-after 3600", does: "after an hour, not a day" }],
});

interface ValidateFlags {
  readonly schema?: boolean;
}

export const validate = buildCommand<ValidateFlags, [string?], Context>({
  docs: about(
    "Check a status file: `valid`, or everything that is wrong with it and exit code 1.",
    { call: "rollcall validate --schema", does: "the format as JSON Schema" },
    { call: "rollcall validate FILE", does: "a file, or - for standard input" },
  ),
  parameters: {
    flags: { schema: switchFlag("Print the format as JSON Schema") },
    positional: {
      kind: "tuple",
      parameters: [{ ...argument("FILE", "The file"), optional: true }],
    },
  },
  async func({ schema }, file) {
    if (schema) return this.out.line(jsonText(STATUS_SCHEMA));
    if (file === undefined) {
      throw invalidArgument("give a FILE to check, or --schema");
    }
    const { validate: check } = await import("../status/files.ts");
    return check(this, file);
  },
});

type Flags = Readonly<Record<string, ArgumentValue | undefined>>;

/** The help of a command, and what it has of its own here. */
interface Own extends Partial<Pick<StatusCommand, "run">> {
  readonly text: string;
  readonly examples: readonly Example[];
  readonly argument?: ReturnType<typeof argument>;
}

function build(name: string, { text, examples, ...own }: Own): Command<Context> {
  const command = STATUS_COMMANDS[name];
  if (!command) throw new Error(`there is no command ${name} for status files`);
  const { word, options, run } = { ...command, ...own };
  const docs = about(text, ...examples);
  const flags = flagsOf(options);
  if (word === undefined) {
    return buildCommand<Flags, [], Context>({
      docs,
      parameters: { flags },
      func(given) {
        return run(this, valuesOf(command, given));
      },
    });
  }
  const parameter = own.argument ?? argument(word.toUpperCase(), word);
  return buildCommand<Flags, [string], Context>({
    docs,
    parameters: { flags, positional: { kind: "tuple", parameters: [parameter] } },
    func(given, value) {
      return run(this, valuesOf(command, given, value));
    },
  });
}

function valuesOf({ word = "" }: StatusCommand, given: Flags, value?: string): ArgumentValues {
  const values = new Map<string, ArgumentValue>(value === undefined ? [] : [[word, value]]);
  for (const [key, each] of Object.entries(given)) {
    if (each !== undefined) values.set(`--${kebab(key)}`, each);
  }
  return new ArgumentValues(values);
}

function flagsOf(options: readonly Option[]): FlagParametersForType<Flags, Context> {
  const flags = options.map((option) => [camel(option.flag.slice(2)), flagOf(option)] as const);
  // The parser's types know each flag by its name; these have theirs from a table.
  return Object.fromEntries(flags) as FlagParametersForType<Flags, Context>;
}

function flagOf(option: Option): object {
  const { kind, choices, help, isRequired = false } = option;
  const brief = help.charAt(0).toUpperCase() + help.slice(1);
  const optional = !isRequired;
  if (kind === "switch" || kind === "toggle") {
    return { kind: "boolean", optional, withNegated: kind === "toggle", brief };
  }
  if (choices) return { kind: "enum", values: choices, optional, brief };
  const placeholder = option.placeholder ?? PLACEHOLDERS[kind];
  const many = kind === "many" ? { variadic: true } : {};
  return { kind: "parsed", parse: parserOf(kind), optional, brief, placeholder, ...many };
}

function parserOf(kind: "text" | "many" | "integer" | "number"): (text: string) => ArgumentValue {
  if (kind === "text" || kind === "many") return String;
  const read = kind === "integer" ? integerOf : numberOf;
  return (text) => {
    const number = read(text);
    if (number !== undefined) return number;
    throw new Error(kind === "integer" ? "not a whole number" : "not a number");
  };
}
