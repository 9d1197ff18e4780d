/**
 * What the models of single nouns share. A model is told two kinds of things: what clients asked
 * and were answered, and facts that nobody asked for (an agent died, a lease ran out) at the very
 * moment they became durable. The models are written anew, small and by hand: they check the rules
 * as well.
 */
import type { Event } from "../../src/core/events.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import type { Command, Reply } from "../../src/core/rules.ts";
import type { Op } from "./history.ts";

export type Input =
  | { readonly kind: "asked"; readonly op: Op }
  | {
      readonly kind: "fact";
      readonly event: Event;
      /** The highest term of a forgotten group, as of then. */
      readonly termFloor: number;
    };

/** What a client was told: the reply, a refusal, or nothing that it could know. */
export type Told<R> =
  | { readonly kind: "ok"; readonly reply: R }
  | { readonly kind: "refused"; readonly code: ErrorCode }
  | { readonly kind: "unknown" };

export function told<R extends Reply | string>({ outcome }: Op): Told<R> {
  return outcome.kind === "ok" ? { kind: "ok", reply: outcome.reply as R } : outcome;
}

export function isRefused(answer: Told<unknown>, code: ErrorCode): boolean {
  return answer.kind === "refused" && answer.code === code;
}

/** The command of an op, if it is one of these. */
export function commandOf<T extends Command["type"]>(
  { ask }: Op,
  ...types: readonly T[]
): (Command & { readonly type: T }) | undefined {
  if (ask.kind !== "command") return undefined;
  const { command } = ask;
  return types.some((type) => type === command.type)
    ? (command as Command & { readonly type: T })
    : undefined;
}

export function including<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  return new Set([...set, value]);
}

export function without<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  return new Set([...set].filter((each) => each !== value));
}
