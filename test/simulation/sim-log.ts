/**
 * A log that keeps its contract the way real ones do: late, and with every freedom the contract
 * leaves. An append has a life of its own once it was sent:
 *
 *   called ──▶ under way ──▶ durable point ──▶ answered
 *                │ crash: lost, or it           │ crash, or the answer fails:
 *                ▼ arrives all the same         ▼ written, and nobody knows
 *
 * One handle belongs to one process: what it answers enters that process, or is lost with it.
 */
import { RollcallError } from "../../src/core/errors.ts";
import { checkBatch, checkReach } from "../../src/log/entries.ts";
import type { AppendBatch, Log, LogBatch, LogRange, Snapshot } from "../../src/log/log.ts";
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
  readonly failRead: number;
  readonly failFollow: number;
  readonly cutSnapshot: number;
}

export interface SimLogOptions {
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

interface Append {
  readonly batch: AppendBatch;
  readonly expectedHead: number;
  isOver: boolean;
}

/** Few, so that what happens between two pages happens often. */
const PAGE_ENTRIES = 8;

export class SimLog implements Log {
  readonly shared: boolean;
  readonly #options: SimLogOptions;
  readonly #underWay = new Set<Append>();
  #isOpen = false;

  constructor(options: SimLogOptions) {
    this.#options = options;
    this.shared = options.shared;
    options.process.onKill(() => this.#crash());
  }

  async open(): Promise<LogRange> {
    await this.#reach("failRead", "open failed");
    this.#isOpen = true;
    const { head, oldest } = this.#options.disk;
    return { head, oldest };
  }

  async append(batch: AppendBatch, expectedHead: number): Promise<void> {
    this.#checkOpen();
    checkBatch(batch);
    const { disk, random, scheduler } = this.#options;
    const faults = this.#options.faults();
    disk.asked(this.#options.node, batch.entries, expectedHead);
    const append: Append = { batch, expectedHead, isOver: false };
    if (disk.fullUntilMs > scheduler.nowMs) throw this.#failure("append refused", "STORAGE_FULL");
    if (random.chance(faults.refuse)) throw this.#failure("append refused");
    const isLate = this.shared && random.chance(faults.arriveLate);
    const delayMs = this.#delayMs() + (isLate ? random.between(50, 4000) : 0);
    const written = new Promise<RollcallError | undefined>((resolve) => {
      this.#underWay.add(append);
      scheduler.after(delayMs, () => {
        if (append.isOver) return;
        this.#underWay.delete(append);
        append.isOver = true;
        resolve(this.#write(append));
      });
    });
    if (isLate) throw this.#failure("append arrives late");
    const refusal = await this.#answered(written);
    if (random.chance(faults.loseAnswer)) throw this.#failure("answer to append lost");
    if (!refusal) return;
    this.#options.transcript.count("seen", "fenced");
    throw refusal;
  }

  async *read(after: number): AsyncGenerator<LogBatch> {
    this.#checkOpen();
    const { disk } = this.#options;
    await this.#reach("failRead", "read failed");
    const { head } = disk;
    checkReach("the log", after, disk.oldest);
    for (let position = after; position < head; position += PAGE_ENTRIES) {
      if (position > after) await this.#reach("failRead", "read failed");
      checkReach("the log", position, disk.oldest);
      const end = Math.min(head, position + PAGE_ENTRIES);
      yield { first: position + 1, entries: disk.slice(position, end) };
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<LogBatch> {
    this.#checkOpen();
    const { disk } = this.#options;
    let position = after;
    let { signs } = disk;
    const isOver = () => signal.aborted;
    while (!isOver()) {
      if (disk.head === position && disk.signs === signs) {
        await this.#unless(signal, (wake) => disk.onWrite(wake));
        continue;
      }
      const delayMs = Math.max(this.#delayMs(), this.#deafForMs());
      await this.#unless(signal, (wake) => this.#options.scheduler.after(delayMs, wake));
      if (isOver()) return;
      if (this.#options.random.chance(this.#options.faults().failFollow)) {
        throw this.#failure("follow failed");
      }
      checkReach("the log", position, disk.oldest);
      // Never a part of an append: whoever follows would show a command half done.
      const end = disk.endOfAppend(position + PAGE_ENTRIES);
      const batch = { first: position + 1, entries: disk.slice(position, end) };
      signs = disk.signs;
      position += batch.entries.length;
      yield batch;
    }
  }

  async saveSnapshot({ sequence, chunks }: Snapshot): Promise<void> {
    this.#checkOpen();
    const { disk } = this.#options;
    const saved: string[] = [];
    for await (const chunk of chunks) {
      await this.#reach("cutSnapshot", "snapshot cut half-way");
      saved.push(chunk);
    }
    if (sequence > disk.head) {
      const message = `snapshot ${sequence} is above head ${disk.head}`;
      throw new RollcallError("INVALID_ARGUMENT", message);
    }
    checkReach("the log", sequence, disk.oldest);
    disk.saveSnapshot(sequence, saved);
  }

  async loadSnapshot(atOrBefore: number): Promise<Snapshot | undefined> {
    this.#checkOpen();
    await this.#reach("failRead", "snapshot not loaded");
    const { snapshots } = this.#options.disk;
    const sequence = Math.max(...[...snapshots.keys()].filter((at) => at <= atOrBefore));
    const chunks = snapshots.get(sequence);
    return chunks && { sequence, chunks: this.#slowly(chunks) };
  }

  async truncate(through: number): Promise<void> {
    this.#checkOpen();
    const { disk } = this.#options;
    await this.#reach("cutSnapshot", "truncation failed");
    if (through <= disk.truncated) return;
    if (Math.max(...disk.snapshots.keys()) < through) {
      throw new RollcallError("WRONG_STATE", `no snapshot stands at or after ${through}`);
    }
    disk.truncate(through);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
  }

  #write({ batch, expectedHead }: Append): RollcallError | undefined {
    return this.#options.disk.write(batch, expectedHead, this.#options.node);
  }

  /** What was sent but not acknowledged may or may not have made it. */
  #crash(): void {
    const { random, transcript, node } = this.#options;
    for (const append of this.#underWay) {
      const isLost = random.chance(0.5);
      if (append.batch.entries.length > 0) {
        transcript.fault(node, isLost ? "un-synced tail lost" : "un-synced tail kept");
      }
      // To a log elsewhere it is still on its way; a local one is settled when the machine is.
      if (!isLost && this.shared) continue;
      append.isOver = true;
      if (!isLost) this.#write(append);
    }
  }

  async *#slowly(chunks: readonly string[]): AsyncGenerator<string> {
    for (const chunk of chunks) {
      await this.#reach("failRead", "snapshot not loaded");
      yield chunk;
    }
  }

  /** A round trip, at the end of which the call may fail. */
  async #reach(fault: "failRead" | "cutSnapshot", kind: string): Promise<void> {
    const { process, random } = this.#options;
    await process.sleep(this.#delayMs());
    if (random.chance(this.#options.faults()[fault])) throw this.#failure(kind);
  }

  /** The answer's way back into the process. */
  #answered<T>(answer: Promise<T>): Promise<T> {
    const { scheduler, process } = this.#options;
    return new Promise((resolve) => {
      void answer.then((value) => {
        scheduler.after(this.#delayMs(), () => process.enter(() => resolve(value)));
      });
    });
  }

  #unless(signal: AbortSignal, wait: (wake: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener("abort", wake);
        resolve();
      };
      signal.addEventListener("abort", wake);
      wait(() => this.#options.process.enter(wake));
    });
  }

  #delayMs(): number {
    const { disk, scheduler, random } = this.#options;
    const { latencyMs, slowestMs } = this.#options.faults();
    return (
      Math.max(0, disk.stalledUntilMs - scheduler.nowMs) + random.delayMs(latencyMs, slowestMs)
    );
  }

  #deafForMs(): number {
    const { disk, scheduler, node } = this.#options;
    return (disk.deafUntilMs.get(node) ?? 0) - scheduler.nowMs;
  }

  #failure(kind: string, code: "UNAVAILABLE" | "STORAGE_FULL" = "UNAVAILABLE"): RollcallError {
    this.#options.transcript.fault(
      this.#options.node,
      kind,
      code === "STORAGE_FULL" ? "(full)" : "",
    );
    return new RollcallError(code, kind);
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw new RollcallError("WRONG_STATE", "the log is not open");
    const { disk, scheduler } = this.#options;
    if (disk.brokenUntilMs > scheduler.nowMs) throw this.#failure("log unreachable");
  }
}
