/** Flags that several commands have, each defined once, and the makers of all others. */
import type { TargetFlags } from "../net/http/target.ts";
import { parseMoment } from "./moments.ts";

/** Given or not. */
export function switchFlag(brief: string) {
  return { kind: "boolean", optional: true, withNegated: false, brief } as const;
}

/** A value that may be given or not. */
export function valueFlag<T, P extends string>(
  placeholder: P,
  brief: string,
  parse: (text: string) => T,
) {
  return { kind: "parsed", optional: true, parse, placeholder, brief } as const;
}

/** A text that may be given or not. */
export function textFlag<P extends string>(placeholder: P, brief: string) {
  return valueFlag(placeholder, brief, String);
}

/** A text that may be given several times. */
export function textsFlag<P extends string>(placeholder: P, brief: string) {
  return { ...textFlag(placeholder, brief), variadic: true } as const;
}

/** A text that must be given. */
export function requiredFlag<P extends string>(placeholder: P, brief: string) {
  return { kind: "parsed", parse: String, placeholder, brief } as const;
}

interface DefaultFlag<T> {
  readonly placeholder: string;
  readonly brief: string;
  readonly parse: (text: string) => T;
}

/** A value that is this one unless another is given. */
export function defaultFlag<T>(usual: string, { placeholder, brief, parse }: DefaultFlag<T>) {
  const help = `${brief} [${usual}]`;
  return { kind: "parsed", parse, default: usual, placeholder, brief: help } as const;
}

/** One argument that must be given. */
export function argument<P extends string>(placeholder: P, brief: string) {
  return { parse: String, placeholder, brief } as const;
}

/** One of a few words, which the shell completes; the advice is for those who need another. */
export function choiceArgument<T extends string>(
  placeholder: string,
  choices: readonly T[],
  advice = "",
) {
  return {
    placeholder,
    brief: choices.join(" or "),
    proposeCompletions: (partial: string) => choices.filter((each) => each.startsWith(partial)),
    parse(text: string): T {
      const choice = choices.find((each) => each === text);
      if (choice !== undefined) return choice;
      throw new Error(`not one of ${choices.join(", ")}${advice}`);
    },
  };
}

export const jsonFlag = switchFlag("JSON, for programs");

export type DaemonFlags = TargetFlags;

/** Where the bearer token is: a token itself on a command line could be read by every user. */
export const tokenFileFlag = textFlag(
  "FILE",
  "The file with the token to present [ROLLCALL_TOKEN, or the context's]",
);

/** A daemon that the user logged in to. */
export const contextFlag = textFlag(
  "NAME",
  "The context: a daemon of `rollcall login` [ROLLCALL_CONTEXT, or the current one]",
);

/** Of every command that talks to a daemon. */
export const daemonFlags = {
  url: textFlag("URL", "Where the daemon is [ROLLCALL_URL, or as the context says]"),
  context: contextFlag,
  tokenFile: tokenFileFlag,
} as const;

export interface AnswerFlags extends DaemonFlags {
  readonly json?: boolean;
}

/** Of every command that has an answer to show. */
export const answerFlags = { json: jsonFlag, ...daemonFlags } as const;

export interface ListFlags extends AnswerFlags {
  readonly limit: number;
  readonly watch?: boolean;
}

/** Of every command that shows a list. */
export const listFlags = {
  limit: defaultFlag("1000", {
    placeholder: "N",
    brief: "The largest number of rows",
    parse: parseCount,
  }),
  watch: switchFlag("Live: changes show at once; q or Ctrl-C ends it"),
  ...answerFlags,
} as const;

/** The agent that acts. */
export const actingFlag = textFlag(
  "AGENT",
  "The agent that acts: its name, its id, or a part of one [ROLLCALL_AGENT_ID]",
);

/** Of what can be looked at as it was. */
export const atFlag = valueFlag(
  "TIME",
  "As it was then: 14:03, yesterday 14:03, '10m ago', an ISO time",
  (text) => parseMoment(text),
);

/** How many answers. */
export const limitFlag = valueFlag("N", "The largest number of results [10]", parseCount);

/** Where a program of its own listens, unless told otherwise. */
export const hostFlag = defaultFlag("127.0.0.1", {
  placeholder: "HOST",
  brief: "Where to listen",
  parse: String,
});

export function portFlag(usual: string) {
  const brief = "The port, 0 for a free one";
  return defaultFlag(usual, { placeholder: "PORT", brief, parse: parsePort });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new Error("not a port: a whole number up to 65535, 0 for a free one");
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,9}$/.test(text) && count > 0) return count;
  throw new Error("not a whole number from 1 up");
}

export function parseToken(text: string): number {
  return wholeNumber(text, "not a token, which is a whole number");
}

export function parseSequence(text: string): number {
  return wholeNumber(text, "not a sequence, which is a whole number from 0 up");
}

function wholeNumber(text: string, problem: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new Error(problem);
}
