/** A log that keeps its contract the way real ones do: see sim-link.ts for how it is reached. */
import { RollcallError } from "../../src/core/errors.ts";
import { LOG } from "../../src/core/limits.ts";
import { checkBatch, checkChain, checkReach, checkSize } from "../../src/log/entries.ts";
import type {
  AppendBatch,
  AppendOptions,
  Log,
  LogBatch,
  LogLimits,
  LogPosition,
  LogRange,
  Snapshot,
  StoredSnapshot,
} from "../../src/log/log.ts";
import type { Process } from "./process.ts";
import type { SimLink } from "./sim-link.ts";

/** Few, so that what happens between two pages happens often. */
const PAGE_ENTRIES = 8;

export class SimLog implements Log {
  readonly shared: boolean;
  readonly limits: LogLimits;
  readonly #link: SimLink;

  constructor(link: SimLink) {
    this.#link = link;
    this.shared = link.options.shared;
    this.limits = { appendBytes: this.shared ? LOG.sharedAppendBytes : LOG.ownAppendBytes };
  }

  async open(): Promise<LogRange> {
    await this.#link.open();
    const { disk } = this.#link.options;
    const { oldest, position } = disk;
    return { ...position, oldest, logId: "simulated", lastId: disk.idAt(position.head) ?? "" };
  }

  async append(
    batch: AppendBatch,
    at: LogPosition,
    { id, withinMs = LOG.appendWithinMs }: AppendOptions,
  ): Promise<LogPosition> {
    this.#link.checkOpen();
    checkBatch(batch);
    checkSize(batch, this.limits.appendBytes);
    const { disk, node } = this.#link.options;
    const { entries, streams = [] } = batch;
    disk.asked(node, entries, at.head);
    return this.#link.send({
      perform: () => disk.write(batch, { at, id, writer: node }),
      streams: streams.map(({ stream }) => stream),
      isNotable: entries.length + streams.length > 0,
      repeat: { withinMs, isForgotten: entries.length === 0 && streams.length > 0 },
    });
  }

  async *read(after: number, afterId = ""): AsyncGenerator<LogBatch> {
    this.#link.checkOpen();
    const { disk } = this.#link.options;
    await this.#link.reach("failRead", "read failed");
    const { head } = disk;
    checkReach("the log", after, disk.oldest);
    checkChain(after, afterId, disk.idAt(after));
    for (let position = after; position < head;) {
      if (position > after) await this.#link.reach("failRead", "read failed");
      checkReach("the log", position, disk.oldest);
      const batch = disk.batch(position, Math.min(head, position + PAGE_ENTRIES));
      position += batch.entries.length;
      yield batch;
    }
  }

  async *follow(
    after: number,
    afterId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    this.#link.checkOpen();
    const { disk, scheduler, random, faults } = this.#link.options;
    const waiting = new Waiting(this.#link.options.process);
    // Not AbortSignal.any: Node keeps such a signal, and with it this whole life, until it aborts.
    const ends = [signal, this.#link.closing];
    for (const end of ends) end.addEventListener("abort", waiting.end);
    let position = after;
    let id = afterId ?? "";
    let isNew = true;
    let { writes } = disk;
    const isOver = () => signal.aborted || this.#link.closing.aborted;
    try {
      while (!isOver()) {
        if (!isNew && disk.head <= position && disk.writes === writes) {
          await waiting.for((wake) => disk.onWrite(wake));
          continue;
        }
        const delayMs = Math.max(this.#link.delayMs(), this.#deafForMs());
        await waiting.for((wake) => scheduler.after(delayMs, wake));
        if (isOver()) return;
        if (random.chance(faults().failFollow)) throw this.#link.failure("follow failed");
        checkReach("the log", position, disk.oldest);
        checkChain(position, id, disk.idAt(position));
        const isSign = disk.writes > writes;
        writes = disk.writes;
        isNew = false;
        if (disk.head > position) {
          const batch = disk.batch(position, position + PAGE_ENTRIES);
          position += batch.entries.length;
          ({ id } = batch);
          yield batch;
        } else if (isSign) {
          yield { first: position + 1, entries: [], mark: disk.mark, id, previous: id };
        }
      }
    } finally {
      for (const end of ends) end.removeEventListener("abort", waiting.end);
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

  async loadSnapshot(atOrBefore: number): Promise<StoredSnapshot | undefined> {
    this.#link.checkOpen();
    await this.#link.reach("failRead", "snapshot not loaded");
    const { disk } = this.#link.options;
    const sequence = Math.max(...[...disk.snapshots.keys()].filter((at) => at <= atOrBefore));
    const chunks = disk.snapshots.get(sequence);
    return chunks && { sequence, id: disk.idAt(sequence) ?? "", chunks: this.#slowly(chunks) };
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

  #deafForMs(): number {
    const { disk, scheduler, node } = this.#link.options;
    return (disk.deafUntilMs.get(node) ?? 0) - scheduler.nowMs;
  }
}

/** Somebody who waits for one thing at a time, within a process, unless it ends. */
class Waiting {
  readonly #process: Process;
  #wake = (): void => undefined;

  constructor(process: Process) {
    this.#process = process;
  }

  for(wait: (wake: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      wait(() => this.#process.enter(resolve));
    });
  }

  readonly end = (): void => this.#wake();
}
