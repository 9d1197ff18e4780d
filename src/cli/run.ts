/**
 * From the words on the command line to an exit code. The parser only ever sees a command and its
 * flags: words.ts puts them in order, and `--verbose` is taken out wherever it stands.
 */
import { run, type Application, type Command } from "@stricli/core";
import { systemContext, type Context } from "./context.ts";
import { exitCodeOfParser } from "./exit.ts";
import { applicationFor, applicationOf, type Program } from "./program.ts";
import { releaseVersion } from "../daemon/version.ts";
import { PROGRAM } from "./tree.ts";
import { normalise } from "./words.ts";

/** Runs `rollcall`; the process ends with the resulting code once everything is written. */
export async function rollcall(argv: readonly string[]): Promise<void> {
  await several(PROGRAM, argv);
}

/**
 * Runs `arcp`. Its tokens may be on the command line, as the SDK's own command takes them: they are
 * taken out of the list of processes at once.
 */
export async function arcp(argv: readonly string[]): Promise<void> {
  if (argv.some((word) => word.startsWith("--token"))) process.title = "arcp";
  await several((await import("./arcp/tree.ts")).ARCP, argv);
}

async function several(program: Program, argv: readonly string[]): Promise<void> {
  const { words, isVerbose } = withoutVerbose(argv);
  const inputs = normalise(words, program);
  await finish(isVerbose, inputs, (context) => applicationFor(program, inputs, context));
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
