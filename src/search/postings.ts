/**
 * Of each key a list of numbers that only grows at its end: where a word occurs, who has a tool.
 * Most keys of an index occur once, and their number needs no list. The others take four bytes a
 * number and a quarter of slack.
 */
interface List {
  numbers: Uint32Array;
  size: number;
}

const FIRST = 4;
const NONE = new Uint32Array();

export class Postings {
  #lists = new Map<string, number | List>();

  /** How many keys there are. */
  get size(): number {
    return this.#lists.size;
  }

  add(key: string, number: number): void {
    const list = this.#lists.get(key);
    if (list === undefined) {
      this.#lists.set(key, number);
    } else if (typeof list === "number") {
      const numbers = new Uint32Array(FIRST);
      numbers[0] = list;
      numbers[1] = number;
      this.#lists.set(key, { numbers, size: 2 });
    } else {
      push(list, number);
    }
  }

  /** In the order in which they were added. */
  get(key: string): Uint32Array {
    const list = this.#lists.get(key);
    if (list === undefined) return NONE;
    return typeof list === "number" ? Uint32Array.of(list) : list.numbers.subarray(0, list.size);
  }

  /** Each number becomes another, or goes when that is below 0; order is kept. */
  pack(moved: (number: number) => number): void {
    const before = this.#lists;
    this.#lists = new Map();
    for (const [key, list] of before) {
      const numbers = typeof list === "number" ? [list] : list.numbers.subarray(0, list.size);
      for (const number of numbers) {
        const to = moved(number);
        if (to >= 0) this.add(key, to);
      }
    }
  }
}

function push(list: List, number: number): void {
  if (list.size === list.numbers.length) {
    const longer = new Uint32Array(list.size + Math.max(FIRST, list.size >> 2));
    longer.set(list.numbers);
    list.numbers = longer;
  }
  list.numbers[list.size] = number;
  list.size += 1;
}
