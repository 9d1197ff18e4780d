/**
 * Group commit. One commit is under way at a time; what arrives meanwhile, the log's append and the
 * appends to any stream, gathers and is written by the next one, with one sync for all.
 */
import { RollcallError } from "../../core/errors.ts";
import type { JournalAppend } from "../journal.ts";
import { encodeText, WAITING_BYTES, type Batch, type Commit, type Committed } from "./protocol.ts";

interface LogAppend extends Batch {
  readonly expectedHead: number;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
}

/** What is written together, all or nothing: to one stream, or to several. */
interface StreamsAppend {
  readonly bytes: number;
  readonly streams: readonly string[];
  /** Of the last entry of each stream, as the commit tells them. */
  readonly positions: number[];
  readonly resolve: (positions: readonly number[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The part of it that goes to one stream. */
interface Part {
  readonly text: string;
  readonly count: number;
  readonly of: StreamsAppend;
}

interface Group {
  log: LogAppend | undefined;
  readonly streams: Map<string, Part[]>;
}

export function encodeEntries(entries: readonly string[]): Batch {
  return { count: entries.length, bytes: encodeText(entries.join("\n")) };
}

export class Commits {
  readonly #write: (commit: Commit) => Promise<Committed>;
  #gathering: Group = newGroup();
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;

  constructor(write: (commit: Commit) => Promise<Committed>) {
    this.#write = write;
  }

  appendToLog(batch: Batch, expectedHead: number): Promise<Committed> {
    if (this.#gathering.log) {
      const message = "the log takes one append at a time: one is waiting already";
      return Promise.reject(new RollcallError("WRONG_STATE", message));
    }
    return new Promise((resolve, reject) => {
      this.#gathering.log = { ...batch, expectedHead, resolve, reject };
      this.#start();
    });
  }

  /** Gives the position of the last entry. */
  async appendToStream(stream: string, entries: readonly string[]): Promise<number> {
    const [position] = await this.appendToStreams([{ stream, entries }]);
    return position ?? 0;
  }

  /** One group is one transaction, so what is gathered together is written together. */
  appendToStreams(appends: readonly JournalAppend[]): Promise<readonly number[]> {
    const texts = appends.map(({ entries }) => entries.join("\n"));
    const bytes = texts.reduce((sum, text) => sum + text.length, 0);
    if (this.#waitingBytes + bytes > WAITING_BYTES) {
      const message = `more than ${WAITING_BYTES} bytes wait to be written to the journal`;
      return Promise.reject(new RollcallError("LIMIT_EXCEEDED", message));
    }
    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      const streams = appends.map(({ stream }) => stream);
      const of: StreamsAppend = { bytes, streams, positions: [], resolve, reject };
      for (const [index, { stream, entries }] of appends.entries()) {
        const parts = this.#gathering.streams.get(stream) ?? [];
        parts.push({ text: texts[index] ?? "", count: entries.length, of });
        this.#gathering.streams.set(stream, parts);
      }
      this.#start();
    });
  }

  /** When all that was asked for so far is written, or was refused. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #start(): void {
    this.#writing ??= this.#writeGroups().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeGroups(): Promise<void> {
    // What else is asked for in this turn of the caller joins the first group.
    await Promise.resolve();
    while (this.#gathering.log || this.#gathering.streams.size > 0) {
      const group = this.#gathering;
      this.#gathering = newGroup();
      try {
        this.#resolve(group, await this.#write(encodeGroup(group)));
      } catch (error) {
        this.#reject(group, error);
      }
    }
  }

  #resolve({ log, streams }: Group, committed: Committed): void {
    log?.resolve(committed);
    const appends = new Set<StreamsAppend>();
    for (const [index, [stream, parts]] of [...streams].entries()) {
      let position = committed.positions[index] ?? 0;
      for (const { count, of } of parts.toReversed()) {
        of.positions[of.streams.indexOf(stream)] = position;
        position -= count;
      }
      for (const { of } of parts) appends.add(of);
    }
    for (const append of appends) {
      this.#waitingBytes -= append.bytes;
      append.resolve(append.positions);
    }
  }

  /** With it go those that wait to write to the same streams: they were to come after. */
  #reject({ log, streams }: Group, error: unknown): void {
    log?.reject(error);
    const failed = new Set([...streams.values()].flat().map(({ of }) => of));
    // A set gives what is added to it meanwhile, too: those behind those behind.
    for (const { streams: names } of failed) {
      for (const name of names) {
        for (const { of } of this.#gathering.streams.get(name) ?? []) failed.add(of);
        this.#gathering.streams.delete(name);
      }
    }
    for (const append of failed) {
      this.#waitingBytes -= append.bytes;
      append.reject(error);
    }
  }
}

function newGroup(): Group {
  return { log: undefined, streams: new Map() };
}

function encodeGroup({ log, streams }: Group): Commit {
  return {
    log: log && { count: log.count, bytes: log.bytes, expectedHead: log.expectedHead },
    streams: [...streams].map(([stream, parts]) => ({
      stream,
      count: parts.reduce((count, part) => count + part.count, 0),
      bytes: encodeText(parts.map((part) => part.text).join("\n")),
    })),
  };
}
