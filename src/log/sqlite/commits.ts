/**
 * Group commit. One commit is under way at a time; what is called meanwhile (the log's append, and
 * what is done to any stream) waits and is written by the next one, in order, with one sync for
 * all.
 */
import { RollcallError } from "../../core/errors.ts";
import type { AppendBatch } from "../log.ts";
import type { StreamAppend } from "../streams.ts";
import { encodeText, WAITING_BYTES, type Append, type Outcome, type Write } from "./protocol.ts";

interface Waiting {
  readonly write: Write;
  readonly bytes: number;
  readonly resolve: (heads: readonly number[]) => void;
  readonly reject: (error: unknown) => void;
}

export class Commits {
  readonly #write: (writes: readonly Write[]) => Promise<readonly Outcome[]>;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isWriting = false;

  constructor(write: (writes: readonly Write[]) => Promise<readonly Outcome[]>) {
    this.#write = write;
  }

  async appendToLog({ entries, streams = [] }: AppendBatch, expectedHead: number): Promise<void> {
    if (this.#waiting.some(({ write }) => write.kind === "append" && write.log)) {
      const message = "the log takes one append at a time: one is waiting already";
      throw new RollcallError("WRONG_STATE", message);
    }
    const log = { ...encodeEntries(entries), expectedHead };
    await this.#add({ kind: "append", log, streams: streams.map(encodeAppend) });
  }

  /** Gives the new head of each. */
  async appendToStreams(appends: readonly StreamAppend[]): Promise<readonly number[]> {
    const streams = appends.map(encodeAppend);
    const bytes = streams.reduce((sum, part) => sum + part.bytes.length, 0);
    if (this.#waitingBytes + bytes > WAITING_BYTES) {
      const message = `more than ${WAITING_BYTES} bytes wait to be written to streams`;
      throw new RollcallError("LIMIT_EXCEEDED", message);
    }
    return this.#add({ kind: "append", log: undefined, streams }, bytes);
  }

  async trim(stream: string, through: number): Promise<void> {
    await this.#add({ kind: "trim", stream, through });
  }

  async remove(stream: string): Promise<void> {
    await this.#add({ kind: "remove", stream });
  }

  /** When all that was called before is written, or was refused. */
  async settled(): Promise<void> {
    await this.appendToStreams([]).catch(() => undefined);
  }

  #add(write: Write, bytes = 0): Promise<readonly number[]> {
    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, bytes, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // What else is called in this turn of the caller joins the first commit.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        const outcomes = await this.#write(group.map(({ write }) => write));
        for (const [index, waiting] of group.entries()) this.#settle(waiting, outcomes[index]);
      } catch (error) {
        this.#fail(group, error);
      }
    }
    this.#isWriting = false;
  }

  #settle({ bytes, resolve, reject }: Waiting, outcome: Outcome | undefined): void {
    this.#waitingBytes -= bytes;
    if (outcome?.fenced) reject(new RollcallError("FENCED", outcome.fenced));
    else resolve(outcome?.heads ?? []);
  }

  /** With the group go the appends that wait to write to the same streams: they come after. */
  #fail(group: readonly Waiting[], error: unknown): void {
    const failed = new Set(group.flatMap(({ write }) => streamsOf(write)));
    const behind = this.#waiting.filter(({ write }) => {
      const streams = streamsOf(write);
      if (!streams.some((stream) => failed.has(stream))) return false;
      for (const stream of streams) failed.add(stream);
      return true;
    });
    this.#waiting = this.#waiting.filter((waiting) => !behind.includes(waiting));
    for (const { bytes, reject } of [...group, ...behind]) {
      this.#waitingBytes -= bytes;
      reject(error);
    }
  }
}

function streamsOf(write: Write): readonly string[] {
  return write.kind === "append" ? write.streams.map(({ stream }) => stream) : [];
}

function encodeEntries(entries: readonly string[]): { count: number; bytes: Uint8Array } {
  return { count: entries.length, bytes: encodeText(entries.join("\n")) };
}

function encodeAppend({ stream, entries, expectedHead }: StreamAppend): Append["streams"][number] {
  return { stream, expectedHead, ...encodeEntries(entries) };
}
