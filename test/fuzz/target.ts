/** A reader of bytes of others, and how input for it is made. */
import type { Random } from "../simulation/random.ts";

export interface Target {
  readonly name: string;
  /** Inputs that it takes, or nearly: where the search begins. */
  readonly seeds: readonly Buffer[];
  /** Words that mean something to it. */
  readonly words: readonly Buffer[];
  readonly mutate: Mutator;
  /** Throws when the reader did anything but give a value or its declared refusal. */
  run(input: Buffer): void;
}

/** What a mutation draws from. */
export interface Material {
  readonly random: Random;
  readonly words: readonly Buffer[];
  /** Another input. */
  readonly other: Buffer;
}

export type Mutator = (input: Buffer, material: Material) => Buffer;

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[random.between(0, items.length - 1)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

/** The value; nothing where it refuses in the declared way. Everything else is thrown. */
export function unlessRefused<T>(
  isRefusal: (error: unknown) => boolean,
  read: () => T,
): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** Throws where two readings that must be the same are not. */
export function same(one: unknown, other: unknown, what: string): void {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  if (left === right) return;
  throw new Error(`${what}: ${shortened(left)} and ${shortened(right)}`);
}

function shortened(text = "nothing"): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The same bytes as they may come from a socket: cut at places that depend on them alone. */
export function pieces(input: Buffer): readonly Buffer[] {
  const cut: Buffer[] = [];
  let at = 0;
  let state = input.length;
  while (at < input.length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223 + (input[at] ?? 0)) >>> 0;
    const length = 1 + (state % 4 === 0 ? state % 1_000 : state % 24);
    cut.push(input.subarray(at, at + length));
    at += length;
  }
  return cut;
}
