/** Where a daemon keeps what must last: the log and the streams beside it, opened as one. */
import type { Log } from "./log.ts";
import type { Streams } from "./streams.ts";

export interface Store {
  /** Its kind and place, for people: "memory", "sqlite at DIR/rollcall.db". */
  readonly description: string;
  readonly log: Log;
  /** Usable once the log is open. */
  readonly streams: Streams;
  close(): Promise<void>;
}
