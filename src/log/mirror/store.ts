/**
 * A store that members share, with a mirror of its log on this machine (mirror.ts).
 *
 *   appends, streams, snapshots for all ─────────────▶ the shared store
 *   followers ◀── what is new ─────────┬────────────── the shared store
 *                                      ▼
 *   replays, starts ◀── entries ◀── the mirror, then the shared store for the rest
 *
 * The shared store decides: where the log stands, what is appended, what was truncated. Whatever
 * the mirror cannot give, or gives wrongly, is read from there.
 */
import { isAbsolute } from "node:path";
import type {
  AppendBatch,
  AppendOptions,
  Log,
  LogBatch,
  LogLimits,
  LogMirror,
  LogPosition,
  LogPrograms,
  LogRange,
  Snapshot,
  StoredSnapshot,
} from "../log.ts";
import type { Store } from "../store.ts";
import { Mirror } from "./mirror.ts";

export interface MirroredStoreOptions {
  readonly store: Store;
  /** Of the mirror, a file of SQLite; its folder is there. */
  readonly path: string;
  readonly writtenBy?: string;
  /** Of what an operator should know. */
  readonly onWarning?: (message: string) => void;
}

export function mirroredStore(options: MirroredStoreOptions): Store {
  const { store, path, writtenBy = "rollcall", onWarning = () => undefined } = options;
  if (!isAbsolute(path)) throw new Error(`the path of a mirror is ${path}: expected it in full`);
  const mirror = new Mirror({ from: store.log, path, writtenBy, onWarning });
  const close = async () => {
    await Promise.all([mirror.close(), store.close()]);
  };
  const log = new MirroredLog(store.log, mirror, close);
  return { description: store.description, log, streams: store.streams, close };
}

class MirroredLog implements Log {
  readonly #log: Log;
  readonly #mirror: Mirror;
  readonly #close: () => Promise<void>;
  #oldest = 1;

  constructor(log: Log, mirror: Mirror, close: () => Promise<void>) {
    this.#log = log;
    this.#mirror = mirror;
    this.#close = close;
  }

  get shared(): boolean {
    return this.#log.shared;
  }

  get limits(): LogLimits {
    return this.#log.limits;
  }

  get programs(): LogPrograms | undefined {
    return this.#log.programs;
  }

  get mirror(): LogMirror {
    return this.#mirror;
  }

  async open(): Promise<LogRange> {
    const range = await this.#log.open();
    this.#oldest = range.oldest;
    await this.#mirror.open(range);
    return range;
  }

  async append(batch: AppendBatch, at: LogPosition, options: AppendOptions): Promise<LogPosition> {
    const position = await this.#log.append(batch, at, options);
    const { entries } = batch;
    this.#mirror.add({ first: at.head + 1, entries, id: options.id, previous: "" });
    return position;
  }

  async *read(after: number, afterId = ""): AsyncGenerator<LogBatch> {
    let at = after;
    let id = afterId;
    if (after + 1 >= this.#oldest) {
      for await (const batch of this.#mirror.read(after, afterId)) {
        at = batch.first + batch.entries.length - 1;
        ({ id } = batch);
        yield batch;
      }
    }
    yield* this.#log.read(at, id);
  }

  async *follow(
    after: number,
    afterId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    for await (const batch of this.#log.follow(after, afterId, signal)) {
      this.#mirror.add(batch);
      yield batch;
    }
  }

  /** By way of the mirror, where that has come so far: so it has one of its own, too. */
  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    const { sequence } = snapshot;
    const isKept = await this.#mirror.keep(snapshot);
    const kept = isKept ? await this.#mirror.newest() : undefined;
    await this.#log.saveSnapshot(kept?.sequence === sequence ? kept : snapshot);
  }

  loadSnapshot(atOrBefore: number): Promise<StoredSnapshot | undefined> {
    return this.#log.loadSnapshot(atOrBefore);
  }

  async truncate(through: number): Promise<void> {
    await this.#log.truncate(through);
    this.#oldest = Math.max(this.#oldest, through + 1);
  }

  close(): Promise<void> {
    return this.#close();
  }
}
