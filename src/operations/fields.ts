/** Fields of operations: each with what it means, and an example where that helps. */
import { z } from "zod";

/** A generated id, as examples show it. */
export const SOME_ID = "3f2a9c1b5d7e4f60a1b2c3d4e5f60718";

export function text(description: string, ...examples: readonly string[]) {
  return z.string().meta(about(description, examples));
}

export function whole(description: string, ...examples: readonly number[]) {
  return z.int().meta(about(description, examples));
}

export function yesOrNo(description: string, ...examples: readonly boolean[]) {
  return z.boolean().meta(about(description, examples));
}

function about(description: string, examples: readonly unknown[]) {
  return { description, ...(examples.length > 0 && { examples: [...examples] }) };
}

export const ACTING_AGENT = text("The agent that acts, by its id", SOME_ID);

/** The principal that a thing belongs to. */
export const OWNER = text(
  "The principal that it belongs to; absent for local",
  "token:ci",
).optional();

/** Where none is sent it is 0, which stands for the default. */
export function ttl(description: string) {
  return whole(description, 300_000).default(0);
}

export function fencingToken(description: string) {
  return z
    .int()
    .min(0)
    .meta(about(description, [7]));
}

/** Of a list: some of a few words; none means any. */
export function someOf<const Word extends string>(words: readonly Word[]) {
  return z.array(z.enum(words)).default([]).describe("Only these; may be given several times");
}

/** Of a list: how something begins. */
export function prefix(description: string) {
  return text(description).default("");
}

/** Of a list that can be looked at as it was. */
export const AT = text(
  "As it was at that moment: ISO 8601 with its zone, or ms since 1970",
  "2026-06-20T16:04:05Z",
).optional();

export const SEQUENCE = whole("The last event that this includes: watch from here", 42);

export function moment(description: string) {
  return whole(`${description}, in ms since 1970`, MOMENT_MS);
}

const MOMENT_MS = Date.UTC(2026, 5, 20, 16, 4, 5);
