/** Keeps a replica up to date with what another node writes, and notices when it falls silent. */
import { RollcallError } from "../core/errors.ts";
import { ENGINE } from "../core/limits.ts";
import type { RecordedEvent } from "../core/events.ts";
import type { Rules } from "../core/rules.ts";
import type { Log } from "../log/log.ts";
import type { Clock } from "../core/clock.ts";
import type { Lateness } from "./lateness.ts";
import { apply, type Replica } from "./replica.ts";

export interface FollowerOptions {
  readonly log: Log;
  readonly rules: Rules;
  readonly replica: Replica;
  readonly clock: Clock;
  readonly lateness: Lateness;
  readonly onApplied: (recorded: readonly RecordedEvent[]) => void;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<{ readonly target: number; readonly resolve: () => void }>();
  /** On the monotonic clock: a wall that is put forward makes no living leader silent. */
  #heardMs: number;

  /** Settles when it stopped; rejects when the log failed. */
  readonly ended: Promise<void>;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#heardMs = options.clock.monotonicMs();
    this.ended = this.#follow();
  }

  /** There was a sign of life that did not come this way. */
  hear(): void {
    this.#heardMs = this.#options.clock.monotonicMs();
  }

  /** How long nothing has been heard of a leader. */
  get silentMs(): number {
    return this.#options.clock.monotonicMs() - this.#heardMs;
  }

  /** Resolves when the replica has seen `target`; rejects when that takes too long. */
  reached(target: number): Promise<void> {
    const { replica, clock } = this.#options;
    if (replica.head >= target) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const cancel = clock.after(ENGINE.catchUpMs, () => {
        this.#waiting.delete(waiter);
        reject(new RollcallError("UNAVAILABLE", `this node has not caught up with ${target}`));
      });
      const waiter = {
        target,
        resolve: () => {
          cancel();
          resolve();
        },
      };
      this.#waiting.add(waiter);
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.ended.catch(() => undefined);
  }

  async #follow(): Promise<void> {
    const { log, rules, replica, lateness, onApplied } = this.#options;
    const { signal } = this.#stop;
    // The time before the first sign of a leader tells nothing of how late they come.
    let heardOf = 0;
    for await (const batch of log.follow(replica.head, replica.lastId, signal)) {
      if (signal.aborted) return;
      const { silentMs } = this;
      this.hear();
      onApplied(apply(replica, rules, batch));
      const { epoch } = replica.state.leadership;
      if (epoch === heardOf) lateness.heard(silentMs);
      heardOf = epoch;
      for (const waiter of this.#waiting) {
        if (waiter.target > replica.head) continue;
        this.#waiting.delete(waiter);
        waiter.resolve();
      }
    }
  }
}
