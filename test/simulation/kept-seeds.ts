/** Seeds that found a bug which was then fixed: they run with every test. */

interface KeptSeed {
  readonly seed: number;
  readonly found: string;
}

export const KEPT_SEEDS: readonly KeptSeed[] = [];
