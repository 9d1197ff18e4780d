/**
 * The program `agent-status`: the commands, outputs and exit codes that its users know, wrong usage
 * included.
 */
import { RollcallError } from "../../core/errors.ts";
import { releaseVersion } from "../../daemon/version.ts";
import { systemContext, type Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { clean } from "../terminal/clean.ts";
import { invalidChoice, parseArguments } from "./arguments.ts";
import { STATUS_COMMANDS as COMMANDS, ArgumentValues } from "./commands.ts";
import { helpOf, usageOf } from "./usage.ts";

const NAME = "agent-status";
const NAMES = Object.keys(COMMANDS);
const USAGE = `usage: ${NAME} [-h] {${NAMES.join(",")}} ...`;

export async function agentStatus(argv: readonly string[]): Promise<void> {
  const context = systemContext(process.env);
  await call(context, argv);
  process.exitCode = context.exitCode;
}

async function call(context: Context, [name, ...rest]: readonly string[]): Promise<void> {
  const { out, err } = context;
  const wrong = async (usage: string, program: string, problem: string) => {
    await err.line(`${usage}\n${program}: error: ${clean(problem)}`);
    context.endWith(EXIT.usage);
  };
  if (name === "--version") return out.line(`${NAME} ${releaseVersion()} (rollcall)`);
  if (name === "-h" || name === "--help") return out.line(overview());
  if (name === undefined) {
    return wrong(USAGE, NAME, "the following arguments are required: command");
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) return wrong(USAGE, NAME, `argument command: ${invalidChoice(name, NAMES)}`);
  const syntax = { ...command, program: `${NAME} ${name}` };
  const parsed = parseArguments(syntax, rest);
  switch (parsed.kind) {
    case "help":
      return out.line(helpOf(syntax));
    case "wrong":
      return wrong(usageOf(syntax), syntax.program, parsed.problem);
    case "arguments":
      if (parsed.extras.length > 0) {
        return wrong(USAGE, NAME, `unrecognized arguments: ${parsed.extras.join(" ")}`);
      }
      return attempt(context, () => command.run(context, new ArgumentValues(parsed.values)));
  }
}

async function attempt(context: Context, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error;
    await context.err.line(clean(error.message));
    context.endWith(EXIT.nothingFound);
  }
}

function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(10)}${about}`);
  return [USAGE, "", "What runs on this machine, from its status files", "", ...rows].join("\n");
}
