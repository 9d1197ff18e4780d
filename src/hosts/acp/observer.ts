/**
 * Reads along. The pumps hand over every chunk after it was forwarded, and looking at it comes when
 * there is nothing to forward: a little at a time, so that the next frame does not wait. When much
 * flows, it looks only now and then: an image is forwarded as fast as without it.
 *
 *   note ──▶ queue ──▶ frames ──▶ look ──▶ … ──▶ queue empty: settled
 *              │ full: chunks are passed over, until all was looked at and a line begins: lost
 *
 * It is behind a wall: it holds at most so many bytes, it never makes anybody wait, and whatever
 * throws behind it ends the reading, not the conversation.
 */
import type { Clock } from "../../engine/clock.ts";
import type { Frame, Sender } from "../../wires/acp/frames.ts";
import { FrameReader } from "../../wires/acp/reader.ts";
import { OBSERVER } from "./limits.ts";

export interface Onlooker {
  /** A frame that this side sent, in the order of the stream. */
  look(sender: Sender, frame: Frame, atMs: number): void;
  /** Frames of that side are missing. */
  lost(sender: Sender, atMs: number): void;
  /** Everything that was forwarded has been looked at. */
  settled(): void;
}

export interface ObserverOptions {
  readonly onlooker: Onlooker;
  readonly clock: Clock;
  /** When it is, in the onlooker's time. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  readonly queueBytes?: number;
}

interface Noted {
  readonly sender: Sender;
  readonly chunk: Buffer;
  readonly atMs: number;
  /** What is missing before it. */
  readonly gap: Gap;
}

/** Nothing, whole lines, or also the beginning of the next. */
type Gap = "none" | "lines" | "half a line";

const NEWLINE = 10;

export class Observer {
  readonly #options: ObserverOptions;
  readonly #queueBytes: number;
  readonly #readers: Record<Sender, FrameReader> = {
    client: new FrameReader(),
    agent: new FrameReader(),
  };
  /** What was passed over of each since the last that was taken. */
  readonly #gap: Record<Sender, Gap> = { client: "none", agent: "none" };
  /** Whose line is broken, up to its end. */
  readonly #isBroken: Record<Sender, boolean> = { client: false, agent: false };
  #queue: Noted[] = [];
  /** Where the queue begins: taking its first each time would move all the others. */
  #next = 0;
  /** How much of the first in the queue was looked at. */
  #seen = 0;
  #bytes = 0;
  /** From too much until all of it was looked at: one long gap tells more than many short ones. */
  readonly #isTooMuch: Record<Sender, boolean> = { client: false, agent: false };
  #isLooking = false;
  /** When the last chunk came, by the clock that never steps. */
  #notedAtMs = -Infinity;
  #stopWaiting: (() => void) | undefined;
  #isOver = false;

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#queueBytes = options.queueBytes ?? OBSERVER.queueBytes;
  }

  /** Whether there is nothing that was forwarded and not looked at. */
  get isUpToDate(): boolean {
    const isWhole = this.#gap.client === "none" && this.#gap.agent === "none";
    return !this.#isLooking && this.#isEmpty && isWhole;
  }

  get #isEmpty(): boolean {
    return this.#next === this.#queue.length;
  }

  note(sender: Sender, chunk: Buffer): void {
    if (this.#isOver) return;
    // Also of what is passed over: it flows all the same.
    this.#notedAtMs = this.#options.clock.monotonicMs();
    if (this.#bytes + chunk.length > this.#queueBytes) this.#isTooMuch[sender] = true;
    if (this.#isTooMuch[sender]) {
      this.#gap[sender] = chunk.at(-1) === NEWLINE ? "lines" : "half a line";
      return;
    }
    const atMs = this.#options.now();
    this.#queue.push({ sender, chunk, atMs, gap: this.#gap[sender] });
    this.#gap[sender] = "none";
    this.#bytes += chunk.length;
    this.#lookLater();
  }

  /** Looks at what is left, a line without an end among it; not for long. Idempotent. */
  close(): void {
    if (this.#isOver) return;
    this.#stopWaiting?.();
    this.#guarded(() => {
      const { onlooker, clock, now } = this.#options;
      const untilMs = clock.monotonicMs() + OBSERVER.lastMs;
      while (!this.#isEmpty && clock.monotonicMs() < untilMs) this.#lookOn();
      for (const sender of ["client", "agent"] as const) {
        for (const frame of this.#readers[sender].finish()) onlooker.look(sender, frame, now());
      }
      onlooker.settled();
    });
    this.#end();
  }

  #lookLater(): void {
    if (this.#stopWaiting) return;
    const quietMs = this.#options.clock.monotonicMs() - this.#notedAtMs;
    if (this.#bytes > OBSERVER.hurryBytes && quietMs < OBSERVER.quietMs) {
      const timer = setTimeout(this.#work, OBSERVER.hurryMs);
      this.#stopWaiting = () => clearTimeout(timer);
    } else {
      const turn = setImmediate(this.#work);
      this.#stopWaiting = () => clearImmediate(turn);
    }
  }

  readonly #work = (): void => {
    this.#stopWaiting = undefined;
    const { clock, onlooker } = this.#options;
    const untilMs = clock.monotonicMs() + OBSERVER.sliceMs;
    this.#guarded(() => {
      do this.#lookOn();
      while (!this.#isEmpty && clock.monotonicMs() < untilMs);
      if (!this.#isEmpty) return;
      this.#tellGaps();
      onlooker.settled();
    });
    if (!this.#isOver && !this.#isEmpty) this.#lookLater();
  };

  /** A piece of the first in the queue: a chunk may hold hundreds of frames. */
  #lookOn(): void {
    const noted = this.#queue[this.#next];
    if (!noted) return;
    const { sender, chunk, atMs, gap } = noted;
    const from = this.#seen;
    const piece = chunk.subarray(from, from + OBSERVER.pieceBytes);
    this.#seen += piece.length;
    this.#bytes -= piece.length;
    if (this.#seen >= chunk.length) this.#leaveFirst();
    // A piece may hold the end of a turn behind what changed in it.
    this.#isLooking = true;
    if (gap !== "none" && from === 0) this.#break(sender, gap, atMs);
    for (const frame of this.#readers[sender].push(this.#whole(sender, piece))) {
      this.#options.onlooker.look(sender, frame, atMs);
    }
    this.#isLooking = false;
  }

  #leaveFirst(): void {
    this.#next += 1;
    this.#seen = 0;
    if (!this.#isEmpty) return;
    this.#queue = [];
    this.#next = 0;
    this.#isTooMuch.client = this.#isTooMuch.agent = false;
  }

  /** Nothing may come after what was passed over: it is told all the same. */
  #tellGaps(): void {
    for (const sender of ["client", "agent"] as const) {
      const gap = this.#gap[sender];
      this.#gap[sender] = "none";
      if (gap !== "none") this.#break(sender, gap, this.#options.now());
    }
  }

  #break(sender: Sender, gap: Gap, atMs: number): void {
    this.#readers[sender] = new FrameReader();
    this.#isBroken[sender] = gap === "half a line";
    this.#options.onlooker.lost(sender, atMs);
  }

  /** Without the rest of a line whose beginning is missing. */
  #whole(sender: Sender, chunk: Buffer): Buffer {
    if (!this.#isBroken[sender]) return chunk;
    const newline = chunk.indexOf(NEWLINE);
    this.#isBroken[sender] = newline === -1;
    return chunk.subarray(newline === -1 ? chunk.length : newline + 1);
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
    this.#seen = 0;
    this.#bytes = 0;
  }
}
