import { expect, test } from "vitest";
import { KEPT_SEEDS } from "./kept-seeds.ts";
import { PLANTS } from "./plants.ts";
import { simulate } from "./simulate.ts";

const SECOND = 1000;

/** Lives until a bug is found; none of them needs half as many. */
const MAX_SEEDS = 150;

test("the same seed is the same life, to the letter", { timeout: 120 * SECOND }, async () => {
  for (const seed of [1, 2, 3]) {
    const once = await simulate(seed);
    const again = await simulate(seed);
    expect(once.transcript().join("\n")).toBe(again.transcript().join("\n"));
  }
  const [one, other] = [await simulate(1), await simulate(2)];
  expect(one.transcript().join("\n")).not.toBe(other.transcript().join("\n"));
});

for (const { seed, found } of KEPT_SEEDS) {
  test(`seed ${seed} goes well: ${found}`, { timeout: 30 * SECOND }, async () => {
    expect((await simulate(seed)).failures).toEqual([]);
  });
}

for (const plant of PLANTS) {
  test(`a planted bug is found: ${plant.name}`, { timeout: 240 * SECOND }, async () => {
    for (let seed = 1; seed <= MAX_SEEDS; seed += 1) {
      const { failures } = await simulate(seed, plant);
      if (!failures.some(({ invariant }) => invariant === plant.breaks)) continue;
      console.log(`${plant.name}: found by seed ${seed}, as "${plant.breaks}"`);
      return;
    }
    expect.fail(`${MAX_SEEDS} seeds found nothing`);
  });
}
