/**
 * The package `pg`, loaded when a Postgres is asked for, and one connection by it.
 *
 * A bytea comes as text: entries are UTF-8, and in the binary format, which sends bytes as they
 * are, the driver decodes every column as such. The text format would send two digits for each
 * byte. So queries for bodies cast all their other columns to text.
 */
import { readFileSync } from "node:fs";
import type { Client, ClientConfig, QueryArrayConfig } from "pg";
import { RollcallError } from "../../core/errors.ts";
import { POSTGRES } from "./limits.ts";
import type { PostgresHost, PostgresUrl } from "./url.ts";

export type SqlValue = string | number | Buffer | readonly (string | number | null)[] | null;

export interface Connection {
  /** The host it leads to, for messages. */
  readonly place: string;
  /** False once it is of no use: nothing else comes through it. */
  readonly isAlive: boolean;
  /** `Row` is the shape that the SQL gives; the caller keeps both in step. */
  query<Row>(sql: string, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Of bodies: every column is text. */
  bodies<Row>(sql: string, values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Warnings of the server, by their codes. */
  onNotice: ((code: string) => void) | undefined;
  onNotification: ((payload: string) => void) | undefined;
  onEnd: (() => void) | undefined;
  /** Without waiting; what is under way rejects. */
  end(): void;
}

export interface Login {
  readonly url: PostgresUrl;
  /** Absent: PGPASSWORD, or the file of passwords that libpq reads. */
  readonly password?: () => Promise<string>;
}

/** How a session should begin; poolers refuse what they do not know. */
const SESSION = {
  statement_timeout: POSTGRES.statementMs,
  lock_timeout: POSTGRES.lockMs,
  idle_in_transaction_session_timeout: 4 * POSTGRES.statementMs,
} as const;

export async function connect(
  { url, password }: Login,
  { host, port }: PostgresHost,
): Promise<Connection> {
  const { Client: PgClient } = await loadDriver();
  const config: ClientConfig = {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(url.user !== undefined && { user: url.user }),
    ...(url.database !== undefined && { database: url.database }),
    ...(password && { password }),
    ssl: sslOf(url, host),
    application_name: "rollcall",
    connectionTimeoutMillis: POSTGRES.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: POSTGRES.keepAliveMs,
    types: { getTypeParser: parserOf as NonNullable<ClientConfig["types"]>["getTypeParser"] },
  };
  if (!POOLERS.has(url)) {
    try {
      return await opened(new PgClient({ ...config, ...SESSION }));
    } catch (error) {
      if (!isPooler(error)) throw error;
      POOLERS.add(url);
    }
  }
  return opened(new PgClient(config));
}

/** That refused to begin a session as it should, and would each time. */
const POOLERS = new WeakSet<PostgresUrl>();

async function loadDriver(): Promise<PgModule> {
  try {
    return await import("pg");
  } catch (cause) {
    const message = "a log in Postgres needs the package pg: npm install pg beside rollcall";
    throw new RollcallError("UNIMPLEMENTED", message, { cause });
  }
}

interface PgModule {
  readonly Client: new (config: ClientConfig) => Client;
}

/** PgBouncer takes none of our settings for a session, unless it is told to ignore them. */
function isPooler(error: unknown): boolean {
  return error instanceof Error && error.message.includes("unsupported startup parameter");
}

async function opened(client: Client): Promise<Connection> {
  const connection = new PgConnection(client);
  await client.connect();
  return connection;
}

class PgConnection implements Connection {
  readonly place: string;
  isAlive = true;
  onNotice: ((code: string) => void) | undefined;
  onNotification: ((payload: string) => void) | undefined;
  onEnd: (() => void) | undefined;
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
    this.place = `${client.host}:${client.port}`;
    const ended = () => {
      if (!this.isAlive) return;
      this.isAlive = false;
      this.onEnd?.();
    };
    client.on("error", ended);
    client.on("end", ended);
    client.on("notice", ({ code }) => this.onNotice?.(code ?? ""));
    client.on("notification", ({ payload }) => this.onNotification?.(payload ?? ""));
  }

  async query<Row>(sql: string, values: readonly SqlValue[] = []): Promise<readonly Row[]> {
    const config = { text: sql, values: [...values] };
    return (await this.#answered(this.#client.query(config))).rows as Row[];
  }

  async bodies<Row>(sql: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    const config: QueryArrayConfig = { text: sql, values: [...values], rowMode: "array" };
    const query = this.#client.query({ ...config, ...BINARY });
    const { fields, rows } = await this.#answered(query);
    const names = fields.map(({ name }) => name);
    return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])) as Row);
  }

  /** A server that is gone without a word never answers. */
  #answered<T>(query: Promise<T>): Promise<T> {
    const late = new Error(`no answer within ${POSTGRES.answerMs} ms`);
    const timer = setTimeout(() => this.#cut(late), POSTGRES.answerMs);
    return query.finally(() => clearTimeout(timer));
  }

  end(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    // A server that does not answer must not keep the process.
    this.#stream.unref();
    // Says goodbye where nothing is under way, else it cuts.
    this.#client.end().catch(() => undefined);
  }

  #cut(why: Error): void {
    this.#stream.destroy(why);
  }

  /** There is no public way to end a connection that does not answer. */
  get #stream(): WithStream["stream"] {
    return (this.#client as unknown as { connection: WithStream }).connection.stream;
  }
}

/** Missing in the types of the driver. */
const BINARY = { binary: true };

interface WithStream {
  readonly stream: { destroy(why: Error): void; unref(): void };
}

/** Parsers for the column types of our tables; numbers stay far below 2^53. */
function parserOf(type: number, format?: string): (value: string | Buffer) => unknown {
  if (format === "binary") return String;
  if (type === BOOL) return (value) => value === "t";
  if (type === INT8_ARRAY) return (value) => String(value).slice(1, -1).split(",").map(Number);
  return type === INT8 || type === INT4 ? Number : String;
}

const BOOL = 16;
const INT8 = 20;
const INT4 = 23;
const INT8_ARRAY = 1016;

function sslOf(url: PostgresUrl, host: string | undefined): ClientConfig["ssl"] {
  const mode =
    url.sslMode ?? process.env["PGSSLMODE"] ?? (isHere(host) ? "disable" : "verify-full");
  if (mode === "disable") return false;
  const { sslRootCert, sslCert, sslKey } = url;
  const root = sslRootCert ?? process.env["PGSSLROOTCERT"];
  return {
    rejectUnauthorized: mode.startsWith("verify"),
    ...(root !== undefined && { ca: readFileSync(root) }),
    ...(sslCert !== undefined && { cert: readFileSync(sslCert) }),
    ...(sslKey !== undefined && { key: readFileSync(sslKey) }),
    ...(mode === "verify-ca" && { checkServerIdentity: () => undefined }),
  };
}

function isHere(host: string | undefined): boolean {
  const name = host ?? process.env["PGHOST"] ?? "localhost";
  return name.startsWith("/") || name === "localhost" || name === "::1" || name.startsWith("127.");
}
