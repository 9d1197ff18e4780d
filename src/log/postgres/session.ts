/**
 * The part that the log and the streams of one store share: its connections, one for appends and a
 * few for everything else, and how it is opened and closed.
 */
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import type { Durability } from "../durability.ts";
import type { LogRange } from "../log.ts";
import { SharedSession } from "../shared-session.ts";
import type { Connection } from "./driver.ts";
import { checkDurability } from "./durability.ts";
import { isPassing, postgresError } from "./failure.ts";
import { POSTGRES } from "./limits.ts";
import { Pool } from "./pool.ts";
import { lookAtSchema, openSchema, quoted, type SchemaOptions } from "./schema.ts";
import { Servers } from "./servers.ts";
import { sweepOnce } from "./sweep.ts";
import type { PostgresUrl } from "./url.ts";

export interface PostgresSessionOptions {
  readonly url: PostgresUrl;
  readonly password?: () => Promise<string>;
  readonly durability: Durability;
  readonly writtenBy: string;
  /** Of what an operator should know and nobody has to wait for. */
  readonly onWarning: (message: string) => void;
  /** Of a log that this store fills, how it is begun; absent: one is made, where there is none. */
  readonly opening?: typeof openSchema;
  /** Whether it reads what was there when it was opened, and writes nothing. */
  readonly isMoment?: boolean;
}

export class PostgresSession extends SharedSession {
  /** Quoted. */
  readonly schema: string;
  readonly appendBytes = LOG.sharedAppendBytes;
  readonly #options: PostgresSessionOptions;
  readonly #writes: Pool;
  readonly #reads: Pool;
  readonly #servers: Servers;
  #isSweeping = false;
  #mustSweep = false;
  #warned = "";

  constructor(options: PostgresSessionOptions) {
    const { url, password, onWarning } = options;
    const failures = { isPassing, errorOf: postgresError };
    super({ ...POSTGRES, place: url.description, onWarning, failures });
    this.#options = options;
    this.schema = quoted(url.schema);
    this.#servers = new Servers({ url, ...(password && { password }) });
    this.#writes = new Pool(() => this.#connectToWrite(), 1);
    this.#reads = options.isMoment
      ? // Its transaction is what it is for: nothing is won by giving it up.
        new Pool(() => this.#connectToMoment(), 1, Infinity)
      : new Pool(() => this.#servers.connect(), POSTGRES.readConnections);
  }

  /** Whether no member writes beside it. */
  get isAlone(): boolean {
    return this.#options.opening !== undefined;
  }

  /** The name by which its members notify each other. */
  get channel(): string {
    return `rollcall ${this.#options.url.schema}`.slice(0, CHANNEL_LENGTH);
  }

  async open(): Promise<LogRange> {
    this.checkNotClosed();
    const { isMoment = false, opening = isMoment ? lookAtSchema : openSchema } = this.#options;
    // By the connection that writes: it is checked for durability.
    const pool = isMoment ? this.#reads : this.#writes;
    const range = await this.retried(() =>
      pool.run((connection) => opening(connection, this.schemaOptions)),
    );
    const isFirst = this.openId === undefined;
    this.openId = range.logId;
    // A crash may have left something half-done.
    if (isFirst && !isMoment) this.sweep();
    return range;
  }

  get schemaOptions(): SchemaOptions {
    const { url, writtenBy } = this.#options;
    return { schema: url.schema, place: this.place, writtenBy, logId: this.openId };
  }

  /** One connection for all reads: its transaction sees what was committed when it began. */
  async #connectToMoment(): Promise<Connection> {
    if (this.openId !== undefined) {
      const message = `the connection to Postgres at ${this.place} was lost half-way: begin anew`;
      throw new RollcallError("UNAVAILABLE", message);
    }
    const connection = await this.#servers.connect();
    await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    return connection;
  }

  async #connectToWrite(): Promise<Connection> {
    const connection = await this.#servers.connect();
    try {
      const warning = await checkDurability(connection, this.#options.durability, this.place);
      if (warning !== this.#warned && warning !== "") this.onWarning(warning);
      this.#warned = warning;
      return connection;
    } catch (error) {
      connection.end();
      throw error;
    }
  }

  /** A connection of one's own, of no pool; whoever has it ends it. */
  connect(): Promise<Connection> {
    return this.#servers.connect();
  }

  /** Once, by the connection for appends; rejects as the driver did. */
  write<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#options.isMoment) {
      return Promise.reject(new RollcallError("STORAGE_READ_ONLY", "this store only reads"));
    }
    return this.counted(() => this.#writes.run(work));
  }

  /** Runs work that may be done twice; retries while the server is away for a moment. */
  run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.retried(() => this.#reads.run(work));
  }

  /**
   * Deletes what was forgotten, in the background, a few thousand rows at a time. Nobody waits for
   * it: what is to be deleted can be seen by nobody, and the tables know of it.
   */
  sweep(): void {
    this.#mustSweep = true;
    if (!this.#isSweeping) void this.#sweepAll();
  }

  async #sweepAll(): Promise<void> {
    this.#isSweeping = true;
    try {
      while (this.#mustSweep) {
        this.#mustSweep = false;
        while (!this.closing.aborted && (await this.run((each) => sweepOnce(each, this.schema))));
      }
    } catch {
      // The server is away, or another member swept the same: the next one tries again.
    }
    this.#isSweeping = false;
  }

  protected disconnect(): Promise<void> {
    this.#writes.close();
    this.#reads.close();
    return Promise.resolve();
  }
}

/** As long as Postgres allows. */
const CHANNEL_LENGTH = 63;
