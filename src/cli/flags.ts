/** Flags that several commands have, each defined once. */
import type { TargetFlags } from "../net/http/target.ts";
import { parseMoment } from "./moments.ts";

export const jsonFlag = {
  kind: "boolean",
  optional: true,
  withNegated: false,
  brief: "JSON, for programs",
} as const;

export type DaemonFlags = TargetFlags;

/** Where the bearer token is: a token itself on a command line could be read by every user. */
export const tokenFileFlag = {
  kind: "parsed",
  optional: true,
  parse: String,
  placeholder: "FILE",
  brief: "The file with the token to present [ROLLCALL_TOKEN, or the context's]",
} as const;

/** A daemon that the user logged in to. */
export const contextFlag = {
  kind: "parsed",
  optional: true,
  parse: String,
  placeholder: "NAME",
  brief: "The context: a daemon of `rollcall login` [ROLLCALL_CONTEXT, or the current one]",
} as const;

/** Of every command that talks to a daemon. */
export const daemonFlags = {
  url: {
    kind: "parsed",
    optional: true,
    parse: String,
    placeholder: "URL",
    brief: "Where the daemon is [ROLLCALL_URL, or as the context says]",
  },
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
  limit: {
    kind: "parsed",
    parse: parseCount,
    default: "1000",
    placeholder: "N",
    brief: "The largest number of rows [1000]",
  },
  watch: {
    kind: "boolean",
    optional: true,
    withNegated: false,
    brief: "Live: changes show at once; q or Ctrl-C ends it",
  },
  ...answerFlags,
} as const;

/** The agent that acts. */
export const actingFlag = {
  kind: "parsed",
  optional: true,
  parse: String,
  placeholder: "AGENT",
  brief: "The agent that acts: its name, its id, or a part of one [ROLLCALL_AGENT_ID]",
} as const;

/** Of what can be looked at as it was. */
export const atFlag = {
  kind: "parsed",
  optional: true,
  parse: (text: string) => parseMoment(text),
  placeholder: "TIME",
  brief: "As it was then: 14:03, yesterday 14:03, '10m ago', an ISO time",
} as const;

/** Given or not. */
export function switchFlag(brief: string) {
  return { kind: "boolean", optional: true, withNegated: false, brief } as const;
}

/** A text that may be given or not. */
export function textFlag<P extends string>(placeholder: P, brief: string) {
  return { kind: "parsed", optional: true, parse: String, placeholder, brief } as const;
}

/** A text that may be given several times. */
export function textsFlag<P extends string>(placeholder: P, brief: string) {
  const flag = textFlag(placeholder, brief);
  return { ...flag, variadic: true } as const;
}

/** How many answers. */
export const limitFlag = {
  kind: "parsed",
  optional: true,
  parse: parseCount,
  placeholder: "N",
  brief: "The largest number of results [10]",
} as const;

/** Where a program of its own listens, unless told otherwise. */
export const hostFlag = {
  kind: "parsed",
  parse: String,
  default: "127.0.0.1",
  placeholder: "HOST",
  brief: "Where to listen [127.0.0.1]",
} as const;

/** One argument that must be given. */
export function argument<P extends string>(placeholder: P, brief: string) {
  return { parse: String, placeholder, brief } as const;
}

export function parsePort(text: string): number {
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
  const token = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(token)) return token;
  throw new Error("not a token, which is a whole number");
}
