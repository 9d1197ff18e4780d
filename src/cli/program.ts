/**
 * A program is a tree of commands of which only the one that is called gets loaded: its flags, its
 * help and its work are one module. The others are known by their one line for the overview, so a
 * program with fifty commands starts as fast as one with five. A group has commands of its own, one
 * of which it is when none is named: `rollcall agents` is `rollcall agents list`.
 */
import {
  ArgumentScannerError,
  buildApplication,
  buildCommand,
  buildRouteMap,
  formatMessageForArgumentScannerError,
  text_en,
  type Application,
  type Command,
  type PartialApplicationConfiguration,
  type RouteMap,
} from "@stricli/core";
import { errorText } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import type { Context } from "./context.ts";
import { describeError, exitCodeOf, labelled } from "./exit.ts";
import { helpFlag, kebab, helpTable } from "./help.ts";
import { clean } from "./terminal/clean.ts";

type RoutingTarget = Command<Context> | RouteMap<Context>;

export interface Leaf {
  readonly brief: string;
  load(): Promise<Command<Context>>;
}

export interface CommandGroup {
  readonly brief: string;
  readonly commands: Readonly<Record<string, Leaf>>;
  /** The command it is alone. */
  readonly usual: string;
  /** More text for its help. */
  readonly more?: string;
}

interface GroupOptions<Name extends string> extends Omit<CommandGroup, "commands"> {
  /** The one line of each. */
  readonly commands: Readonly<Record<Name, string>>;
  readonly load: () => Promise<Readonly<Record<Name, Command<Context>>>>;
}

/** A group whose commands are loaded together. */
export function group<Name extends string>({
  commands,
  load,
  ...rest
}: GroupOptions<Name>): CommandGroup {
  const leaves = Object.entries<string>(commands).map(([name, brief]): [string, Leaf] => [
    name,
    { brief, load: async () => (await load())[name as Name] },
  ]);
  return { ...rest, commands: Object.fromEntries(leaves) };
}

export type CommandEntry = Leaf | CommandGroup;

export interface Program {
  readonly name: string;
  /** One line that says what it is. */
  readonly tagline: string;
  /** Commands by the heading they are listed under; an empty heading hides them. */
  readonly groups: Readonly<Record<string, Readonly<Record<string, CommandEntry>>>>;
  /** Printed below the commands. */
  readonly closing: readonly string[];
  /** Advice for commands that people expect and that do not exist. */
  readonly hints?: Readonly<Record<string, string>>;
}

export function entriesOf(program: Program): Readonly<Record<string, CommandEntry>> {
  return Object.assign({}, ...Object.values(program.groups)) as Record<string, CommandEntry>;
}

export function groupOf(program: Program, word: string | undefined): CommandGroup | undefined {
  const entries = entriesOf(program);
  const entry = word !== undefined && Object.hasOwn(entries, word) ? entries[word] : undefined;
  return entry && "commands" in entry ? entry : undefined;
}

/** Ready to parse; of all commands only the one that the first words name is really there. */
export async function applicationFor(
  program: Program,
  [word, next]: readonly string[],
  context: Context,
): Promise<Application<Context>> {
  const routes: Record<string, RoutingTarget> = {};
  for (const [name, entry] of Object.entries(entriesOf(program))) {
    routes[name] = await targetOf(entry, name === word, next);
  }
  const hidden = Object.keys(program.groups[""] ?? {});
  const root = buildRouteMap({
    routes,
    docs: {
      brief: program.tagline,
      hideRoute: Object.fromEntries(hidden.map((name) => [name, true])),
    },
  });
  const help = helpFlag(context.out, overview(program));
  const called = groupOf(program, word);
  const isNamed = word !== undefined && Object.hasOwn(routes, word);
  const isNextNamed = next !== undefined && Object.hasOwn(called?.commands ?? {}, next);
  const words = [...(isNamed ? [word] : []), ...(isNextNamed ? [next] : [])];
  const flags = flagsOf(isNamed ? routes[word] : undefined, next);
  return buildApplication(root, settings(program, { called: words, flags }, context), { help });
}

/** A program that is one command. */
export function applicationOf(
  name: string,
  command: Command<Context>,
  context: Context,
): Application<Context> {
  const flags = flagsOf(command);
  return buildApplication(command, settings({ name }, { called: [], flags }, context), {
    help: helpFlag(context.out, []),
  });
}

/** As they are typed, without the dashes. */
function flagsOf(target: RoutingTarget | undefined, next?: string): readonly string[] {
  if (target === undefined) return [];
  if (!("getAllEntries" in target)) return Object.keys(target.parameters.flags ?? {}).map(kebab);
  const entry = target.getAllEntries().find(({ name }) => name.original === next);
  return flagsOf(entry?.target);
}

