/** Lists have no pages in this protocol: one that no client would take is refused, and says so. */
import { RollcallError } from "../../../core/errors.ts";
import { KEEPER } from "./limits.ts";

/** The items, if one message can hold them all. */
export function bounded<T>(what: string, items: Iterable<T>, weigh: (item: T) => number): T[] {
  const list: T[] = [];
  let bytes = 0;
  for (const item of items) {
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
