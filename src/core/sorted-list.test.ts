import { array, assert, boolean, integer, nat, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { merged, SortedList } from "./sorted-list.ts";

const numbers = () => new SortedList<number>((a, b) => a - b);

test("a sorted list is what sorting all of it would give, whatever came and went", () => {
  const move = tuple(boolean(), integer({ min: 0, max: 3_000 }));
  assert(
    property(array(move, { maxLength: 4_000, size: "max" }), nat(3_000), (moves, place) => {
      const list = numbers();
      const model = new Set<number>();
      for (const [isAdded, value] of moves) {
        if (isAdded) {
          list.add(value);
          model.add(value);
        } else expect(list.delete(value)).toBe(model.delete(value));
      }
      const sorted = [...model].toSorted((a, b) => a - b);
      expect(list.size).toBe(sorted.length);
      expect([...list.from()]).toEqual(sorted);
      const hasReached = (each: number) => each >= place;
      expect([...list.from(hasReached)]).toEqual(sorted.filter(hasReached));
      expect(list.countBefore(hasReached)).toBe(sorted.filter((each) => each < place).length);
    }),
    { numRuns: 30 },
  );
});

test("an item takes the place of its equal", () => {
  const list = new SortedList<{ readonly key: number; readonly text: string }>(
    (a, b) => a.key - b.key,
  );
  list.add({ key: 1, text: "old" });
  list.add({ key: 1, text: "new" });
  expect([...list.from()]).toEqual([{ key: 1, text: "new" }]);
});

test("merged lists are all their items sorted, and only those that are taken are read", () => {
  const lists = array(array(nat(10_000), { maxLength: 40 }), { maxLength: 20 });
  assert(
    property(lists, nat(30), (given, most) => {
      const known = new Set<number>();
      const parts = given.map((list) => {
        const own = [...new Set(list)].filter((each) => !known.has(each));
        for (const each of own) known.add(each);
        return own.toSorted((a, b) => a - b);
      });
      let read = 0;
      const reading = parts.map(function* (part) {
        for (const each of part) {
          read += 1;
          yield each;
        }
      });
      const taken: number[] = [];
      for (const each of merged<number>(reading, (a, b) => a - b)) {
        if (taken.length >= most) break;
        taken.push(each);
      }
      expect(taken).toEqual([...known].toSorted((a, b) => a - b).slice(0, most));
      expect(read).toBeLessThanOrEqual(parts.length + taken.length);
    }),
    { numRuns: 50 },
  );
});
