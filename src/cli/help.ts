/**
 * Help that fits on a screen and reads from top to bottom: how to call it, what it does, examples,
 * flags. The parser's own help repeats every flag of every command in its first lines.
 */
import type { Command, RouteMap, StricliIntegration } from "@stricli/core";
import type { Context } from "./context.ts";
import type { Output } from "./terminal/output.ts";
import { hanging, padEnd, widthOf, wrap } from "./terminal/width.ts";

type CommandFlag = NonNullable<Command<Context>["parameters"]["flags"]>[string] & FlagHeading;
type Positional = NonNullable<Command<Context>["parameters"]["positional"]>;
type HelpRow = readonly [name: string, text: string];

/** Of the first flag of a group: the heading above it in the help. */
export interface FlagHeading {
  readonly heading?: string | undefined;
}

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
            : helpOf(result, output.isTerminal ? Math.min(output.columns, WIDEST) : PIPED);
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
  const usage = [name, visible.length > 0 ? "[FLAGS]" : "", placeholders(positional)];
  return [
    ...opening(usage.filter(Boolean).join(" "), target, columns),
    ...flagLines(visible, columns),
  ];
}

function flagLines(flags: readonly [string, CommandFlag][], columns: number): readonly string[] {
  const rows = flags.map(([key, flag]): HelpRow => [flagName(key, flag), flag.brief]);
  return helpTable([...rows, ...ALWAYS], columns).flatMap((row, i) => {
    const heading = flags[i]?.[1].heading;
    if (i === 0) return [heading ?? "Flags", row];
    return heading === undefined ? [row] : ["", heading, row];
  });
}

function opening(usage: string, target: HelpTarget["target"], columns: number): readonly string[] {
  const paragraphs = (target.fullDescription ?? target.brief).split("\n\n");
  const lines = paragraphs.flatMap((each) => ["", ...filled(each, columns)]);
  return [`Usage: ${usage}`, ...lines, ""];
}

/** Prose as wide as it reads well; examples are lines of their own. */
function filled(paragraph: string, columns: number): readonly string[] {
  const lines = paragraph.split("\n");
  if (lines[0] === EXAMPLES) return [EXAMPLES, ...lines.slice(1).map(wrapped(columns))];
  return wrap(lines.join(" "), Math.min(columns, PROSE));
}

/** An example whose words about it are too long for the line goes on below them. */
const wrapped = (columns: number) => (line: string) => {
  const [call = line] = /^ +.*? {2,}(?=\S)/.exec(line) ?? [];
  return call === line ? line : `${call}${hanging(line.slice(call.length), call.length, columns)}`;
};

const EXAMPLES = "Examples";
const PROSE = 88;
/** Wider is hard to read. */
const WIDEST = 110;
/** A pipe mostly ends in a terminal too: in a pager. */
const PIPED = 80;

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

/** Two columns, a text for each row. A name too long for its column has its text below it. */
export function helpTable(rows: readonly HelpRow[], columns = Infinity): readonly string[] {
  const most = columns === Infinity ? columns : Math.min(LONGEST_NAME, columns * NAME_SHARE);
  const width = Math.max(0, ...rows.map(([name]) => widthOf(name)).filter((each) => each <= most));
  return rows.map(([name, text]) => {
    const shown = hanging(text, width + 4, columns);
    const isLong = widthOf(name) > most;
    const first = isLong ? `${name}\n${" ".repeat(width + 2)}` : padEnd(name, width);
    return `  ${first}  ${shown}`.trimEnd();
  });
}

/** The column of names is no wider than this, and than this part of a line. */
const LONGEST_NAME = 34;
const NAME_SHARE = 0.4;

/** A line of a few words that begins with a capital, and nothing else, is a heading. */
function paintHeading(text: string, output: Output): string {
  return text
    .split("\n")
    .map((line) => (/^[A-Z]\w+(?: [a-z]+){0,3}$/.test(line) ? output.paint("bold", line) : line))
    .join("\n");
}
