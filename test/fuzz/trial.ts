/**
 * One input tried, and what is wrong with the way it went: it threw, took too long, or took too
 * much memory. Time is the processor's: on a busy machine the clock says nothing.
 */
import { getHeapStatistics } from "node:v8";
import { Script } from "node:vm";
import type { Target } from "./target.ts";

const TRIAL = {
  /** An input of a few kilobytes that holds the event loop for longer stops everybody else. */
  cpuMs: 100,
  /** What one input may make of itself. */
  bytes: 64 * 1024 * 1024,
  /** When an input that never ends is given up, by the clock. */
  giveUpMs: 30_000,
} as const;

/** How often it must happen again: the compiler and the collector may run in any one try. */
const CONFIRMATIONS = 2;

export interface Failure {
  readonly target: string;
  readonly input: Buffer;
  readonly kind: "crash" | "hang" | "memory";
  readonly what: string;
}

export class Trial {
  readonly #target: Target;
  #current: Buffer = Buffer.alloc(0);

  constructor(target: Target) {
    this.#target = target;
  }

  /** The failure of the first that fails. Even one that never ends comes back. */
  all(inputs: readonly Buffer[]): Failure | undefined {
    let failure: Failure | undefined;
    try {
      interruptible(() => {
        for (const input of inputs) failure ??= this.#one(input);
      });
    } catch (error) {
      return this.#failed("hang", String(error));
    }
    return failure;
  }

  #one(input: Buffer): Failure | undefined {
    this.#current = input;
    const before = heldBytes();
    const startedMs = performance.now();
    try {
      this.#target.run(input);
    } catch (error) {
      return this.#failed("crash", error instanceof Error ? (error.stack ?? "") : String(error));
    }
    const isLate = performance.now() - startedMs > TRIAL.cpuMs;
    if (isLate && this.#again((cpu) => cpu > TRIAL.cpuMs)) {
      return this.#failed("hang", `more than ${TRIAL.cpuMs} ms of processor time`);
    }
    if (heldBytes() - before > TRIAL.bytes && this.#again((_, held) => held > TRIAL.bytes)) {
      return this.#failed("memory", `more than ${TRIAL.bytes} bytes`);
    }
    return undefined;
  }

  /** Whether it goes wrong every time. */
  #again(isWrong: (cpu: number, held: number) => boolean): boolean {
    for (let i = 0; i < CONFIRMATIONS; i += 1) {
      const [cpuBefore, heldBefore] = [cpuMs(), heldBytes()];
      this.#target.run(this.#current);
      if (!isWrong(cpuMs() - cpuBefore, heldBytes() - heldBefore)) return false;
    }
    return true;
  }

  #failed(kind: Failure["kind"], what: string): Failure {
    return { target: this.#target.name, input: this.#current, kind, what };
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Of the heap and beside it, garbage too. */
function heldBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

const RUN = new Script("globalThis.rollcallFuzzWork()");

/** Only a script of its own can be interrupted in a loop without an end. */
function interruptible(work: () => void): void {
  Object.assign(globalThis, { rollcallFuzzWork: work });
  RUN.runInThisContext({ timeout: TRIAL.giveUpMs });
}
