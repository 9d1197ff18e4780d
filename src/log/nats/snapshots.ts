/**
 * Snapshots: pieces of text, many to a message, in a stream of JetStream of their own, so that they
 * do not stand in the way of appends, and at a pace that leaves the disks to these. One counts from
 * the moment that the log's meta names it.
 */
import { randomUUID } from "node:crypto";
import { RollcallError } from "../../core/errors.ts";
import { checkReach } from "../entries.ts";
import { SNAPSHOT } from "../limits.ts";
import type { Snapshot, StoredSnapshot } from "../log.ts";
import { Pace } from "../pace.ts";
import { answerOf } from "./driver.ts";
import type { StreamInfo } from "./layout.ts";
import { NATS } from "./limits.ts";
import { changeMeta, readMeta, type Meta, type SnapshotMeta } from "./meta.ts";
import type { NatsSession } from "./session.ts";

export interface SnapshotsOptions {
  readonly session: NatsSession;
  /** The append that wrote an entry. */
  readonly idAt: (sequence: number) => Promise<string>;
}

export class Snapshots {
  readonly #session: NatsSession;
  readonly #idAt: (sequence: number) => Promise<string>;

  constructor({ session, idAt }: SnapshotsOptions) {
    this.#session = session;
    this.#idAt = idAt;
  }

  async save({ sequence, chunks }: Snapshot): Promise<void> {
    this.#session.checkOpen();
    const key = `${Date.now()}-${randomUUID()}`;
    try {
      const pieces = await this.#write(key, chunks);
      let replaced: readonly string[] = [];
      await changeMeta(this.#session, async (meta) => {
        const id = await this.#check(meta, sequence);
        const kept = meta.snapshots.filter((each) => each.sequence !== sequence);
        replaced = keysOf(meta).filter((each) => !kept.some((other) => other.key === each));
        return { ...meta, snapshots: [...kept, { sequence, id, key, pieces }] };
      });
      await this.drop(replaced);
    } catch (error) {
      await this.drop([key]).catch(() => undefined);
      throw error;
    }
    void this.#sweep().catch(() => undefined);
  }

  /** Whether it can stand there; gives the append that it stands on. */
  async #check({ oldest }: Meta, sequence: number): Promise<string> {
    const { head } = await this.#session.look();
    if (sequence > head) {
      const message = `snapshot ${sequence} is above head ${head}`;
      throw new RollcallError("INVALID_ARGUMENT", message);
    }
    checkReach("the log", sequence, oldest);
    return this.#idAt(sequence);
  }

  /** Gives the number of messages. */
  async #write(key: string, chunks: Snapshot["chunks"]): Promise<number> {
    const pace = new Pace(this.#session.closing);
    let pieces = 0;
    let gathered: string[] = [];
    let length = 0;
    const add = async () => {
      const sizes = gathered.map((piece) => piece.length).join(" ");
      const body = `${sizes}\n${gathered.join("")}`;
      const subject = this.#subject(key, pieces);
      // Written again it is there twice, and the last one counts.
      await this.#session.run(async (connection) => {
        const answer = await connection.request({ subject, body, headers: {} }, 4 * NATS.answerMs);
        answerOf(answer.data);
      });
      pieces += 1;
      gathered = [];
      length = 0;
      await pace.wrote(body.length);
    };
    for await (const chunk of chunks) {
      this.#session.checkOpen();
      gathered.push(chunk);
      length += chunk.length;
      if (length >= SNAPSHOT.chunkBytes) await add();
    }
    this.#session.checkOpen();
    if (gathered.length > 0) await add();
    return pieces;
  }

  async load(atOrBefore: number): Promise<StoredSnapshot | undefined> {
    this.#session.checkOpen();
    const { meta } = await readMeta(this.#session);
    const [newest] = meta.snapshots
      .filter(({ sequence }) => sequence <= atOrBefore)
      .toSorted((a, b) => b.sequence - a.sequence);
    return newest && { sequence: newest.sequence, id: newest.id, chunks: this.#read(newest) };
  }

  async *#read({ key, pieces, sequence }: SnapshotMeta): AsyncGenerator<string> {
    for (let n = 0; n < pieces; n += 1) {
      const text = await this.#piece(this.#subject(key, n));
      if (text === undefined) {
        const message = `the snapshot at ${sequence} was dropped while it was read`;
        throw new RollcallError("OUT_OF_RANGE", message);
      }
      yield* piecesOf(text);
    }
  }

  /** By any server, and by the leader where that one lags. */
  async #piece(subject: string): Promise<string | undefined> {
    const { snapshots } = this.#session.names;
    const request = { multi_last: [subject] };
    const [message] = await this.#session.direct(snapshots, request);
    if (message?.status === 0) return Buffer.from(message.data).toString();
    const last = await this.#session.lastOf(subject, snapshots);
    return last && Buffer.from(last.data).toString();
  }

  async drop(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#purge(this.#subjects(key));
  }

  async #purge(filter: string): Promise<void> {
    const { names } = this.#session;
    await this.#session.run((each) => each.call(`STREAM.PURGE.${names.snapshots}`, { filter }));
  }

  /** Deletes pieces that a crash has left. */
  async #sweep(): Promise<void> {
    const { names } = this.#session;
    const { state } = await this.#session.run((connection) =>
      connection.call<StreamInfo>(`STREAM.INFO.${names.snapshots}`, {
        subjects_filter: names.allSnapshots,
      }),
    );
    const { meta } = await readMeta(this.#session);
    const known = new Set(keysOf(meta));
    const found = new Set(
      Object.keys(state.subjects ?? {}).map((subject) => subject.split(".").at(-2) ?? ""),
    );
    const oldMs = Date.now() - NATS.abandonedMs;
    const isAbandoned = (key: string) => !known.has(key) && Number(key.split("-")[0]) < oldMs;
    await this.drop([...found].filter(isAbandoned));
  }

  #subject(key: string, n: number): string {
    return this.#session.names.allSnapshots.replace(">", `${key}.${n}`);
  }

  #subjects(key: string): string {
    return this.#session.names.allSnapshots.replace(">", `${key}.*`);
  }
}

export function keysOf({ snapshots }: Meta): readonly string[] {
  return snapshots.map(({ key }) => key);
}

/** Sizes count characters of the text, as JavaScript does. */
function* piecesOf(text: string): Generator<string> {
  let at = text.indexOf("\n");
  const sizes = text.slice(0, at).split(" ").map(Number);
  at += 1;
  for (const size of sizes) {
    yield text.slice(at, at + size);
    at += size;
  }
}
