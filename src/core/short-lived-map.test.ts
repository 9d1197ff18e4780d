import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { array, assert, boolean, nat, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { ShortLivedMap } from "./short-lived-map.ts";

test("it holds what a Map would, in the same order, whatever came and went", () => {
  const move = tuple(boolean(), nat(200));
  assert(
    property(array(move, { maxLength: 2_000, size: "max" }), (moves) => {
      const [map, model] = [new ShortLivedMap<number, string>(), new Map<number, string>()];
      for (const [isSet, key] of moves) {
        if (isSet) {
          map.set(key, `value ${key}`);
          model.set(key, `value ${key}`);
        } else {
          map.delete(key);
          model.delete(key);
        }
        expect([map.size, map.has(key), map.get(key)]).toEqual([
          model.size,
          model.has(key),
          model.get(key),
        ]);
      }
      expect([...map.entries()]).toEqual([...model]);
      expect([...map.values()]).toEqual([...model.values()]);
    }),
    { numRuns: 50 },
  );
});

/** What becomes old of 20,000 calls of 1 KB each, of which 10 at a time are under way. */
function oldBytesOf(map: ShortLivedMap<number, unknown>): number {
  setFlagsFromString("--expose-gc");
  const collectYoung = runInNewContext("gc") as (options: { readonly type: "minor" }) => void;
  for (let i = -10; i < 0; i += 1) map.set(i, i);
  // By now its table is old.
  for (let i = 0; i < 3; i += 1) collectYoung({ type: "minor" });
  const before = oldBytes();
  for (let i = 0; i < 20_000; i += 1) {
    map.set(
      i,
      Array.from({ length: 120 }, () => i),
    );
    map.delete(i - 10);
    if (i % 500 === 0) collectYoung({ type: "minor" });
  }
  return oldBytes() - before;
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name: name }) => name === "old_space")?.space_used_size ?? NaN;
}

test("what was in it for a moment does not become old, as 9 MB of it do in a Map", () => {
  // The first time code that is compiled becomes old, too.
  oldBytesOf(new ShortLivedMap());
  expect(oldBytesOf(new ShortLivedMap())).toBeLessThan(1_000_000);
});
