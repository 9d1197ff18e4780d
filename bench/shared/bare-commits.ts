/** What one durable answer costs at least: a row in SQLite, synced, and nothing around it. */
import { connect, type Database } from "../../src/log/sqlite/driver.ts";
import { percentile } from "../measure.ts";

const COMMITS = 500;
/** About as long as the events of a submitted job. */
const ROW = "f".repeat(500);

export class BareCommits implements Disposable {
  readonly #database: Database;

  static async open(path: string): Promise<BareCommits> {
    const database = await connect(path);
    database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE e (text TEXT)");
    return new BareCommits(database);
  }

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Of some hundred, one after the other. */
  p99Ms(): number {
    const insert = this.#database.prepare("INSERT INTO e (text) VALUES (?)");
    const times = Array.from({ length: COMMITS }, () => {
      const startMs = performance.now();
      insert.run(ROW);
      return performance.now() - startMs;
    });
    return percentile(times, 0.99);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
