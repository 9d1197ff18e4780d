/**
 * The way from one process to the disk and back: late, and with every freedom that the contracts
 * leave. A write has a life of its own once it was sent:
 *
 *   called ──▶ under way ──▶ durable point ──▶ answered
 *                │ crash: lost, or it           │ crash, or the answer fails:
 *                ▼ arrives all the same         ▼ written, and nobody knows
 *
 * One link belongs to one process: what the disk answers enters that process, or is lost with it.
 */
import { codeOf, RollcallError } from "../../src/core/errors.ts";
import type { Process } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimDisk } from "./sim-disk.ts";
import type { Transcript } from "./transcript.ts";

/** How often the log misbehaves; all zero once the faults are over. */
export interface LogFaults {
  readonly latencyMs: number;
  readonly slowestMs: number;
  readonly refuse: number;
  readonly loseAnswer: number;
  readonly arriveLate: number;
  /** A store that lost an answer does not ask again. */
  readonly giveUp: number;
  readonly failRead: number;
  readonly failFollow: number;
  readonly cutSnapshot: number;
}

export interface SimLinkOptions {
  readonly node: string;
  readonly shared: boolean;
  readonly disk: SimDisk;
  readonly process: Process;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly transcript: Transcript;
  /** As they are now: faults begin and end. */
  readonly faults: () => LogFaults;
}

interface Write<T> {
  /** Runs at the durable point; gives an error when the write is fenced. */
  readonly perform: () => T | RollcallError;
  /** The streams it writes to: writes to one stream keep the order of the calls. */
  readonly streams: readonly string[];
  /** A crash that loses it is told: it was more than a sign of life. */
  readonly isNotable: boolean;
  /** Given for what may be sent again when the answer is lost. */
  readonly repeat?: Repeat;
}

interface Repeat {
  readonly withinMs: number;
  /** The log does not know it again for long: a repeat that is fenced may have been written. */
  readonly isForgotten: boolean;
}

/** Between two tries to learn what became of a write. */
const REPEAT_MS = 20;

interface Answer<T> {
  readonly value: T;
}

interface Sent {
  readonly perform: () => unknown;
  readonly isNotable: boolean;
  isOver: boolean;
}

export class SimLink {
  readonly options: SimLinkOptions;
  readonly #underWay = new Set<Sent>();
  /** Under way, and given up by the caller. */
  readonly #overdue = new Set<Sent>();
  readonly #closing = new AbortController();
  /** The last write to each stream that is under way. */
  readonly #last = new Map<string, Promise<unknown>>();
  #isOpen = false;

  constructor(options: SimLinkOptions) {
    this.options = options;
    options.process.onKill(() => this.#crash());
  }

  /** Aborts when the store is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  async open(): Promise<void> {
    if (this.closing.aborted) throw new RollcallError("WRONG_STATE", "the log is closed");
    await this.reach("failRead", "open failed");
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
    this.#closing.abort();
  }

  checkOpen(): void {
    if (!this.#isOpen) throw new RollcallError("WRONG_STATE", "the log is not open");
    const { disk, scheduler } = this.options;
    if (disk.brokenUntilMs > scheduler.nowMs) throw this.failure("log unreachable");
  }

  send<T>(write: Write<T>): Promise<T> {
    const before = write.streams.flatMap((stream) => this.#last.get(stream) ?? []);
    const sent = this.#sendAfter(before, write);
    for (const stream of write.streams) this.#last.set(stream, sent);
    const forget = () => {
      for (const stream of write.streams) {
        if (this.#last.get(stream) === sent) this.#last.delete(stream);
      }
    };
    sent.then(forget, forget);
    return sent;
  }

  /** Behind a write that failed to the same stream it fails as well: no gap, no reordering. */
  async #sendAfter<T>(before: readonly Promise<unknown>[], write: Write<T>): Promise<T> {
    for (const { status, reason } of before.length > 0 ? await settled(before) : []) {
      if (status === "rejected" && codeOf(reason) !== "FENCED") throw reason;
    }
    return this.#send(write);
  }

