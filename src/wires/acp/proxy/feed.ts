/**
 * The way of every chunk to the observer's thread: looking at a frame never delays the next one,
 * and no fault there is a fault of the conversation.
 *
 *   chunk ──▶ handed over ──▶ … ──▶ looked at: both sides count bytes, in memory that they share
 *     │ too much waits to be looked at
 *     └──▶ passed over, until all of that was looked at and a second went by: where so much flows,
 *          it has the machine for itself; "lost" stands in its place
 *
 * Several go in one message: to wake another thread takes longer than to forward a frame. It holds
 * at most so many bytes, and it never makes anybody wait.
 */
import type { Clock } from "../../../core/clock.ts";
import type { FrameSender } from "../derive/frames.ts";
import type { ProcessExit } from "./agent-process.ts";
import { FEED } from "./limits.ts";

export type ToAttendant =
  | {
      readonly kind: "bytes";
      readonly sender: FrameSender;
      readonly chunk: Uint8Array;
      /** It begins within a line whose beginning was passed over. */
      readonly isBroken: boolean;
    }
  | { readonly kind: "lost"; readonly sender: FrameSender }
  /** Whether the line that it wanted to say was said. */
  | { readonly kind: "said"; readonly isSaid: boolean }
  | { readonly kind: "ended"; readonly how: ProcessExit };

/** A line for the client, from one who has looked at that many bytes. */
export interface FromAttendant {
  readonly line: string;
  readonly seenBytes: number;
}

/** How many bytes were looked at. */
export type SeenBytes = BigInt64Array<SharedArrayBuffer>;

export function newSeenBytes(): SeenBytes {
  return new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
}

export interface FeedOptions {
  readonly post: (messages: readonly ToAttendant[]) => void;
  readonly seen: SeenBytes;
  readonly clock: Clock;
  readonly waitingBytes?: number;
}

const NEWLINE = 10;

export class AttendantFeed {
  readonly #post: (messages: readonly ToAttendant[]) => void;
  readonly #seen: SeenBytes;
  readonly #clock: Clock;
  readonly #waitingBytes: number;
  #handedBytes = 0;
  /** One long gap tells more than many short ones. */
  readonly #isPassedOver: Record<FrameSender, boolean> = { client: false, agent: false };
  readonly #isBroken: Record<FrameSender, boolean> = { client: false, agent: false };
  #passedOverUntilMs = 0;
  #batch: ToAttendant[] = [];
  #batchBytes = 0;
  #stopTimer: (() => void) | undefined;

  constructor({ post, seen, clock, waitingBytes = FEED.waitingBytes }: FeedOptions) {
    this.#post = post;
    this.#seen = seen;
    this.#clock = clock;
    this.#waitingBytes = waitingBytes;
  }

  note(sender: FrameSender, chunk: Buffer): void {
    const waiting = this.#handedBytes - Number(Atomics.load(this.#seen, 0));
    const isOver = waiting === 0 && this.#clock.monotonicMs() >= this.#passedOverUntilMs;
    if (this.#isPassedOver[sender] && isOver) this.#isPassedOver[sender] = false;
    else if (waiting + chunk.length > this.#waitingBytes) this.#passOver(sender);
    if (this.#isPassedOver[sender]) {
      this.#isBroken[sender] = chunk.at(-1) !== NEWLINE;
      return;
    }
    this.#handedBytes += chunk.length;
    this.#batchBytes += chunk.length;
    this.#add({ kind: "bytes", sender, chunk, isBroken: this.#isBroken[sender] });
    this.#isBroken[sender] = false;
    if (this.#batchBytes >= FEED.batchBytes) this.flush();
  }

  /** Hands over the held back chunks now. */
  flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (this.#batch.length === 0) return;
    this.#post(this.#batch);
    this.#batch = [];
    this.#batchBytes = 0;
  }

  /** Whether who has looked at that much knows everything that was forwarded. */
  isAll(seenBytes: number): boolean {
    const { client, agent } = this.#isPassedOver;
    return seenBytes === this.#handedBytes && !client && !agent;
  }

  #passOver(sender: FrameSender): void {
    if (this.#isPassedOver[sender]) return;
    this.#isPassedOver[sender] = true;
    this.#passedOverUntilMs = this.#clock.monotonicMs() + FEED.restMs;
    this.#add({ kind: "lost", sender });
  }

  #add(message: ToAttendant): void {
    this.#batch.push(message);
    this.#stopTimer ??= this.#clock.after(FEED.batchMs, () => this.flush());
  }
}
