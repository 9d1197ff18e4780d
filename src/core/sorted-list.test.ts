import { array, assert, boolean, integer, nat, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { SortedList } from "./sorted-list.ts";

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
