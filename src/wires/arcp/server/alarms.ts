/**
 * One timer for everything that waits: ten thousand sessions with a heartbeat each are ten
 * thousand slots of a heap and one timer. A slot may ring early, see heap.ts: who is rung looks
 * at the clock and sets it again.
 */
import { Heap, type Slot } from "../../../core/heap.ts";
import type { Clock } from "../../../core/clock.ts";

/** Longer waits are cut in pieces: a timer of Node takes no more than 2^31 ms. */
const LONGEST_MS = 2 ** 30;

export interface AlarmListener {
  onAlarm(nowMs: number): void;
}

export type Alarm = Slot<AlarmListener>;

export class Alarms {
  readonly clock: Clock;
  readonly #heap = new Heap<AlarmListener>();
  #cancel: (() => void) | undefined;
  #armedMs = Infinity;
  #isClosed = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  nowMs(): number {
    return this.clock.monotonicMs();
  }

  /** At a moment of the monotonic clock. */
  set(atMs: number, who: AlarmListener): Alarm {
    const alarm = this.#heap.add(atMs, who);
    this.#arm();
    return alarm;
  }

  move(alarm: Alarm, atMs: number): void {
    this.#heap.move(alarm, atMs);
    this.#arm();
  }

  cancel(alarm: Alarm | undefined): void {
    if (alarm) this.#heap.remove(alarm);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    const nextMs = this.#heap.nextAt();
    if (this.#isClosed || nextMs === undefined || nextMs >= this.#armedMs) return;
    this.#cancel?.();
    this.#armedMs = nextMs;
    const delayMs = Math.min(Math.max(0, nextMs - this.nowMs()), LONGEST_MS);
    this.#cancel = this.clock.after(delayMs, () => this.#ring());
  }

  #ring(): void {
    this.#cancel = undefined;
    this.#armedMs = Infinity;
    const nowMs = this.nowMs();
    // Each slot once: one that is set again for this very moment waits for the next turn.
    const due: AlarmListener[] = [];
    for (let slot = this.#heap.takeDue(nowMs); slot; slot = this.#heap.takeDue(nowMs)) {
      due.push(slot.value);
    }
    for (const who of due) who.onAlarm(nowMs);
    this.#arm();
  }
}
