/**
 * The contracts of log.ts and streams.ts as cases that any store can be put through, ours and
 * yours. They need no test runner of ours:
 *
 *   const cases = storeConformance({ medium, isDurable: true, isShared: false });
 *   test.each(cases)("%s", (_title, run) => run());
 *
 * Every case gets a medium of its own and leaves nothing behind.
 */
import { streamCases } from "./conformance-streams.ts";
import { batchCases } from "./conformance-batch.ts";
import { chainCases, durableChainCases, sharedChainCases } from "./conformance-chain.ts";
import { inCase, type Check, type ConformanceCase, type Medium } from "./conformance-case.ts";
import { logCases } from "./conformance-log.ts";
import { durableCases, sharedCases } from "./conformance-openers.ts";
import { snapshotCases } from "./conformance-snapshot.ts";

export type { ConformanceCase, Medium };

export interface ConformanceOptions {
  /** A new, empty place to keep things. */
  readonly medium: () => Promise<Medium>;
  /** What was written is there for a store that is opened after this one closed. */
  readonly isDurable: boolean;
  /** Several stores may be open on one medium. */
  readonly isShared: boolean;
}

export function storeConformance(options: ConformanceOptions): readonly ConformanceCase[] {
  const cases: readonly (readonly [string, Check])[] = [
    ...logCases,
    ...chainCases,
    ...snapshotCases,
    ...batchCases,
    ...streamCases,
    ...(options.isDurable ? [...durableCases, ...durableChainCases] : []),
    ...(options.isShared ? [...sharedCases, ...sharedChainCases] : []),
  ];
  return cases.map(([title, check]) => [title, () => inCase(options.medium, check)]);
}
