/**
 * The exit code of a command, and on stderr one line with the error and, if there is one, the fix.
 * The stack is shown only with ROLLCALL_DEBUG.
 */
import { codeOf, type ErrorCode, errorText, RollcallError } from "../core/errors.ts";
import { clean } from "./terminal/clean.ts";
import type { Environment } from "../machine/surroundings.ts";
import type { Output, Style } from "./terminal/output.ts";
import { wrap } from "./terminal/width.ts";

export const EXIT = {
  done: 0,
  nothingFound: 1,
  usage: 2,
  unreachable: 3,
  refused: 4,
  /** A fault of this program: what sysexits.h calls EX_SOFTWARE. */
  fault: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const EXIT_OF: Partial<Record<ErrorCode, ExitCode>> = {
  NOT_FOUND: EXIT.nothingFound,
  AGENT_NOT_AVAILABLE: EXIT.nothingFound,
  AGENT_VERSION_NOT_AVAILABLE: EXIT.nothingFound,
  INVALID_ARGUMENT: EXIT.usage,
  UNAVAILABLE: EXIT.unreachable,
  INCOMPATIBLE: EXIT.unreachable,
  DEADLINE_EXCEEDED: EXIT.unreachable,
  CANCELLED: EXIT.done,
  INTERNAL: EXIT.fault,
};

/** The one place where an error becomes a number; what has no row was refused. */
export function exitCodeOf(error: unknown): ExitCode {
  return EXIT_OF[codeOf(error)] ?? EXIT.refused;
}

/** For a daemon that cannot start: its port or its state is not available. */
export function startExitCodeOf(error: unknown): ExitCode {
  const code = exitCodeOf(error);
  return code === EXIT.unreachable || code === EXIT.nothingFound ? EXIT.refused : code;
}

/** The number for what the parser of the command line made of it: its own are negative. */
export function exitCodeOfParser(code: number | string | null | undefined): number {
  const number = Number(code ?? 0);
  if (number >= 0) return number;
  return number === UNKNOWN_COMMAND || number === INVALID_ARGUMENT ? EXIT.usage : EXIT.fault;
}

const UNKNOWN_COMMAND = -5;
const INVALID_ARGUMENT = -4;

const NO_DAEMON =
  "start one with `rollcall up`, say where it is with --url, or ask `rollcall doctor`";
const UNKNOWN_TOKEN =
  "on the daemon's machine, `rollcall tokens` lists the tokens, `rollcall tokens create` makes one";

function adviceFor(code: ErrorCode, message: string): string | undefined {
  if (code === "UNAVAILABLE" && message.startsWith("no daemon")) return NO_DAEMON;
  const isUnknown = code === "UNAUTHENTICATED" && message === "the token is not known";
  return isUnknown ? UNKNOWN_TOKEN : undefined;
}

export function describeError(error: unknown, output: Output, env: Environment): string {
  const message = clean(errorText(error)) || "failed";
  const isOurs = error instanceof RollcallError && error.code !== "INTERNAL";
  const lines = labelled(["red", isOurs ? "error:" : "internal error:"], message, output);
  const advice = isOurs ? adviceFor(error.code, message) : undefined;
  if (advice !== undefined) lines.push(...labelled(["dim", "try:"], advice, output));
  if (isVerbose(env)) lines.push(...stackOf(error));
  else if (!isOurs) lines.push(`${output.paint("dim", "more:")} run it again with --verbose`);
  return lines.join("\n");
}

/** Broken between words where a terminal would break it in the middle of one. */
export function labelled([style, label]: readonly [Style, string], text: string, output: Output) {
  const [first = "", ...rest] = wrap(`${label} ${text}`, output.columns);
  return [`${output.paint(style, label)}${first.slice(label.length)}`, ...rest];
}

function stackOf(error: unknown): readonly string[] {
  const stacks: string[] = [];
  for (let each = error; each instanceof Error && stacks.length < 8; each = each.cause) {
    const lines = (each.stack ?? each.message).split("\n").map(clean);
    stacks.push(`${stacks.length === 0 ? "" : "caused by "}${lines.join("\n")}`);
  }
  return stacks;
}

function isVerbose(env: Environment): boolean {
  const asked = env["ROLLCALL_DEBUG"] ?? "";
  return asked !== "" && asked !== "0" && asked !== "false";
}
