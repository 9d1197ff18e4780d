/**
 * One append, sent until its outcome is known or its time is over.
 *
 *   sent ──▶ answered: written, or fenced
 *     │  ╲─▶ refused: rolled back, sure; again if that may pass
 *     └────▶ lost: the answer, or the connection. It may be written, or will be, once the server
 *            gets to it. Sent again under its id it is found, or written, or fenced, and then the
 *            lost one is, too: all three are known. Else, in the end: OUTCOME_UNKNOWN.
 *
 * A commit that waits for a standby in vain can be cancelled by an operator. Then the server says
 * that it is done, with a warning: it has the append and the standby has not. That is lost, too.
 */
import { crc32 } from "node:zlib";
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import { fenceAt, joinEntries } from "../entries.ts";
import { RETRY } from "../limits.ts";
import type { AppendBatch, AppendOptions, LogPosition } from "../log.ts";
import { longer, waited } from "../retry.ts";
import type { StreamAppend } from "../streams.ts";
import type { Connection, SqlValue } from "./driver.ts";
import { isPassing, otherLog, postgresError, sqlState } from "./failure.ts";
import type { PostgresSession } from "./session.ts";

interface LogAppend {
  readonly batch: AppendBatch;
  readonly at: LogPosition;
  readonly options: AppendOptions;
}

interface AppendRow {
  readonly outcome: "written" | "fenced" | "other";
  readonly new_head: number;
  readonly new_mark: number;
}

export async function appendToLog(
  session: PostgresSession,
  { batch, at, options }: LogAppend,
): Promise<LogPosition> {
  const { entries, streams = [] } = batch;
  const { id, withinMs = LOG.appendWithinMs } = options;
  const body = joinEntries(entries);
  const first = at.head + 1;
  const values: readonly SqlValue[] = [
    session.logId,
    at.head,
    at.mark,
    id,
    entries.length,
    logChecksum({ first, id, body }),
    Buffer.from(body),
    ...streamValues(streams),
    session.channel,
  ];
  const marks = values.map((_, index) => `$${index + 1}`).join(", ");
  const sql = `SELECT outcome, new_head, new_mark FROM ${session.schema}.append(${marks})`;
  const { answer, isRepeated } = await sent<AppendRow>(session, {
    send: (connection) => connection.query<AppendRow>(sql, values),
    isRepeatable: true,
    withinMs,
  });
  const found = { head: answer.new_head, mark: answer.new_mark };
  switch (answer.outcome) {
    case "written":
      return found;
    case "other":
      throw otherLog(session.place);
    case "fenced":
      // Without entries of the log it would not be found again, and its streams may have theirs.
      if (isRepeated && entries.length === 0 && streams.length > 0)
        throw unknown(session, withinMs);
      throw fenceAt(found, at) ?? new RollcallError("FENCED", `append ${id} is fenced`);
  }
}

/** To streams alone: has no id, so it is sent once. Gives the new heads. */
export async function appendToStreams(
  session: PostgresSession,
  streams: readonly StreamAppend[],
): Promise<readonly number[]> {
  const sql = `SELECT ${session.schema}.append_streams($1, $2, $3, $4, $5, $6) AS heads`;
  const { answer } = await sent<{ heads: readonly number[] }>(session, {
    send: (connection) => connection.query(sql, streamValues(streams)),
    isRepeatable: false,
    withinMs: LOG.appendWithinMs,
  });
  return answer.heads;
}

/** Entries of a row of the log, with what its checksum covers. */
interface LogRow {
  readonly first: number;
  readonly id: string;
  readonly body: string;
}

/** So that a row that is damaged, or is not the one that was written there, is not believed. */
export function logChecksum({ first, id, body }: LogRow): number {
  return checksumOf(`${first} ${id}`, body);
}

export function checksumOf(place: string, body: string): number {
  const start = crc32(place);
  // Of nothing, zlib forgets the value before.
  return body === "" ? start : crc32(body, start);
}

