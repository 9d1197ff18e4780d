/** Lists have no pages in this protocol: one that no client would take is refused, and says so. */
import { RollcallError } from "../../../core/errors.ts";
import type { State } from "../../../core/state.ts";
import type { Engine } from "../../../engine/engine.ts";
import { inSlices } from "../../../machine/slices.ts";
import { KEEPER } from "./limits.ts";

/** The items of a state, looked at while others are served; durable when it resolves. */
export async function answered<T>(
  engine: Pick<Engine, "read">,
  select: (state: State) => Generator<void, T[]>,
): Promise<T[]> {
  for (;;) {
    const { from, making } = await engine.read((state) => ({ from: state, making: select(state) }));
    const list = await inSlices(making);
    // Of a state that was replaced, what was not durable never happened.
    if (await engine.read((state) => state === from)) return list;
  }
}

interface AnswerBounds<T> {
  /** All unless told otherwise. */
  readonly isWanted?: (item: T) => boolean;
  readonly weigh: (item: T) => number;
}

/** The items, if one message can hold them all; a step for each that is looked at. */
export function* bounded<T>(
  what: string,
  items: Iterable<T>,
  { isWanted = () => true, weigh }: AnswerBounds<T>,
): Generator<void, T[]> {
  const list: T[] = [];
  let bytes = 0;
  for (const item of items) {
    yield;
    if (!isWanted(item)) continue;
    bytes += weigh(item) + OVERHEAD_BYTES;
    if (bytes > KEEPER.answerBytes) {
      const message = `the requested ${what} have more than ${KEEPER.answerBytes} bytes together`;
      throw new RollcallError("TOO_LARGE", `${message}: ask for fewer`);
    }
    list.push(item);
  }
  return list;
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Ids, times and tags of a record, generously. */
const OVERHEAD_BYTES = 128;
