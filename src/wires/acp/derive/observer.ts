/**
 * A deriver that lives: with a clock, with timers for silence and for the calm of a display. Frames
 * go in as they come, records go to a callback.
 */
import { EngineTime, type Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import type { AcpExit } from "./connection.ts";
import { AcpDamper } from "./damper.ts";
import { AcpDeriver, type AcpDeriverOptions } from "./deriver.ts";
import type { AcpFrame, FrameSender } from "./frames.ts";
import type { AcpRecord } from "./record.ts";

export interface AcpObserverOptions extends AcpDeriverOptions {
  /** Every change instead of what a person can follow. */
  readonly isRaw?: boolean;
  /** Told of every change as well, before anything is shown. */
  readonly onChange?: (record: AcpRecord, atMs: number) => void;
  readonly clock?: Clock;
}

/** A gap between the clocks that is no correction: the machine slept. */
const SLEPT_MS = 1000;

export class AcpObserver implements AsyncDisposable {
  readonly deriver: AcpDeriver;
  readonly #damper: AcpDamper | undefined;
  readonly #onRecord: (record: AcpRecord, atMs: number) => void;
  readonly #onChange: ((record: AcpRecord, atMs: number) => void) | undefined;
  readonly #clock: Clock;
  readonly #time: EngineTime;
  #gapMs: number;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;
  #isClosed = false;

  constructor(
    onRecord: (record: AcpRecord, atMs: number) => void,
    options: AcpObserverOptions = {},
  ) {
    const { isRaw = false, onChange, clock = systemClock } = options;
    this.deriver = new AcpDeriver(options);
    this.#damper = isRaw ? undefined : new AcpDamper();
    this.#onRecord = onRecord;
    this.#onChange = onChange;
    this.#clock = clock;
    this.#time = new EngineTime(clock);
    this.#gapMs = clock.wallMs() - clock.monotonicMs();
  }

  /** The time that records are told with: milliseconds since 1970 that never fall. */
  nowMs(): number {
    return this.#time.nowMs();
  }

  observe(sender: FrameSender, frame: AcpFrame): void {
    this.#act((nowMs) => this.deriver.observe(sender, frame, nowMs));
  }

  /** Frames are missing: their reader could not follow. */
  lost(): void {
    this.#act((nowMs) => this.deriver.lost(nowMs));
  }

  exited(exit: AcpExit): void {
    this.#act((nowMs) => this.deriver.exited(exit, nowMs));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #act(derive: (nowMs: number) => readonly AcpRecord[]): void {
    if (this.#isClosed) return;
    const nowMs = this.#now();
    this.#tell(derive(nowMs), nowMs);
  }

  /** The time of now, after a sleep with the deriver told of it. */
  #now(): number {
    const gapMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    const hasSlept = gapMs - this.#gapMs > SLEPT_MS;
    this.#gapMs = gapMs;
    const nowMs = this.#time.nowMs();
    if (hasSlept) this.#tell(this.deriver.woke(nowMs), nowMs);
    return nowMs;
  }

  #tell(records: readonly AcpRecord[], nowMs: number): void {
    for (const record of records) {
      this.#onChange?.(record, nowMs);
      const shown = this.#damper?.offer(record, nowMs) ?? [record];
      for (const each of shown) this.#onRecord(each, nowMs);
    }
    this.#wind(nowMs);
  }

  #ring(): void {
    this.#timer = undefined;
    const nowMs = this.#now();
    for (const record of this.#damper?.tick(nowMs) ?? []) this.#onRecord(record, nowMs);
    this.#tell(this.deriver.tick(nowMs), nowMs);
  }

  #wind(nowMs: number): void {
    const atMs = Math.min(
      this.deriver.nextDeadlineMs ?? Infinity,
      this.#damper?.nextDeadlineMs ?? Infinity,
    );
    // A timer that rings too early winds itself again; frames push deadlines back all the time.
    if (atMs === Infinity || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return;
    this.#timer?.cancel();
    const cancel = this.#clock.after(Math.max(0, atMs - nowMs), () => this.#ring());
    this.#timer = { atMs, cancel };
  }
}
