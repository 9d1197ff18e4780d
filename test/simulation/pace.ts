/**
 * How busy clients are. In a lull nobody asks for anything, so that a leader only shows signs of
 * life; when another node takes over they all come at once. That is when an old leader could
 * mislead them.
 */
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimDisk } from "./sim-disk.ts";

export interface PaceOptions {
  readonly scheduler: Scheduler;
  readonly disk: SimDisk;
  /** Between two things a client does, on average. */
  readonly thinkMs: number;
  /** Clients do much at once, and then nothing for a while. */
  readonly isBursty: boolean;
}

/** Between two things of a burst, at most. */
const BURST_MS = 80;
/** How long all are in a hurry after a lull. */
const RUSH_MS = 1500;
/** How often a client that rests looks whether it may go on. */
const LOOK_MS = 25;

export class Pace {
  readonly #options: PaceOptions;
  #lullUntilMs = 0;
  #rushUntilMs = 0;
  /** Terms of leading when the lull began. */
  #terms = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** Nobody asks for anything, until then or until another node leads. */
  lull(forMs: number): void {
    this.#lullUntilMs = this.#options.scheduler.nowMs + forMs;
    this.#terms = this.#options.disk.terms.length;
  }

  async rest(random: Random): Promise<void> {
    const { scheduler, thinkMs, isBursty } = this.#options;
    const isRush = scheduler.nowMs < this.#rushUntilMs;
    const busyMs = random.between(1, isBursty || isRush ? BURST_MS : 2 * thinkMs);
    const isIdle = isBursty && !isRush && random.chance(0.08);
    await scheduler.sleep(isIdle ? random.between(2000, 9000) : busyMs);
    while (this.isLull()) await scheduler.sleep(LOOK_MS);
  }

  /** Ends early when another node leads; then all are in a hurry. */
  isLull(): boolean {
    const { scheduler, disk } = this.#options;
    if (scheduler.nowMs < this.#lullUntilMs && disk.terms.length > this.#terms) {
      this.#lullUntilMs = 0;
      this.#rushUntilMs = scheduler.nowMs + RUSH_MS;
    }
    return scheduler.nowMs < this.#lullUntilMs;
  }
}
