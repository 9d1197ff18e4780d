/**
 * Help that fits on a screen and reads from top to bottom: how to call it, what it does, examples,
 * flags. The parser's own help repeats every flag of every command in its first lines.
 */
import type { Application, Command, RouteMap, StricliIntegration } from "@stricli/core";
import type { Context } from "./context.ts";
import type { Output } from "./terminal/output.ts";
import { padEnd, widthOf } from "./terminal/width.ts";

type Flag = NonNullable<Command<Context>["parameters"]["flags"]>[string];
type Positional = NonNullable<Command<Context>["parameters"]["positional"]>;
type Row = readonly [name: string, text: string];

const ALWAYS: readonly Row[] = [
  ["--verbose", "Show where an error came from [ROLLCALL_DEBUG]"],
  ["-h, --help", "Show this"],
];

export interface Example {
  readonly call: string;
  readonly does: string;
}

/** A command's description with its examples, as the full text of its help. */
export function about(text: string, ...examples: readonly Example[]): string {
  if (examples.length === 0) return text;
  const rows = examples.map(({ call, does }): Row => [call, does]);
  return [text, "", "Examples", ...table(rows)].join("\n");
}

/** `--help` and `-h` wherever they stand; a group of commands alone shows it too. */
export function helpFlag(output: Output, overview: readonly string[]): StricliIntegration<Context> {
  return {
    flag: {
      brief: "Show this",
      global: true,
      aliases: ["h"],
      complete: true,
      defaultForRouteMap: true,
      async run(app, { result }) {
        const lines = helpOf(app, result, overview);
        await output.write(`${lines.map((line) => paintHeading(line, output)).join("\n")}\n`);
      },
    },
  };
}

interface Found {
  readonly target: Command<Context> | RouteMap<Context>;
  readonly prefix: readonly string[];
}

function helpOf(
  app: Application<Context>,
  { target, prefix }: Found,
  overview: readonly string[],
): readonly string[] {
  const name = prefix.join(" ");
  if ("getAllEntries" in target) {
    if (target === app.root) return overview;
    const rows = target.getAllEntries().filter((entry) => !entry.hidden);
    const commands = rows.map((each): Row => [each.name.original, each.target.brief]);
    return [...opening(`${name} COMMAND`, target), "Commands", ...table(commands)];
  }
  const { flags = {}, positional } = target.parameters;
  const visible = Object.entries(flags).filter(([, flag]) => flag.hidden !== true);
  const rows = visible.map(([key, flag]): Row => [flagName(key, flag), flag.brief]);
  const usage = [name, visible.length > 0 ? "[FLAGS]" : "", placeholders(positional)];
  return [
    ...opening(usage.filter(Boolean).join(" "), target),
    "Flags",
    ...table([...rows, ...ALWAYS]),
  ];
}

function opening(usage: string, target: Found["target"]): readonly string[] {
  return [`Usage: ${usage}`, "", target.fullDescription ?? target.brief, ""];
}

function flagName(key: string, flag: Flag): string {
  const name = kebab(key);
  if (flag.kind === "boolean") {
    return flag.withNegated === false ? `--${name}` : `--[no-]${name}`;
  }
  const value = flag.placeholder ?? (flag.kind === "enum" ? flag.values.join("|") : "VALUE");
  const isMany = "variadic" in flag && flag.variadic === true;
  return `--${name} ${value}${isMany ? " …" : ""}`;
}

/** As it is typed: dataDir is --data-dir. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function placeholders(positional: Positional | undefined): string {
  if (!positional) return "";
  if (positional.kind === "array") return `${positional.parameter.placeholder ?? "ARGUMENT"}…`;
  return positional.parameters
    .map((each) => {
      const name = each.placeholder ?? "ARGUMENT";
      return each.optional === true || each.default !== undefined ? `[${name}]` : name;
    })
    .join(" ");
}

export function table(rows: readonly Row[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => widthOf(name)));
  return rows.map(([name, text]) => `  ${padEnd(name, width)}  ${text}`.trimEnd());
}

/** A line that is one capitalised word or two, and nothing else, is a heading. */
function paintHeading(text: string, output: Output): string {
  return text
    .split("\n")
    .map((line) => (/^[A-Z][a-z]+(?: [a-z]+)?$/.test(line) ? output.paint("bold", line) : line))
    .join("\n");
}
