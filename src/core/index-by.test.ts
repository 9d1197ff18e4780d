import { array, assert, boolean, constantFrom, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { IndexBy } from "./index-by.ts";

test("an owner has what was added and not deleted, and nobody else does", () => {
  const index = new IndexBy();
  index.add("a", "1");
  index.add("a", "2");
  index.add("a", "2");
  index.add("b", "3");
  index.delete("a", "1");
  index.delete("a", "3");
  index.delete("nobody", "1");
  expect([...index.of("a")]).toEqual(["2"]);
  expect([...index.of("b")]).toEqual(["3"]);
  expect([...index.of("nobody")]).toEqual([]);
});

test("it agrees with a list of pairs", () => {
  const name = constantFrom("a", "b", "c");
  assert(
    property(array(tuple(name, name, boolean())), (changes) => {
      const index = new IndexBy();
      const pairs = new Set<string>();
      for (const [owner, item, isAdded] of changes) {
        if (isAdded) {
          index.add(owner, item);
          pairs.add(owner + item);
        } else {
          index.delete(owner, item);
          pairs.delete(owner + item);
        }
      }
      const found = ["a", "b", "c"].flatMap((owner) => {
        return [...index.of(owner)].map((item) => owner + item);
      });
      expect(new Set(found)).toEqual(pairs);
    }),
  );
});
