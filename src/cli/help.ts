/**
 * Help that fits on a screen and reads from top to bottom: how to call it, what it does, examples,
 * flags. The parser's own help repeats every flag of every command in its first lines.
 */
import type { Command, RouteMap, StricliIntegration } from "@stricli/core";
import type { Context } from "./context.ts";
import type { Output } from "./terminal/output.ts";
import { padEnd, widthOf, wrap } from "./terminal/width.ts";

type CommandFlag = NonNullable<Command<Context>["parameters"]["flags"]>[string];
type Positional = NonNullable<Command<Context>["parameters"]["positional"]>;
type HelpRow = readonly [name: string, text: string];

const ALWAYS: readonly HelpRow[] = [
  ["--verbose", "Show where an error came from [ROLLCALL_DEBUG]"],
  ["-h, --help", "Show this"],
];

export interface Example {
  readonly call: string;
  readonly does: string;
}

/**
 * The help of a command: its description and examples. Its one line for the overview is in the
 * tree of commands, which is read without loading the command.
 */
export function about(text: string, ...examples: readonly Example[]) {
  const rows = examples.map(({ call, does }): HelpRow => [call, does]);
  const shown = rows.length === 0 ? [] : ["", EXAMPLES, ...helpTable(rows)];
  return { brief: "", fullDescription: [text, ...shown].join("\n") };
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
        const lines =
          result.target === app.root && overview.length > 0
            ? overview
            : helpOf(result, output.columns);
        await output.write(`${lines.map((line) => paintHeading(line, output)).join("\n")}\n`);
      },
    },
  };
}

interface HelpTarget {
  readonly target: Command<Context> | RouteMap<Context>;
  readonly prefix: readonly string[];
}

function helpOf({ target, prefix }: HelpTarget, columns: number): readonly string[] {
  const name = prefix.join(" ");
  if ("getAllEntries" in target) {
    const rows = target.getAllEntries().filter((entry) => !entry.hidden);
    const commands = rows.map((each): HelpRow => [each.name.original, each.target.brief]);
    const more = `${name} COMMAND --help says more, with examples.`;
    const lines = ["Commands", ...helpTable(commands, columns), "", more];
    return [...opening(`${name} COMMAND`, target, columns), ...lines];
  }
  const { flags = {}, positional } = target.parameters;
  const visible = Object.entries(flags).filter(([, flag]) => flag.hidden !== true);
  const rows = visible.map(([key, flag]): HelpRow => [flagName(key, flag), flag.brief]);
  const usage = [name, visible.length > 0 ? "[FLAGS]" : "", placeholders(positional)];
  return [
    ...opening(usage.filter(Boolean).join(" "), target, columns),
    "Flags",
    ...helpTable([...rows, ...ALWAYS], columns),
  ];
}

function opening(usage: string, target: HelpTarget["target"], columns: number): readonly string[] {
  const paragraphs = (target.fullDescription ?? target.brief).split("\n\n");
  const lines = paragraphs.flatMap((each) => ["", ...filled(each, columns)]);
  return [`Usage: ${usage}`, ...lines, ""];
}

/** Prose as wide as it reads well; examples are lines of their own. */
function filled(paragraph: string, columns: number): readonly string[] {
  const lines = paragraph.split("\n");
  if (lines[0] === EXAMPLES) return lines;
  return wrap(lines.join(" "), Math.min(columns, WIDEST));
}

const EXAMPLES = "Examples";
const WIDEST = 88;

function flagName(key: string, flag: CommandFlag): string {
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

/** As the parser calls it: data-dir is dataDir. */
export function camel(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
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

/** Two columns; the second is wrapped where a terminal would break it in the middle of a word. */
export function helpTable(rows: readonly HelpRow[], columns = Infinity): readonly string[] {
  const width = Math.max(...rows.map(([name]) => widthOf(name)));
  return rows.flatMap(([name, text]) => {
    const [first = "", ...rest] = wrap(text, Math.max(columns - width - 4, NARROWEST));
    return [
      `  ${padEnd(name, width)}  ${first}`.trimEnd(),
      ...rest.map((line) => " ".repeat(width + 4) + line),
    ];
  });
}

const NARROWEST = 30;

/** A line that is one capitalised word or two, and nothing else, is a heading. */
function paintHeading(text: string, output: Output): string {
  return text
    .split("\n")
    .map((line) => (/^[A-Z][a-z]+(?: [a-z]+)?$/.test(line) ? output.paint("bold", line) : line))
    .join("\n");
}
