/**
 * Everything that a store writes, one turn at a time: while a turn is under way the next one
 * gathers. That keeps the order of the calls, and a thousand small appends to streams are a few
 * commits.
 */
import { RollcallError } from "../core/errors.ts";
import { WRITER } from "./limits.ts";
import type { AppendBatch, AppendOptions, LogPosition } from "./log.ts";
import type { StreamAppend } from "./streams.ts";
import { headsOf, joined, streamsOf, takeTurn } from "./turns.ts";
import type { ForgetCall, LogCall, StreamsCall, AppendTurn, WriteCall } from "./turns.ts";

/** How a store does each of it. */
export interface WriterOptions {
  readonly appendToLog: (call: Pick<LogCall, "batch" | "at" | "options">) => Promise<LogPosition>;
  /** Gives the new head of each. */
  readonly appendToStreams: (parts: readonly StreamAppend[]) => Promise<readonly number[]>;
  /** May be done twice; each stream is named once. */
  readonly forget: (streams: readonly Forgotten[]) => Promise<void>;
  /** In our codes. */
  readonly errorOf: (error: unknown) => RollcallError;
}

export interface Forgotten {
  readonly stream: string;
  /** Absent: it is removed. */
  readonly through: number | undefined;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #queue: WriteCall[] = [];
  #streamBytes = 0;
  #isWriting = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  append(batch: AppendBatch, at: LogPosition, options: AppendOptions): Promise<LogPosition> {
    return new Promise((resolve, reject) => {
      this.#add({ kind: "log", batch, at, options, resolve, reject });
    });
  }

  /** To streams alone, at least one entry each. */
  appendToStreams(appends: readonly StreamAppend[]): Promise<readonly number[]> {
    const bytes = appends.reduce(
      (sum, { entries }) => entries.reduce((size, { length }) => size + length, sum),
      0,
    );
    if (this.#streamBytes + bytes > WRITER.waitingBytes) {
      const message = `more than ${WRITER.waitingBytes} bytes wait to be written to streams`;
      return Promise.reject(new RollcallError("LIMIT_EXCEEDED", message));
    }
    this.#streamBytes += bytes;
    return new Promise<readonly number[]>((resolve, reject) => {
      this.#add({ kind: "streams", appends, bytes, resolve, reject });
    }).finally(() => {
      this.#streamBytes -= bytes;
    });
  }

  /** Forgets entries up to `through`, or the streams altogether. */
  forget(streams: readonly string[], through?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add({ kind: "forget", streams, through, resolve, reject });
    });
  }

  /** When all that was called before is written, or was refused. */
  async settled(): Promise<void> {
    await this.forget([]).catch(() => undefined);
  }

  #add(call: WriteCall): void {
    this.#queue.push(call);
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // Other calls of this moment join the first turn.
    await Promise.resolve();
    for (let turn = takeTurn(this.#queue); turn; turn = takeTurn(this.#queue)) {
      const { calls } = turn;
      await this.#write(turn).catch((error: unknown) => this.#fail(calls, error));
    }
    this.#isWriting = false;
  }

  async #write(turn: AppendTurn): Promise<void> {
    switch (turn.kind) {
      case "log":
        for (const call of turn.calls) call.resolve(await this.#options.appendToLog(call));
        return;
      case "streams":
        return this.#writeStreams(turn.calls);
      case "forget":
        return this.#writeForgets(turn.calls);
    }
  }

  /** A head that is not the expected one holds back nothing else: they are tried one by one. */
  async #writeStreams(calls: readonly StreamsCall[]): Promise<void> {
    const parts = joined(calls);
    try {
      const heads = headsOf(calls, parts, await this.#options.appendToStreams(parts));
      for (const [index, { resolve }] of calls.entries()) resolve(heads[index] ?? []);
    } catch (error) {
      if (calls.length === 1 || this.#options.errorOf(error).code !== "FENCED") throw error;
      for (const call of calls) {
        await this.#writeStreams([call]).catch((reason: unknown) => this.#fail([call], reason));
      }
    }
  }

  async #writeForgets(calls: readonly ForgetCall[]): Promise<void> {
    const forgotten = calls.flatMap(({ streams, through }) =>
      streams.map((stream) => ({ stream, through })),
    );
    if (forgotten.length > 0) await this.#options.forget(forgotten);
    for (const { resolve } of calls) resolve();
  }

  /** With them fail the calls that wait to write to the same streams: they come after. */
  #fail(calls: readonly WriteCall[], error: unknown): void {
    const told = this.#options.errorOf(error);
    const failed = new Set(told.code === "FENCED" ? [] : calls.flatMap(streamsOf));
    for (const { reject } of calls) reject(told);
    for (const call of this.#queue.splice(0)) {
      const streams = streamsOf(call);
      if (streams.some((stream) => failed.has(stream))) {
        for (const stream of streams) failed.add(stream);
        call.reject(told);
      } else this.#queue.push(call);
    }
  }
}
