/**
 * The part that the log and the streams of one store share: its two connections, one for writes
 * and looks and one for pages, how it is opened and closed, and what it knows of the end of the
 * log.
 *
 * Two ways to read. The leader of a stream answers with what it has applied; any server answers a
 * direct request, and may lag behind what was acknowledged (in 34 of 600 tries). So the end of a
 * log or of a stream is asked of the leader, and pages up to it of any.
 */
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import type { Durability } from "../durability.ts";
import type { LogRange } from "../log.ts";
import { waited } from "../retry.ts";
import { SharedSession } from "../shared-session.ts";
import { connect, type Connection, type Message } from "./driver.ts";
import { connectTo, leaderOf } from "./leader.ts";
import { checkDurability } from "./durability.ts";
import { damaged, isPassing, natsError, NO_MESSAGE, otherLog, Refused } from "./failure.ts";
import { lookAtLayout, openLayout, PURGED, type LayoutOptions } from "./layout.ts";
import { NATS } from "./limits.ts";
import type { Moment } from "./moment.ts";
import { Spots } from "./spots.ts";
import { namesOf, type Names } from "./names.ts";
import { batchProblem, roomFor } from "./room.ts";
import { decodedOf, endOf, storedOf } from "./stored.ts";
import type { EncodedMessage, LogEnd, StoredMessage } from "./stored.ts";
import type { NatsUrl } from "./url.ts";

export interface NatsSessionOptions {
  readonly url: NatsUrl;
  readonly credentials?: () => Promise<string>;
  readonly durability: Durability;
  /** Of the servers, where their settings can be seen. */
  readonly monitors: readonly string[];
  readonly replicas: number;
  readonly writtenBy: string;
  /** Of what an operator should know and nobody has to wait for. */
  readonly onWarning: (message: string) => void;
  /** Of a log that this store fills, how it is begun; absent: one is made, where there is none. */
  readonly opening?: typeof openLayout;
  /** Of a store that reads what was there when it was opened, and writes nothing. */
  readonly takeMoment?: (session: NatsSession) => Promise<Moment>;
}

export class NatsSession extends SharedSession {
  readonly names: Names;
  readonly spots = new Spots();
  readonly #options: NatsSessionOptions;
  readonly #connections = new Map<"writes" | "reads", Promise<Connection>>();
  #end: LogEnd | undefined;
  #moment: Moment | undefined;
  #isDisconnected = false;
  #isMoving = false;
  #appendBytes = LOG.sharedAppendBytes - NATS.headerBytes;

  constructor(options: NatsSessionOptions) {
    const { url, onWarning } = options;
    const failures = { isPassing, errorOf: natsError };
    super({ ...NATS, place: url.description, onWarning, failures });
    this.#options = options;
    this.names = namesOf(url.name);
  }

  /** Of one append: what the servers take as one message. */
  get appendBytes(): number {
    return this.#appendBytes;
  }

  /** The newest end that was seen, heard or made here. */
  get end(): LogEnd | undefined {
    return this.#end;
  }

  /** A message was seen. Throws DIVERGED when it is of another log. */
  see(message: StoredMessage): void {
    if (message.logId !== this.logId) throw otherLog(this.place);
    this.moveTo(endOf(message));
    this.spots.add(message);
  }

