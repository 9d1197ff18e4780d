/**
 * Coverage-guided search: an input that runs code which no input ran before is kept, and changed
 * further. So it finds its way through one condition after the other, where blind input would have
 * to guess all of them at once.
 *
 *   corpus ──▶ a batch of changed inputs ──▶ run ──▶ new code? ──▶ halves, down to the one input
 *      ▲                                                                            │
 *      └────────────────────────────────────────────────────────────────────────────┘
 *
 * The same seed and the same corpus give the same search, as long as the code does the same.
 */
import type { Random } from "../simulation/random.ts";
import type { Coverage } from "./coverage.ts";
import { pick, type Target } from "./target.ts";
import { Trial, type Failure } from "./trial.ts";

/** To ask for the coverage costs about as much as a hundred inputs. */
const BATCH = 64;

export interface FuzzOptions {
  readonly random: Random;
  /** Without it, the search is blind: nothing is kept. */
  readonly coverage?: Coverage;
  /** Asked before each batch, with the number of inputs so far. */
  readonly isEnough: (inputs: number) => boolean;
}

export interface FuzzResult {
  readonly inputs: number;
  readonly corpus: readonly Buffer[];
  readonly failure: Failure | undefined;
}

export function fuzz(target: Target, { random, coverage, isEnough }: FuzzOptions): FuzzResult {
  const trial = new Trial(target);
  const corpus = [...target.seeds];
  let failure: Failure | undefined;
  let inputs = 0;

  const explore = (batch: readonly Buffer[]): void => {
    failure ??= trial.all(batch);
    inputs += batch.length;
    const news = coverage?.news();
    if (failure || !news?.isNew) return;
    const [only] = batch;
    if (batch.length === 1 && only) {
      news.learn();
      corpus.push(only);
      return;
    }
    const half = Math.ceil(batch.length / 2);
    explore(batch.slice(0, half));
    explore(batch.slice(half));
  };

  coverage?.skip();
  failure = trial.all(target.seeds);
  coverage?.news().learn();
  while (!failure && !isEnough(inputs)) {
    const batch = Array.from({ length: BATCH }, () => {
      // The newest lead on most often.
      const newest = corpus.slice(-16);
      const input = pick(random, random.chance(0.5) ? newest : corpus);
      const other = pick(random, corpus);
      return target.mutate(input, { random, words: target.words, other });
    });
    explore(batch);
  }
  return { inputs, corpus, failure };
}