function streamValues(streams: readonly StreamAppend[]): readonly SqlValue[] {
  const texts = streams.map(({ entries }) => joinEntries(entries));
  const bodies = texts.map((text) => Buffer.from(text));
  return [
    streams.map(({ stream }) => stream),
    streams.map(({ entries }) => entries.length),
    streams.map(({ expectedHead }) => expectedHead ?? null),
    bodies.map(({ length }) => length),
    streams.map(({ stream }, index) => checksumOf(stream, texts[index] ?? "")),
    Buffer.concat(bodies),
  ];
}

interface RetriedCall<Row> {
  readonly send: (connection: Connection) => Promise<readonly Row[]>;
  /** Whether it may be sent again when nobody knows what became of it. */
  readonly isRepeatable: boolean;
  readonly withinMs: number;
}

/** Something the server did not say, or said in a way that means nothing. */
class LostAnswer extends Error {}

async function sent<Row>(
  session: PostgresSession,
  sending: RetriedCall<Row>,
): Promise<{ readonly answer: Row; readonly isRepeated: boolean }> {
  const { withinMs, isRepeatable } = sending;
  const endsMs = performance.now() + withinMs;
  let mayBeWritten = false;
  for (let pauseMs: number = RETRY.pauseMs; ; pauseMs = longer(pauseMs)) {
    try {
      return { answer: await attempt(session, sending, endsMs), isRepeated: mayBeWritten };
    } catch (error) {
      if (error instanceof LostAnswer) mayBeWritten = true;
      else if (!mayBeWritten && !isPassing(error)) throw postgresError(error, session.place);
      const isOver = session.closing.aborted || performance.now() + pauseMs >= endsMs;
      if (mayBeWritten && (isOver || !isRepeatable)) throw unknown(session, withinMs, error);
      if (isOver) throw postgresError(error, session.place);
    }
    await waited(pauseMs, session.closing);
  }
}

/** Rejects when the time is over, whatever the server does meanwhile. */
function attempt<Row>(
  session: PostgresSession,
  { send }: RetriedCall<Row>,
  endsMs: number,
): Promise<Row> {
  let used: Connection | undefined;
  const work = (connection: Connection) => {
    used = connection;
    // Its time was over while it waited for the connection: nobody waits for it any more.
    if (performance.now() >= endsMs) throw new LateConnection();
    return answered(connection, send);
  };
  return new Promise((resolve, reject) => {
    const onLate = () => {
      // The server may go on with it. What is sent next waits for that, or is fenced by it.
      used?.end();
      reject(used ? new LostAnswer("there was no answer in time") : new LateConnection());
    };
    const timer = setTimeout(onLate, endsMs - performance.now());
    void session
      .write(async (connection) => work(connection))
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

/** Nothing was sent. */
class LateConnection extends Error {
  constructor() {
    super("there was no connection in time");
  }
}

async function answered<Row>(
  connection: Connection,
  send: (connection: Connection) => Promise<readonly Row[]>,
): Promise<Row> {
  const warnings: string[] = [];
  connection.onNotice = (code) => warnings.push(code);
  try {
    const [row] = await send(connection);
    if (!row) throw new LostAnswer("the answer is empty");
    if (warnings.includes(WARNING)) throw new LostAnswer("the wait for a standby was cancelled");
    return row;
  } catch (error) {
    if (error instanceof LostAnswer) throw error;
    if (await isRefusal(connection, error)) throw error;
    throw new LostAnswer(error instanceof Error ? error.message : String(error), { cause: error });
  } finally {
    connection.onNotice = undefined;
  }
}

/** The only one that a commit may come with. */
const WARNING = "01000";

/** A session that goes on after an error has rolled back; one that ends may have committed. */
async function isRefusal(connection: Connection, error: unknown): Promise<boolean> {
  if (sqlState(error) === undefined) return false;
  try {
    await connection.query("SELECT 1");
    return true;
  } catch {
    return false;
  }
}

function unknown(session: PostgresSession, withinMs: number, cause?: unknown): RollcallError {
  const why = cause instanceof Error ? ` (${cause.message})` : "";
  return new RollcallError(
    "OUTCOME_UNKNOWN",
    `Postgres at ${session.place} did not say within ${withinMs} ms whether it wrote${why}`,
    { cause },
  );
}
