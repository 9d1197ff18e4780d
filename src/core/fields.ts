/**
 * Checks of what callers send: each says which field is wrong and how, or nothing. Fields are
 * called as in core's commands (taskId, ttlMs); each wire puts its own name in their place.
 */
import { refuse, type Refusal } from "./decide.ts";
import { FIELD, TTL } from "./limits.ts";

/** The problem of a field, as a sentence that begins with its name. */
export type Problem = string | undefined;

export function invalid(...problems: readonly Problem[]): Refusal | undefined {
  const problem = problems.find((each) => each !== undefined);
  return problem === undefined ? undefined : refuse("INVALID_ARGUMENT", problem);
}

/** A key of the caller's own making: any text on one line. */
export function key(field: string, value: string, maxLength: number = FIELD.keyLength): Problem {
  if (value === "") return `${field} is empty`;
  return line(field, value, maxLength);
}

/** One line of text, possibly empty. */
export function line(field: string, value: string, maxLength: number): Problem {
  return tooLong(field, value, maxLength) ?? held(CONTROL, field, value) ?? malformed(field, value);
}

/** Prose: line breaks and tabs are welcome, other control characters are not. */
export function prose(field: string, value: string, maxLength: number): Problem {
  return (
    tooLong(field, value, maxLength) ??
    held(CONTROL_IN_PROSE, field, value) ??
    malformed(field, value)
  );
}

export function tooLong(field: string, value: string, maxLength: number): Problem {
  if (value.length <= maxLength) return undefined;
  return `${field} has ${value.length} characters, at most ${maxLength} are allowed`;
}

export function count(field: string, value: number, max: number): Problem {
  if (!Number.isSafeInteger(value) || value < 0) return `${field} is not a whole number`;
  return value > max ? `${field} is ${value}, at most ${max} is allowed` : undefined;
}

/** Zero stands for the default and is allowed. */
export function ttl(field: string, ttlMs: number, maxMs: number = TTL.maxMs): Problem {
  if (ttlMs === 0 || (ttlMs >= TTL.minMs && ttlMs <= maxMs)) return undefined;
  return `${field} is ${ttlMs / 1000} s, allowed are ${TTL.minMs / 1000} to ${maxMs / 1000} s`;
}

export function atMost(field: string, length: number, max: number): Problem {
  return length > max ? `${field} has ${length} entries, at most ${max} are allowed` : undefined;
}

// oxlint-disable-next-line no-control-regex -- finding them is the point
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// oxlint-disable-next-line no-control-regex -- finding them is the point
const CONTROL_IN_PROSE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

function held(characters: RegExp, field: string, value: string): Problem {
  return characters.test(value) ? `${field} holds a control character` : undefined;
}

/** A lone surrogate would not come back from the disk as it went in. */
function malformed(field: string, value: string): Problem {
  return LONE_SURROGATE.test(value) ? `${field} is not well-formed unicode` : undefined;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Text of others as `line` takes it: for what must be shown even where its author took no care.
 * Control characters become spaces, what is too long is cut.
 */
export function asLine(value: string, maxLength: number): string {
  return wellFormed(value.slice(0, maxLength)).replaceAll(ALL_CONTROL, " ");
}

/** The same as `prose` takes it. */
export function asProse(value: string, maxLength: number): string {
  return wellFormed(value.slice(0, maxLength)).replaceAll(ALL_CONTROL_IN_PROSE, " ");
}

function wellFormed(value: string): string {
  return value.replaceAll(/\p{Surrogate}/gu, "\uFFFD");
}

const ALL_CONTROL = new RegExp(CONTROL, "g");
const ALL_CONTROL_IN_PROSE = new RegExp(CONTROL_IN_PROSE, "g");
