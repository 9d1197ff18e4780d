/**
 * The file that the Python SDK's `arcp serve --db` writes: the frames of its sessions, as they were
 * sent. Tokens and jobs it keeps in memory only, so nobody can go on with what is in it.
 */
import { connect, type Database } from "../../log/sqlite/driver.ts";

export interface SessionPart {
  readonly session: string;
  readonly afterSeq: number;
}

/** A page at a time: a session may have said more than fits into memory. */
const PAGE = 1000;
const COLUMNS = ["session_id", "event_seq", "job_id", "type", "envelope"];

export class PythonLog implements Disposable {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Undefined for any other file. */
  static async open(path: string): Promise<PythonLog | undefined> {
    const database = await connect(path);
    if (isPythonLog(database)) return new PythonLog(database);
    database.close();
    return undefined;
  }

  /** How many sessions it has frames of. */
  sessions(): number {
    const sql = "SELECT count(DISTINCT session_id) AS n FROM events";
    return this.#database.prepare<{ readonly n: number }>(sql).get()?.n ?? 0;
  }

  *frames({ session, afterSeq }: SessionPart): Generator<string> {
    const rows = this.#database.prepare<{ readonly envelope: string; readonly event_seq: number }>(
      "SELECT envelope, event_seq FROM events WHERE session_id = ? AND event_seq > ? " +
        "ORDER BY event_seq LIMIT ?",
    );
    for (let after = afterSeq; ;) {
      const page = rows.all(session, after, PAGE);
      for (const { envelope } of page) yield envelope;
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = last.event_seq;
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** Its replay adds the table to whatever it is given, so ours may have one, too. */
function isPythonLog(database: Database): boolean {
  try {
    database.exec("PRAGMA query_only = ON");
    const id = database.prepare<{ readonly application_id: number }>("PRAGMA application_id").get();
    const columns = database.prepare<{ readonly name: string }>("PRAGMA table_info(events)").all();
    const names = columns.map(({ name }) => name);
    return id?.application_id === 0 && COLUMNS.every((name) => names.includes(name));
  } catch {
    // No database, or in use by a writer that shares it with nobody.
    return false;
  }
}
