import { expect, test } from "vitest";
import { liveArcp } from "./arcp-life.ts";
import { KEPT_ARCP_SEEDS } from "./kept-seeds.ts";
import { ARCP_PLANTS } from "./plants.ts";

const SECOND = 1000;

/** Lives until a bug is found; none of them needs half as many. */
const MAX_SEEDS = 60;

test(
  "every client ends with every event exactly once and one end for each job",
  { timeout: 120 * SECOND },
  async () => {
    const first = Number(process.env["SEED"] ?? 1);
    const runs = Number(process.env["RUNS"] ?? 25);
    for (let seed = first; seed < first + runs; seed += 1) {
      expect({ seed, failures: await liveArcp(seed) }).toEqual({ seed, failures: [] });
    }
  },
);

for (const { seed, found } of KEPT_ARCP_SEEDS) {
  test(`seed ${seed} goes well: ${found}`, { timeout: 30 * SECOND }, async () => {
    expect(await liveArcp(seed)).toEqual([]);
  });
}

for (const plant of ARCP_PLANTS) {
  test(`a planted bug is found: ${plant.name}`, { timeout: 120 * SECOND }, async () => {
    for (let seed = 1; seed <= MAX_SEEDS; seed += 1) {
      const failures = await liveArcp(seed, plant);
      if (!failures.some(({ invariant }) => invariant === plant.breaks)) continue;
      console.log(`${plant.name}: found by seed ${seed}, as "${plant.breaks}"`);
      return;
    }
    expect.fail(`${MAX_SEEDS} seeds found nothing`);
  });
}
