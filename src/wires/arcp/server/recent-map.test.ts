import { expect, test } from "vitest";
import { RecentMap } from "./recent-map.ts";

test("it has the last so many keys, and no more", () => {
  const map = new RecentMap<number>(3);
  for (let i = 1; i <= 10; i += 1) {
    map.set(`key ${i}`, i);
    map.set(`key ${i}`, i);
    for (let near = Math.max(1, i - 2); near <= i; near += 1) {
      expect(map.get(`key ${near}`)).toBe(near);
    }
    expect(map.get(`key ${i - 3}`)).toBeUndefined();
  }
});
