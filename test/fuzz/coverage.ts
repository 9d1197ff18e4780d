/**
 * Which code has never run, by V8's own block coverage in this very process.
 *
 * V8 leaves a block out of its report when it ran as often as the one around it, so counts of two
 * reports cannot be compared. What can is the code that did not run: of each function the parts
 * that no report so far has covered are kept, and a report that leaves less of them is progress.
 *
 * To ask takes milliseconds, whatever was run since: so inputs are run in batches (loop.ts).
 */
import { Session, type Profiler } from "node:inspector";

/** A part of a script, from an offset up to another. */
type Span = readonly [start: number, end: number];

export class Coverage implements Disposable {
  readonly #session = new Session();
  /** By script and function. Those that never ran are not here. */
  readonly #dark = new Map<string, readonly Span[]>();
  readonly #isCounted: (url: string) => boolean;

  /** Counts only code that is loaded from now on. */
  constructor(isCounted: (url: string) => boolean) {
    this.#isCounted = isCounted;
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** How many functions have run. */
  get functions(): number {
    return this.#dark.size;
  }

  /** Forgets what ran since the last look, for good. */
  skip(): void {
    this.#take();
  }

  /** What ran since the last look, and was dark before: to be learnt, or only to be known of. */
  news(): CoverageNews {
    const changes = new Map<string, readonly Span[]>();
    for (const { scriptId, url, functions } of this.#take()) {
      if (!this.#isCounted(url)) continue;
      for (const { ranges } of functions) {
        const [whole] = ranges;
        if (!whole || whole.count === 0) continue;
        const key = `${scriptId}:${whole.startOffset}:${whole.endOffset}`;
        const known = this.#dark.get(key);
        if (known?.length === 0) continue;
        const dark = darkIn(ranges);
        const left = known ? common(known, dark) : dark;
        if (!known || sizeOf(left) < sizeOf(known)) changes.set(key, left);
      }
    }
    const learn = () => {
      for (const [key, left] of changes) this.#dark.set(key, left);
    };
    return { isNew: changes.size > 0, learn };
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }

  #take(): readonly Profiler.ScriptCoverage[] {
    let taken: readonly Profiler.ScriptCoverage[] = [];
    // A session with its own thread answers at once.
    this.#session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error) throw error;
      taken = result;
    });
    return taken;
  }
}

export interface CoverageNews {
  readonly isNew: boolean;
  readonly learn: () => void;
}

/** The parts that did not run; ranges come in order, the outer before the inner. */
function darkIn(ranges: readonly Profiler.CoverageRange[]): readonly Span[] {
  return ranges
    .filter(({ count }) => count === 0)
    .map(({ startOffset, endOffset }) => [startOffset, endOffset] as const);
}

/** The offsets that are in both lists. */
function common(one: readonly Span[], other: readonly Span[]): readonly Span[] {
  return one.flatMap(([start, end]) =>
    other
      .map(([from, to]) => [Math.max(start, from), Math.min(end, to)] as const)
      .filter(([from, to]) => from < to),
  );
}

function sizeOf(spans: readonly Span[]): number {
  return spans.reduce((sum, [start, end]) => sum + end - start, 0);
}
