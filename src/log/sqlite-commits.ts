/**
 * Group commit. One commit is under way at a time; what arrives meanwhile, the log's append and the
 * appends to any stream, gathers and is written by the next one, with one sync for all.
 */
import { RollcallError } from "../core/errors.ts";
import {
  encodeText,
  WAITING_BYTES,
  type Batch,
  type Commit,
  type Committed,
} from "./sqlite-protocol.ts";

interface LogAppend extends Batch {
  readonly expectedHead: number;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
}

interface StreamAppend {
  readonly text: string;
  readonly count: number;
  readonly resolve: (position: number) => void;
  readonly reject: (error: unknown) => void;
}

interface Group {
  log: LogAppend | undefined;
  readonly streams: Map<string, StreamAppend[]>;
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
  appendToStream(stream: string, entries: readonly string[]): Promise<number> {
    const text = entries.join("\n");
    if (this.#waitingBytes + text.length > WAITING_BYTES) {
      const message = `more than ${WAITING_BYTES} bytes wait to be written to the journal`;
      return Promise.reject(new RollcallError("LIMIT_EXCEEDED", message));
    }
    this.#waitingBytes += text.length;
    return new Promise((resolve, reject) => {
      const appends = this.#gathering.streams.get(stream) ?? [];
      appends.push({ text, count: entries.length, resolve, reject });
      this.#gathering.streams.set(stream, appends);
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
    for (const [index, appends] of [...streams.values()].entries()) {
      let position = committed.positions[index] ?? 0;
      for (const append of appends.toReversed()) {
        this.#waitingBytes -= append.text.length;
        append.resolve(position);
        position -= append.count;
      }
    }
  }

  /** With it go those that wait to write to the same streams: they were to come after. */
  #reject({ log, streams }: Group, error: unknown): void {
    log?.reject(error);
    for (const [stream, appends] of streams) {
      const behind = this.#gathering.streams.get(stream) ?? [];
      this.#gathering.streams.delete(stream);
      for (const append of [...appends, ...behind]) {
        this.#waitingBytes -= append.text.length;
        append.reject(error);
      }
    }
  }
}

function newGroup(): Group {
  return { log: undefined, streams: new Map() };
}

function encodeGroup({ log, streams }: Group): Commit {
  return {
    log: log && { count: log.count, bytes: log.bytes, expectedHead: log.expectedHead },
    streams: [...streams].map(([stream, appends]) => ({
      stream,
      count: appends.reduce((count, append) => count + append.count, 0),
      bytes: encodeText(appends.map((append) => append.text).join("\n")),
    })),
  };
}