  moveTo(end: LogEnd): void {
    if (end.mark > (this.#end?.mark ?? 0)) this.#end = end;
  }

  /** What it shows, if that is a moment. */
  get moment(): Moment | undefined {
    return this.#moment;
  }

  async open(readMeta: () => Promise<number>): Promise<LogRange> {
    this.checkNotClosed();
    const { durability, monitors, url, takeMoment } = this.#options;
    const { opening = takeMoment ? lookAtLayout : openLayout } = this.#options;
    return this.run(async (connection) => {
      this.#appendBytes = roomFor(connection, this.place);
      const { logId, infos } = await opening(connection, this.layoutOptions);
      if (this.openId === undefined && !takeMoment) {
        this.#warn(await checkDurability({ infos, durability, monitors, url }));
        this.#warn(await batchProblem(connection, this.names));
      }
      this.openId = logId;
      if (!takeMoment) void this.#moveToLeader();
      if (takeMoment) this.#moment ??= await takeMoment(this);
      const [{ head, mark, lastId }, oldest] = await Promise.all([this.look(), readMeta()]);
      return { head, mark, lastId, oldest, logId };
    });
  }

  get layoutOptions(): LayoutOptions {
    const { writtenBy, replicas } = this.#options;
    return { place: this.place, names: this.names, writtenBy, replicas, logId: this.openId };
  }

  #warn(problem: string): void {
    if (problem !== "") this.onWarning(problem);
  }

  /** The end of the log as its leader has it. */
  async look(): Promise<LogEnd> {
    if (this.#moment) return this.#moment.end;
    const endsMs = performance.now() + NATS.lagMs;
    for (;;) {
      const message = await this.lastOf(this.names.log);
      if (!message) throw damaged(this.place, PURGED);
      if (message.logId !== this.logId) throw otherLog(this.place);
      const found = endOf(message);
      // One that was leader a moment ago may lag; one that still does has lost something.
      if (found.mark >= (this.#end?.mark ?? 0) || performance.now() > endsMs) {
        this.#end = found;
        return found;
      }
      await waited(NATS.busyMs, this.closing);
    }
  }

  /** The last message of a subject, by the leader; nothing when there is none. */
  lastOf(subject: string, stream = this.names.stream): Promise<StoredMessage | undefined> {
    return this.#message(stream, { last_by_subj: subject });
  }

  /** The message at a sequence, by the leader. */
  messageAt(sequence: number): Promise<StoredMessage | undefined> {
    return this.#message(this.names.stream, { seq: sequence });
  }

  /** The first message of a subject from a sequence on, by the leader. */
  nextOf(subject: string, sequence: number): Promise<StoredMessage | undefined> {
    return this.#message(this.names.stream, { seq: sequence, next_by_subj: subject });
  }

  #message(
    stream: string,
    request: Readonly<Record<string, unknown>>,
  ): Promise<StoredMessage | undefined> {
    return this.run(async (connection, tries) => {
      try {
        const subject = `STREAM.MSG.GET.${stream}`;
        const answer = await connection.call<GotMessage>(subject, request, readMs(tries));
        return decodedOf(answer.message);
      } catch (error) {
        if (error instanceof Refused && error.code === NO_MESSAGE) return undefined;
        throw error;
      }
    });
  }

  /** Messages of a stream of JetStream, by any server; the last one is only a status. */
  direct(stream: string, request: Readonly<Record<string, unknown>>): Promise<Message[]> {
    return this.retried(async (tries) => {
      const connection = await this.#connected("reads");
      return connection.collect(`DIRECT.GET.${stream}`, request, readMs(tries));
    });
  }

  /** From a sequence on, as many as a page holds; may lack the newest, and may be none. */
  async page(subject: string, sequence: number): Promise<readonly StoredMessage[]> {
    const { pageMessages: batch, pageBytes } = NATS;
    const request = { seq: sequence, next_by_subj: subject, batch, max_bytes: pageBytes };
    const messages = await this.direct(this.names.stream, request);
    return messages.filter(({ status }) => status === 0).map(storedOf);
  }

  /** What may be done twice, again and again while the servers elect a leader. */
  run<T>(work: (connection: Connection, tries: number) => Promise<T>): Promise<T> {
    return this.retried(async (tries) => work(await this.#connected("writes"), tries));
  }

  /** Once. */
  once<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#options.takeMoment) {
      return Promise.reject(new RollcallError("STORAGE_READ_ONLY", "this store only reads"));
    }
    return this.counted(async () => work(await this.#connected("writes")));
  }

  /** Reconnects by itself, once it is there. */
  async #connected(which: "writes" | "reads"): Promise<Connection> {
    for (;;) {
      const known = this.#connections.get(which);
      if (!known) break;
      if (!(await known).isClosed) return known;
      // Others found it closed, too: the first of them makes the next one.
      if (this.#connections.get(which) === known) this.#connections.delete(which);
    }
    if (this.#isDisconnected) throw new RollcallError("WRONG_STATE", "the store is closed");
    const connection = connect(this.#options);
    this.#connections.set(which, connection);
    connection.catch(() => {
      if (this.#connections.get(which) === connection) this.#connections.delete(which);
    });
    return connection;
  }

  /**
   * Any server takes writes and hands them on to the one that leads the stream, which is a hop more
   * there and back. So writes have a connection to that one, and to the next when it is gone.
   */
  async #moveToLeader(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    try {
      const leader = await this.run((connection) => leaderOf(connection, this.names.stream));
      const own = await this.#connected("writes");
      own.onReconnect = () => void this.#moveToLeader();
      if (own.facts.name === leader) return;
      const found = await this.counted(() => connectTo(leader, this.#options));
      if (!found) return;
      if (this.#isDisconnected) return await found.close();
      found.onReconnect = own.onReconnect;
      const former = this.#connections.get("writes");
      this.#connections.set("writes", Promise.resolve(found));
      this.counted(async () => this.#retire(await former)).catch(() => undefined);
    } catch {
      // The servers are away, or have no leader for long; it goes on with those that take writes.
    } finally {
      this.#isMoving = false;
    }
  }

  /** All that it was asked is answered by then, or is asked again. */
  async #retire(connection: Connection | undefined): Promise<void> {
    await waited(NATS.answerMs, this.closing);
    await connection?.close();
  }

  /** Hears what is appended, from now on, until the connection that it gives is closed. */
  async listen(heard: (message: StoredMessage) => void): Promise<Connection> {
    const connection = await this.#connected("reads");
    connection.subscribe(this.names.heard, (message) => {
      const stored = storedOf(message);
      if (stored.logId === this.logId) heard(stored);
    });
    return connection;
  }

  protected async disconnect(): Promise<void> {
    this.#isDisconnected = true;
    const connections = [...this.#connections.values()];
    await Promise.allSettled(connections.map(async (each) => (await each).close()));
  }
}

/** How long a read waits for its answer at its so manyth try. */
function readMs(tries: number): number {
  return Math.min(NATS.firstReadMs * 2 ** tries, NATS.answerMs);
}

interface GotMessage {
  readonly message: EncodedMessage;
}