  async #send<T>(write: Write<T>): Promise<T> {
    const { disk, random, scheduler, transcript } = this.options;
    const faults = this.options.faults();
    if (disk.fullUntilMs > scheduler.nowMs) throw this.failure("append refused", "STORAGE_FULL");
    if (random.chance(faults.refuse)) throw this.failure("append refused");
    const untilMs = scheduler.nowMs + (write.repeat?.withinMs ?? Infinity);
    let isRepeat = false;
    for (;;) {
      const answer = await this.#try(write, untilMs);
      const isUnknown =
        answer?.value instanceof RollcallError && isRepeat && write.repeat?.isForgotten;
      if (answer && !isUnknown) {
        if (!(answer.value instanceof RollcallError)) return answer.value;
        transcript.count("seen", "fenced");
        throw answer.value;
      }
      if (!write.repeat) throw new RollcallError("UNAVAILABLE", "no answer from the log");
      const isOver = scheduler.nowMs + REPEAT_MS >= untilMs;
      if (isUnknown || isOver || random.chance(this.options.faults().giveUp)) {
        transcript.count("seen", "outcome unknown");
        throw new RollcallError("OUTCOME_UNKNOWN", "no answer from the log");
      }
      transcript.count("seen", "append repeated");
      await this.options.process.sleep(REPEAT_MS);
      isRepeat = true;
    }
  }

  /** Sends it once; gives the answer, or undefined when there is none in time. */
  async #try<T>(write: Write<T>, untilMs: number): Promise<Answer<T | RollcallError> | undefined> {
    const { random, scheduler, shared } = this.options;
    const faults = this.options.faults();
    const { perform, isNotable } = write;
    const isLate = shared && random.chance(faults.arriveLate);
    const delayMs = this.delayMs() + (isLate ? random.between(50, 4000) : 0);
    const sent: Sent = { perform, isNotable, isOver: false };
    const written = new Promise<T | RollcallError>((resolve) => {
      this.#underWay.add(sent);
      scheduler.after(delayMs, () => {
        if (sent.isOver) return;
        this.#underWay.delete(sent);
        this.#overdue.delete(sent);
        sent.isOver = true;
        resolve(perform());
      });
    });
    if (isLate) return this.#lost("append arrives late");
    const answer = await this.#answered(written, untilMs);
    if (answer === undefined) {
      if (!sent.isOver) this.#overdue.add(sent);
      return this.#lost("answer to append too late");
    }
    return random.chance(faults.loseAnswer) ? this.#lost("answer to append lost") : answer;
  }

  #lost(kind: string): undefined {
    this.options.transcript.fault(this.options.node, kind);
    return undefined;
  }

  /** A write that was sent but not acknowledged may or may not have made it. */
  #crash(): void {
    const { random, transcript, node, shared } = this.options;
    for (const sent of this.#underWay) {
      const isLost = random.chance(0.5);
      if (sent.isNotable) {
        transcript.fault(node, isLost ? "un-synced tail lost" : "un-synced tail kept");
      }
      // To a log elsewhere it is still on its way; a local one is settled when the machine is.
      if (!isLost && shared) continue;
      sent.isOver = true;
      if (!isLost) sent.perform();
    }
  }

  /** A round trip, at the end of which the call may fail. One's own log does not overtake. */
  async reach(fault: "failRead" | "cutSnapshot", kind: string): Promise<void> {
    const { process, random, shared } = this.options;
    await process.sleep(this.delayMs());
    while (!shared && this.#overdue.size > 0) await process.sleep(REPEAT_MS);
    if (random.chance(this.options.faults()[fault])) throw this.failure(kind);
  }

  /** The answer's way back into the process, if it comes in time. */
  #answered<T>(answer: Promise<T>, untilMs: number): Promise<Answer<T> | undefined> {
    const { scheduler, process } = this.options;
    return new Promise((resolve) => {
      const give = (result: Answer<T> | undefined) => {
        process.enter(() => resolve(result));
      };
      const cancel =
        untilMs < Infinity
          ? scheduler.after(untilMs - scheduler.nowMs, () => give(undefined))
          : () => undefined;
      void answer.then((value) => {
        scheduler.after(this.delayMs(), () => {
          cancel();
          give({ value });
        });
      });
    });
  }

  delayMs(): number {
    const { disk, scheduler, random } = this.options;
    const { latencyMs, slowestMs } = this.options.faults();
    return (
      Math.max(0, disk.stalledUntilMs - scheduler.nowMs) + random.delayMs(latencyMs, slowestMs)
    );
  }

  failure(kind: string, code: "UNAVAILABLE" | "STORAGE_FULL" = "UNAVAILABLE"): RollcallError {
    const detail = code === "STORAGE_FULL" ? "(full)" : "";
    this.options.transcript.fault(this.options.node, kind, detail);
    return new RollcallError(code, kind);
  }
}

interface Settled {
  readonly status: "fulfilled" | "rejected";
  readonly reason?: unknown;
}

function settled(promises: readonly Promise<unknown>[]): Promise<readonly Settled[]> {
  return Promise.allSettled(promises);
}
