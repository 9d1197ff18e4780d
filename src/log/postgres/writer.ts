/**
 * Everything that this store writes, one turn at a time by one connection: while a turn is under
 * way the next one gathers. That keeps the order of the calls, and a thousand small appends to
 * streams are a few commits.
 */
import { RollcallError } from "../../core/errors.ts";
import type { AppendBatch, AppendOptions, LogPosition } from "../log.ts";
import type { StreamAppend } from "../streams.ts";
import { appendToLog, appendToStreams } from "./append.ts";
import { STREAM_FENCED, postgresError, sqlState } from "./failure.ts";
import { POSTGRES } from "./limits.ts";
import type { PostgresSession } from "./session.ts";
import { headsOf, joined, streamsOf, takeTurn } from "./turns.ts";
import type { ForgetCall, StreamsCall, AppendTurn, WriteCall } from "./turns.ts";

export class Writer {
  readonly #session: PostgresSession;
  readonly #queue: WriteCall[] = [];
  #streamBytes = 0;
  #isWriting = false;

  constructor(session: PostgresSession) {
    this.#session = session;
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
    if (this.#streamBytes + bytes > POSTGRES.waitingBytes) {
      const message = `more than ${POSTGRES.waitingBytes} bytes wait to be written to streams`;
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
        for (const call of turn.calls) call.resolve(await appendToLog(this.#session, call));
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
      const heads = headsOf(calls, parts, await appendToStreams(this.#session, parts));
      for (const [index, { resolve }] of calls.entries()) resolve(heads[index] ?? []);
    } catch (error) {
      if (calls.length === 1 || !isFenced(error)) throw error;
      for (const call of calls) {
        await this.#writeStreams([call]).catch((reason: unknown) => this.#fail([call], reason));
      }
    }
  }

  /** May be done twice, so it is tried until it is. */
  async #writeForgets(calls: readonly ForgetCall[]): Promise<void> {
    const names = calls.flatMap(({ streams }) => streams);
    const through = calls.flatMap((call) => call.streams.map(() => call.through ?? null));
    if (names.length > 0) {
      const sql = forget(this.#session.schema);
      await this.#session.run((connection) => connection.query(sql, [names, through]));
      this.#session.sweep();
    }
    for (const { resolve } of calls) resolve();
  }

  /** With them fail the calls that wait to write to the same streams: they come after. */
  #fail(calls: readonly WriteCall[], error: unknown): void {
    const told = postgresError(error, this.#session.place);
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

function isFenced(error: unknown): boolean {
  return (
    sqlState(error) === STREAM_FENCED || (error instanceof RollcallError && error.code === "FENCED")
  );
}

/** Marks what is gone, for the sweep to delete; all that is left of a removed stream. */
function forget(schema: string): string {
  return `
    WITH asked AS (SELECT * FROM unnest($1::text[], $2::bigint[]) AS each(name, through)),
    trimmed AS (
      UPDATE ${schema}.stream AS it SET trimmed = least(asked.through, it.head) FROM asked
      WHERE it.name = asked.name AND it.trimmed < least(asked.through, it.head)
        AND asked.through IS NOT NULL
      RETURNING it.id, it.trimmed AS through
    ), removed AS (
      DELETE FROM ${schema}.stream AS it USING asked
      WHERE it.name = asked.name AND asked.through IS NULL
      RETURNING it.id, it.head AS through
    )
    INSERT INTO ${schema}.garbage AS known (stream, through)
    SELECT * FROM trimmed UNION ALL SELECT * FROM removed
    ON CONFLICT (stream) DO UPDATE SET through = greatest(known.through, excluded.through)`;
}
