/**
 * Brings the last report to the daemon, if there is one. Nobody waits for it: only the newest
 * report counts, one is under way at a time, and a daemon that comes, goes and comes back is told
 * again by itself.
 *
 *   idle ──report──▶ under way ──▶ delivered ──20 s──▶ the same again: we are still there
 *                        │                    └──a newer one──▶ under way
 *                        └── failed ──1 s, 2 s … 15 s──▶ under way
 */
import type { Report } from "../../../core/reports.ts";
import type { Clock } from "../../../core/clock.ts";
import { PUBLISHER } from "./limits.ts";

export interface CourierOptions {
  readonly deliver: (report: Report, signal: AbortSignal) => Promise<unknown>;
  /** A report that is repeated, with what became of it since. */
  readonly renew?: (report: Report) => Report;
  readonly clock: Clock;
}

export class Courier implements AsyncDisposable {
  readonly #options: CourierOptions;
  readonly #abort = new AbortController();
  #report: Report | undefined;
  /** Under way, or waiting for a daemon that did not answer: then the newest goes. */
  #isBusy = false;
  /** A daemon took a report: so it must be told of the end. */
  #isKnown = false;
  #retryMs: number = PUBLISHER.retryMs;
  #stopTimer: () => void = () => undefined;

  constructor(options: CourierOptions) {
    this.#options = options;
  }

  send(report: Report): void {
    if (this.#abort.signal.aborted) return;
    this.#report = report;
    if (!this.#isBusy) void this.#bring();
  }

  /** Says one last thing to a daemon that knows us, within a bounded time. Idempotent. */
  async close(last?: Report): Promise<void> {
    if (this.#abort.signal.aborted) return;
    this.#stopTimer();
    this.#abort.abort();
    if (!last || !this.#isKnown) return;
    const late = AbortSignal.timeout(PUBLISHER.lastMs);
    await this.#options.deliver(last, late).catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #bring(): Promise<void> {
    const report = this.#report;
    if (!report) return;
    this.#stopTimer();
    this.#isBusy = true;
    try {
      const late = AbortSignal.timeout(PUBLISHER.answerMs);
      await this.#options.deliver(report, AbortSignal.any([this.#abort.signal, late]));
      this.#isKnown = true;
      this.#isBusy = false;
      this.#retryMs = PUBLISHER.retryMs;
      if (this.#report === report) this.#later(PUBLISHER.repeatMs);
      else void this.#bring();
    } catch {
      this.#later(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, PUBLISHER.retryMostMs);
    }
  }

  #later(afterMs: number): void {
    if (this.#abort.signal.aborted) return;
    this.#stopTimer = this.#options.clock.after(afterMs, () => {
      if (this.#report) this.#report = this.#options.renew?.(this.#report) ?? this.#report;
      void this.#bring();
    });
  }
}
