/**
 * When this machine was started, by its clock on the wall. Linux counts the starts of processes
 * from then. The moment moves with that clock: where the clock is set back, so is all that was
 * told by it, and a process that began before would seem to begin only later. A clock that is put
 * forward changes nothing here: files that were written before still name the times of before.
 *
 * It is read anew when the wall has moved against the clock that never steps, as it also seems to
 * when the machine slept; so nearly always it is read once.
 */
import { readFileSync } from "node:fs";
import { SECOND } from "../core/units.ts";

/** Ordinary corrections are smaller. */
const STEP_MS = SECOND;

export interface BootClocks {
  wallMs(): number;
  monotonicMs(): number;
  /** NaN where the system does not tell. */
  bootedAtMs(): number;
}

export class BootTime {
  readonly #clocks: BootClocks;
  #atMs = Infinity;
  #offsetMs = NaN;

  constructor(clocks: BootClocks = SYSTEM) {
    this.#clocks = clocks;
  }

  atMs(): number {
    const offsetMs = this.#clocks.wallMs() - this.#clocks.monotonicMs();
    if (!(Math.abs(offsetMs - this.#offsetMs) <= STEP_MS)) {
      this.#atMs = Math.min(this.#atMs, this.#clocks.bootedAtMs());
      this.#offsetMs = offsetMs;
    }
    return this.#atMs;
  }
}

/** Told in whole seconds. */
const SYSTEM: BootClocks = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  bootedAtMs: () => 1000 * Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "latin1"))?.[1]),
};
