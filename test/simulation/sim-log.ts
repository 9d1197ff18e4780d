/** A log that keeps its contract the way real ones do: see sim-link.ts for how it is reached. */
import { RollcallError } from "../../src/core/errors.ts";
import { checkBatch, checkReach } from "../../src/log/entries.ts";
import type { AppendBatch, Log, LogBatch, LogRange, Snapshot } from "../../src/log/log.ts";
import type { SimLink } from "./sim-link.ts";

/** Few, so that what happens between two pages happens often. */
const PAGE_ENTRIES = 8;

export class SimLog implements Log {
  readonly shared: boolean;
  readonly #link: SimLink;

  constructor(link: SimLink) {
    this.#link = link;
    this.shared = link.options.shared;
  }

  async open(): Promise<LogRange> {
    await this.#link.open();
    const { head, oldest } = this.#link.options.disk;
    return { head, oldest };
  }

  async append(batch: AppendBatch, expectedHead: number): Promise<void> {
    this.#link.checkOpen();
    checkBatch(batch);
    const { disk, node } = this.#link.options;
    const { entries, streams = [] } = batch;
    disk.asked(node, entries, expectedHead);
    await this.#link.send({
      perform: () => disk.write(batch, expectedHead, node),
      streams: streams.map(({ stream }) => stream),
      isNotable: entries.length + streams.length > 0,
    });
  }

  async *read(after: number): AsyncGenerator<LogBatch> {
    this.#link.checkOpen();
    const { disk } = this.#link.options;
    await this.#link.reach("failRead", "read failed");
    const { head } = disk;
    checkReach("the log", after, disk.oldest);
    for (let position = after; position < head;) {
      if (position > after) await this.#link.reach("failRead", "read failed");
      checkReach("the log", position, disk.oldest);
      const end = Math.min(head, disk.endOfAppend(position + PAGE_ENTRIES));
      yield { first: position + 1, entries: disk.slice(position, end) };
      position = end;
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<LogBatch> {
    this.#link.checkOpen();
    const { disk, scheduler, random, faults } = this.#link.options;
    // Not AbortSignal.any: Node keeps such a signal, and with it this whole life, until it aborts.
    const ends = [signal, this.#link.closing];
    let position = after;
    let { signs } = disk;
    const isOver = () => ends.some(({ aborted }) => aborted);
    while (!isOver()) {
      if (disk.head === position && disk.signs === signs) {
        await this.#unless(ends, (wake) => disk.onWrite(wake));
        continue;
      }
      const delayMs = Math.max(this.#link.delayMs(), this.#deafForMs());
      await this.#unless(ends, (wake) => scheduler.after(delayMs, wake));
      if (isOver()) return;
      if (random.chance(faults().failFollow)) throw this.#link.failure("follow failed");
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
    this.#link.checkOpen();
    const { disk } = this.#link.options;
    const saved: string[] = [];
    for await (const chunk of chunks) {
      await this.#link.reach("cutSnapshot", "snapshot cut half-way");
      saved.push(chunk);
    }
    this.#link.checkOpen();
    if (sequence > disk.head) {
      const message = `snapshot ${sequence} is above head ${disk.head}`;
      throw new RollcallError("INVALID_ARGUMENT", message);
    }
    checkReach("the log", sequence, disk.oldest);
    disk.saveSnapshot(sequence, saved);
  }

  async loadSnapshot(atOrBefore: number): Promise<Snapshot | undefined> {
    this.#link.checkOpen();
    await this.#link.reach("failRead", "snapshot not loaded");
    const { snapshots } = this.#link.options.disk;
    const sequence = Math.max(...[...snapshots.keys()].filter((at) => at <= atOrBefore));
    const chunks = snapshots.get(sequence);
    return chunks && { sequence, chunks: this.#slowly(chunks) };
  }

  async truncate(through: number): Promise<void> {
    this.#link.checkOpen();
    const { disk } = this.#link.options;
    await this.#link.reach("cutSnapshot", "truncation failed");
    if (through <= disk.truncated) return;
    if (Math.max(...disk.snapshots.keys()) < through) {
      throw new RollcallError("WRONG_STATE", `no snapshot stands at or after ${through}`);
    }
    disk.truncate(through);
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  async *#slowly(chunks: readonly string[]): AsyncGenerator<string> {
    for (const chunk of chunks) {
      await this.#link.reach("failRead", "snapshot not loaded");
      yield chunk;
    }
  }

  #unless(ends: readonly AbortSignal[], wait: (wake: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        for (const signal of ends) signal.removeEventListener("abort", wake);
        resolve();
      };
      for (const signal of ends) signal.addEventListener("abort", wake);
      wait(() => this.#link.options.process.enter(wake));
    });
  }

  #deafForMs(): number {
    const { disk, scheduler, node } = this.#link.options;
    return (disk.deafUntilMs.get(node) ?? 0) - scheduler.nowMs;
  }
}
