/**
 * From the words on the command line to an exit code. What stands before the command (`rollcall
 * --url X events`) goes behind it, `--version`, `help COMMAND` and a group without a command become
 * what they mean, and `--verbose` is taken out wherever it stands: the parser only ever sees a
 * command and its flags.
 */
import { run, type Application, type Command } from "@stricli/core";
import { systemContext, type Context } from "./context.ts";
import { exitCodeOfParser } from "./exit.ts";
import { applicationFor, applicationOf, entriesOf, groupOf } from "./program.ts";
import type { Group, Program } from "./program.ts";
import { releaseVersion } from "../daemon/version.ts";
import { PROGRAM } from "./tree.ts";

/** Runs `rollcall`; the process ends with the resulting code once everything is written. */
export async function rollcall(argv: readonly string[]): Promise<void> {
  const { words, isVerbose } = withoutVerbose(argv);
  const inputs = normalise(words, PROGRAM);
  await finish(isVerbose, inputs, (context) => applicationFor(PROGRAM, inputs, context));
}

/** Runs a program that is one command. */
export async function single(
  name: string,
  argv: readonly string[],
  load: () => Promise<Command<Context>>,
): Promise<void> {
  const { words, isVerbose } = withoutVerbose(argv);
  if (words[0] === "--version") {
    process.stdout.write(`${name} ${releaseVersion()} (rollcall)\n`);
    return;
  }
  await finish(isVerbose, words, async (context) => applicationOf(name, await load(), context));
}

async function finish(
  isVerbose: boolean,
  inputs: readonly string[],
  build: (context: Context) => Promise<Application<Context>>,
): Promise<void> {
  const env = isVerbose ? { ...process.env, ROLLCALL_DEBUG: "1" } : process.env;
  const context = systemContext(env);
  await run(await build(context), inputs, context);
  process.exitCode = exitCodeOfParser(context.process.exitCode) || context.exitCode;
}

function withoutVerbose(argv: readonly string[]): { words: readonly string[]; isVerbose: boolean } {
  const end = argv.indexOf("--");
  const ours = end === -1 ? argv : argv.slice(0, end);
  const words = ours.filter((word) => word !== "--verbose");
  return { words: [...words, ...argv.slice(ours.length)], isVerbose: words.length < ours.length };
}

export function normalise(words: readonly string[], program: Program): readonly string[] {
  const [first, ...rest] = words;
  if (first === "--version" || first === "-V") return ["version", ...rest];
  if (first === "help") return [...rest, "--help"];
  const entries = entriesOf(program);
  const at = words.findIndex((word) => Object.hasOwn(entries, word));
  const isLed =
    at > 0 && words.slice(0, at).every((word, i) => i % 2 === 1 || word.startsWith("--"));
  if (at !== 0 && !isLed) return words;
  const flags = words.slice(0, at);
  const [word = "", ...after] = words.slice(at);
  const [command, others] = commandOf(groupOf(program, word), after);
  return [word, ...command, ...flags, ...others];
}

type Split = readonly [command: readonly string[], rest: readonly string[]];

/** The command of a group: the one that is named, or the usual one when only flags follow. */
function commandOf(group: Group | undefined, after: readonly string[]): Split {
  const [next, ...rest] = after;
  if (!group) return [[], after];
  if (next !== undefined && Object.hasOwn(group.commands, next)) return [[next], rest];
  const isOther = next !== undefined && (!next.startsWith("-") || HELP.includes(next));
  return isOther ? [[], after] : [[group.usual], after];
}

const HELP = ["--help", "-h"];