async function targetOf(
  entry: CommandEntry,
  isCalled: boolean,
  next?: string,
): Promise<RoutingTarget> {
  if (!isCalled) return placeholder(entry);
  if (!("commands" in entry)) return { ...(await entry.load()), brief: entry.brief };
  const routes: Record<string, RoutingTarget> = {};
  for (const [name, leaf] of Object.entries(entry.commands)) {
    routes[name] = await targetOf(leaf, name === next);
  }
  const usual = `${entry.brief}. Without a command it is \`${entry.usual}\`.`;
  const fullDescription = entry.more === undefined ? usual : `${usual}\n\n${entry.more}`;
  return buildRouteMap({ routes, docs: { brief: entry.brief, fullDescription } });
}

function placeholder({ brief }: CommandEntry): Command<Context> {
  return buildCommand({
    docs: { brief },
    parameters: {},
    loader: () => Promise.reject(new Error("a command was run that was not loaded")),
  });
}

function overview({ name, tagline, groups, closing }: Program): readonly string[] {
  const names = Object.values(groups).flatMap((entries) => Object.keys(entries));
  const width = Math.max(...names.map((each) => each.length));
  const sections = Object.entries(groups)
    .filter(([heading]) => heading !== "")
    .flatMap(([heading, entries]) => {
      const rows = Object.entries(entries).map(
        ([each, { brief }]) => [each.padEnd(width), brief] as const,
      );
      return ["", heading, ...helpTable(rows)];
    });
  return [tagline, "", `Usage: ${name} COMMAND [FLAGS]`, ...sections, "", ...closing];
}

/** Words that look alike: a letter that is left out costs one, a wrong one two. */
const SIMILAR = {
  threshold: 3,
  weights: { insertion: 1, deletion: 2, substitution: 2, transposition: 1 },
} as const;

/** The words that name the command, and the flags that it has. */
interface CalledCommand {
  readonly called: readonly string[];
  readonly flags: readonly string[];
}

function settings(
  { name, hints = {} }: Pick<Program, "name" | "hints">,
  { called, flags }: CalledCommand,
  { err, env }: Context,
) {
  const usage = (complaint: string) => {
    const fix = [name, ...called, "--help"].join(" ");
    const error = labelled(["red", "error:"], clean(complaint), err);
    return [...error, ...labelled(["dim", "try:"], fix, err)].join("\n");
  };
  const failure = (error: unknown) => describeError(error, err, env);
  const hintOf = (input: string) => {
    const hint = called.length === 0 ? hints[input] : undefined;
    return hint === undefined ? undefined : `: ${hint}`;
  };
  return {
    name,
    scanner: {
      caseStyle: "allow-kebab-for-camel",
      allowArgumentEscapeSequence: true,
      distanceOptions: SIMILAR,
    },
    completion: { includeAliases: false },
    determineExitCode: exitCodeOf,
    localization: {
      text: {
        ...text_en,
        noCommandRegisteredForInput: ({ input, corrections }) =>
          usage(`there is no command \`${input}\`${hintOf(input) ?? suggestion(corrections)}`),
        exceptionWhileParsingArguments: (error) => usage(complaintOf(error, flags)),
        exceptionWhileLoadingCommandFunction: failure,
        exceptionWhileRunningCommand: failure,
        exceptionWhileRunningIntegrationFlag: ({ exception }) => failure(exception),
      },
    },
  } satisfies PartialApplicationConfiguration;
}

function suggestion(corrections: readonly string[]): string {
  return corrections.length > 0 ? `; did you mean ${corrections.join(" or ")}?` : "";
}

function complaintOf(error: unknown, flags: readonly string[]): string {
  const message =
    error instanceof ArgumentScannerError
      ? formatMessageForArgumentScannerError(error, complaintsAbout(flags))
      : errorText(error);
  return message.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** In the words of our other errors; the rest keeps the parser's. */
const complaintsAbout = (flags: readonly string[]): Complaints => ({
  ArgumentParseError({ externalFlagNameOrPlaceholder, input, exception }) {
    const reason = exception instanceof Error ? exception.message : "cannot be read";
    return `${typed(externalFlagNameOrPlaceholder)} is "${input}": ${reason}`;
  },
  EnumValidationError: ({ externalFlagName, input, values }) =>
    `${typed(externalFlagName)} is "${input}": not one of ${values.join(", ")}`,
  FlagNotFoundError: ({ input }) =>
    `there is no flag ${typed(input)}${suggestion(nearest(kebab(input), flags).map(typed))}`,
  UnsatisfiedFlagError: ({ externalFlagName, nextFlagName }) =>
    nextFlagName === undefined
      ? `${typed(externalFlagName)} is missing, or has no value`
      : `${typed(externalFlagName)} needs a value, and ${typed(nextFlagName)} follows it`,
  UnsatisfiedPositionalError: ({ placeholder: name }) => `${name} is missing`,
});

type Complaints = Parameters<typeof formatMessageForArgumentScannerError>[1];

/** A flag as a person types it; a positional argument is its placeholder, in capitals. */
function typed(name: string): string {
  return /^(?:[A-Z]|-)/.test(name) ? name : `--${kebab(name)}`;
}
