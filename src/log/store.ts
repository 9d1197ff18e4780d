/** Where a daemon keeps what must last: the log and the journal beside it, opened as one. */
import type { Journal } from "./journal.ts";
import type { Log } from "./log.ts";

export interface Store {
  /** What it is and where, for people: "memory", "sqlite at DIR/rollcall.db". */
  readonly description: string;
  readonly log: Log;
  /** Usable once the log is open. */
  readonly journal: Journal;
  close(): Promise<void>;
}
