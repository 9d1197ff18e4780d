/** Fields that several operations take or answer with. */
import { z } from "zod";

/** A generated id, as examples show it. */
export const SOME_ID = "3f2a9c1b5d7e4f60a1b2c3d4e5f60718";

/** The agent that acts. */
export const ACTING_AGENT = z
  .string()
  .meta({ description: "The agent that acts, by its id", examples: [SOME_ID] });

/** Where none is sent it is 0, which stands for the default. */
export function ttl(description: string) {
  return z
    .int()
    .default(0)
    .meta({ description, examples: [300_000] });
}

export function fencingToken(description: string) {
  return z
    .int()
    .min(0)
    .meta({ description, examples: [7] });
}

/** Of a list: some of a few words; none means any. */
export function someOf<const Word extends string>(words: readonly Word[]) {
  return z.array(z.enum(words)).default([]).describe("Only these; may be given several times");
}

/** Of a list: how something begins. */
export function prefix(description: string) {
  return z.string().default("").describe(description);
}

/** Of a list that can be looked at as it was. */
export const AT = z
  .string()
  .optional()
  .meta({
    description: "As it was at that moment: ISO 8601 with its zone, or ms since 1970",
    examples: ["2026-06-20T16:04:05Z"],
  });

export const SEQUENCE = z.int().meta({
  description: "The last event that this rests on: what happens after it is news",
  examples: [42],
});

export function moment(description: string) {
  return z.int().meta({ description: `${description}, in ms since 1970`, examples: [MOMENT_MS] });
}

const MOMENT_MS = Date.UTC(2026, 5, 20, 16, 4, 5);
