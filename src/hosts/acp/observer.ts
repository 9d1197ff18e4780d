/**
 * Reads along. The pumps hand over every chunk after it was forwarded, and looking at it comes when
 * there is nothing to forward: a little at a time, so that the next frame does not wait.
 *
 *   note ──▶ queue ──▶ lines ──▶ look ──▶ … ──▶ queue empty: settled
 *              │ full: chunks are passed over, from where on the line is whole again: lost
 *
 * It is behind a wall: it holds at most so many bytes, it never makes anybody wait, and whatever
 * throws behind it ends the reading, not the conversation.
 */
import type { Clock } from "../../engine/clock.ts";
import { OBSERVER } from "./limits.ts";
import { Lines, type Line } from "./lines.ts";

export type Side = "client" | "agent";

export interface Onlooker {
  /** A line that this side sent, in the order of the stream. */
  look(side: Side, line: Line, atMs: number): void;
  /** Lines of that side are missing. */
  lost(side: Side, atMs: number): void;
  /** Everything that was forwarded has been looked at. */
  settled(atMs: number): void;
}

export interface ObserverOptions {
  readonly onlooker: Onlooker;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  readonly queueBytes?: number;
}

interface Noted {
  readonly side: Side;
  readonly chunk: Buffer;
  readonly atMs: number;
  /** Chunks of this side were passed over before it. */
  readonly isAfterGap: boolean;
}

export class Observer {
  readonly #options: ObserverOptions;
  readonly #queueBytes: number;
  readonly #lines: Readonly<Record<Side, Lines>> = {
    client: new Lines(OBSERVER),
    agent: new Lines(OBSERVER),
  };
  readonly #hasGap: Record<Side, boolean> = { client: false, agent: false };
  #queue: Noted[] = [];
  /** Where the queue begins: taking its first each time would move all the others. */
  #next = 0;
  #bytes = 0;
  #turn: NodeJS.Immediate | undefined;
  #isOver = false;

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#queueBytes = options.queueBytes ?? OBSERVER.queueBytes;
  }

  /** Whether there is nothing that was forwarded and not looked at. */
  get isUpToDate(): boolean {
    return this.#next === this.#queue.length;
  }

  note(side: Side, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#bytes + chunk.length > this.#queueBytes) {
      this.#hasGap[side] = true;
      return;
    }
    const atMs = this.#options.clock.monotonicMs();
    this.#queue.push({ side, chunk, atMs, isAfterGap: this.#hasGap[side] });
    this.#hasGap[side] = false;
    this.#bytes += chunk.length;
    this.#turn ??= setImmediate(this.#work);
  }

  /** Looks at what is left, lines without an end among it. Idempotent. */
  close(): void {
    if (this.#isOver) return;
    clearImmediate(this.#turn);
    this.#guarded(() => {
      while (!this.isUpToDate) this.#lookAtNext();
      const atMs = this.#options.clock.monotonicMs();
      for (const side of ["client", "agent"] as const) {
        const line = this.#lines[side].rest();
        if (line) this.#options.onlooker.look(side, line, atMs);
      }
      this.#options.onlooker.settled(atMs);
    });
    this.#end();
  }

  readonly #work = (): void => {
    this.#turn = undefined;
    const { clock, onlooker } = this.#options;
    const untilMs = clock.monotonicMs() + OBSERVER.sliceMs;
    this.#guarded(() => {
      do this.#lookAtNext();
      while (!this.isUpToDate && clock.monotonicMs() < untilMs);
      if (this.isUpToDate) onlooker.settled(clock.monotonicMs());
    });
    if (!this.#isOver && !this.isUpToDate) this.#turn = setImmediate(this.#work);
  };

  #lookAtNext(): void {
    const noted = this.#queue[this.#next];
    if (!noted) return;
    this.#next += 1;
    if (this.isUpToDate) {
      this.#queue = [];
      this.#next = 0;
    }
    const { side, chunk, atMs, isAfterGap } = noted;
    this.#bytes -= chunk.length;
    if (isAfterGap) {
      this.#lines[side].gap();
      this.#options.onlooker.lost(side, atMs);
    }
    for (const line of this.#lines[side].take(chunk)) {
      this.#options.onlooker.look(side, line, atMs);
    }
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#end();
      this.#options.onError(error);
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#queue = [];
    this.#next = 0;
    this.#bytes = 0;
  }
}
