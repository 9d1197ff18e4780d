/**
 * Where the events of one job stand in the stream of the session that owns it, as a few pieces:
 * the history of a job is read from there, and not from all that session ever heard. When there
 * are too many pieces the two nearest become one, with a little in between that is not the job's.
 */
import { SPANS } from "./limits.ts";

/** From the first to the last position, both included. */
export type Piece = readonly [first: number, last: number];

export class Spans {
  readonly #pieces: [number, number][];

  constructor(pieces: readonly Piece[] = []) {
    this.#pieces = pieces.map(([first, last]) => [first, last]);
  }

  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  get last(): number {
    return this.#pieces.at(-1)?.[1] ?? 0;
  }

  get first(): number {
    return this.#pieces[0]?.[0] ?? 0;
  }

  /** Positions only grow. */
  add(position: number): void {
    const end = this.#pieces.at(-1);
    if (end?.[1] === position - 1) {
      end[1] = position;
      return;
    }
    this.#pieces.push([position, position]);
    if (this.#pieces.length > SPANS.perJob) this.#join();
  }

  #join(): void {
    let nearest = 1;
    for (let i = 2; i < this.#pieces.length; i += 1) {
      if (this.#gapBefore(i) < this.#gapBefore(nearest)) nearest = i;
    }
    const [taken] = this.#pieces.splice(nearest, 1);
    const before = this.#pieces[nearest - 1];
    if (taken && before) before[1] = taken[1];
  }

  #gapBefore(index: number): number {
    return (this.#pieces[index]?.[0] ?? 0) - (this.#pieces[index - 1]?.[1] ?? 0);
  }
}
