import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Top } from "./top.ts";

test("keeps what sorting everything would put first", () => {
  const scores = fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 200 });
  fc.assert(
    fc.property(scores, fc.integer({ min: 0, max: 20 }), (given, limit) => {
      const top = new Top(limit);
      for (const [item, score] of given.entries()) top.offer(item, score);
      const all = given.map((score, item) => ({ item, score }));
      const sorted = all.toSorted((a, b) => b.score - a.score || a.item - b.item);
      expect(top.sorted()).toEqual(sorted.slice(0, limit).map(({ item }) => item));
    }),
  );
});
