/**
 * A real Postgres for tests: Debian's programs, a data folder of its own in the temporary folder,
 * loopback and a random port, as a user that is not root (Postgres refuses root), with fsync on.
 * It is ended by its process id.
 *
 *   const server = await PostgresServer.start();
 *   server.url("some_schema")   postgres://rollcall@127.0.0.1:PORT/rollcall?schema=some_schema
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
// tidy-allow sleep: nothing tells when a server takes connections, so it is asked again
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { postgresPrograms } from "../../../scripts/prerequisites.mjs";
import { sqlState } from "../../../src/log/postgres/failure.ts";

const USER = "rollcall";
const START_MS = 60_000;
const DEADLOCK = "40P01";

export interface ServerOptions {
  /** In place of the defaults, and besides them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder that its own is made in. */
  readonly within?: string;
  /** Of each file of its write-ahead log, in megabytes. */
  readonly walFile?: number;
}

export interface StandbyOptions {
  /** Where it reaches this server, if not at its port. */
  readonly port?: number;
  readonly within?: string;
  /** Between the copy and its start. */
  readonly onCopied?: () => Promise<void>;
}

/** How tests run: quick to start, and as durable as a server in production. */
const SETTINGS: Readonly<Record<string, string>> = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  listen_addresses: "127.0.0.1",
  max_connections: "100",
  shared_buffers: "32MB",
  wal_level: "replica",
  wal_keep_size: "256MB",
  max_wal_senders: "4",
  log_min_messages: "fatal",
};

export class PostgresServer {
  readonly port: number;
  readonly folder: string;
  #process: ChildProcess | undefined;
  #said = "";

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  static async start(options: ServerOptions = {}): Promise<PostgresServer> {
    const { settings, within, walFile = 16 } = options;
    const server = new PostgresServer(newFolder(within), await freePort());
    const names = ["--auth=trust", `--username=${USER}`, "--encoding=UTF8", "--no-locale"];
    const flags = [...names, `--wal-segsize=${walFile}`, "--no-sync", "--no-instructions"];
    await run("initdb", [...flags, "-D", server.#data]);
    server.#configure({ ...SETTINGS, ...settings });
    await server.restart();
    await server.query(`CREATE DATABASE ${USER}`, "postgres");
    return server;
  }

  /** A copy that follows this server; it is asynchronous until this one names it synchronous. */
  async standby(name: string, options: StandbyOptions = {}): Promise<PostgresServer> {
    const standby = new PostgresServer(newFolder(options.within), await freePort());
    const from = ["-h", "127.0.0.1", "-p", String(this.port), "-U", USER];
    await run("pg_basebackup", [...from, "-D", standby.#data, "-R", "-X", "stream", "-c", "fast"]);
    const port = options.port ?? this.port;
    const primary = `host=127.0.0.1 port=${port} user=${USER} application_name=${name}`;
    standby.#configure({ primary_conninfo: primary });
    await options.onCopied?.();
    await standby.restart();
    return standby;
  }

  /** As ALTER SYSTEM would, so that it can overrule them later. */
  #configure(settings: Readonly<Record<string, string>>): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(this.#data, "postgresql.auto.conf"), lines.join(""));
  }

  get #data(): string {
    return join(this.folder, "data");
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  url(schema: string, { port = this.port, user = USER } = {}): string {
    return `postgres://${user}@127.0.0.1:${port}/${USER}?schema=${schema}`;
  }

  /** Starts it, also after a kill: those who served the last one may still hold its memory. */
  async restart(): Promise<void> {
    for (const endsMs = Date.now() + START_MS; ;) {
      this.#spawn();
      if (await this.#isReady(endsMs)) return;
      if (Date.now() > endsMs) {
        // It would keep the run that waited for it from ending.
        await this.kill();
        throw new Error(`Postgres does not start: ${this.#said}`);
      }
      await pause(50);
    }
  }

  #spawn(): void {
    const place = ["-D", this.#data, "-p", String(this.port), "-k", this.folder];
    this.#said = "";
    this.#process = spawn(program("postgres"), place, {
      stdio: ["ignore", "ignore", "pipe"],
      ...owner(),
    });
    this.#process.stderr?.on("data", (text: Buffer) => {
      this.#said = (this.#said + text.toString()).slice(-4096);
    });
  }

  async #isReady(endsMs: number): Promise<boolean> {
    while (this.#process?.exitCode === null && Date.now() < endsMs) {
      try {
        await this.query("SELECT 1", "postgres");
        return true;
      } catch {
        await pause(20);
      }
    }
    return false;
  }

  /**
   * The rows of its last statement. One that Postgres breaks off, because a store that sweeps holds
   * what it needs and needs what it holds, is sent again, as an operator would.
   */
  async query<Row = Record<string, unknown>>(sql: string, database = USER): Promise<Row[]> {
    for (;;) {
      try {
        return await this.#query<Row>(sql, database);
      } catch (error) {
        if (sqlState(error) !== DEADLOCK) throw error;
      }
    }
  }

  async #query<Row>(sql: string, database: string): Promise<Row[]> {
    const client = new Client({ host: "127.0.0.1", port: this.port, user: USER, database });
    client.on("error", () => undefined);
    await client.connect();
    try {
      const results = [await client.query(sql)].flat();
      return (results.at(-1)?.rows ?? []) as Row[];
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Asks until there is a row, and gives it. */
  async until<Row = Record<string, unknown>>(sql: string): Promise<Row> {
    for (const endsMs = Date.now() + START_MS; Date.now() < endsMs; await pause(20)) {
      const [row] = await this.query<Row>(sql);
      if (row !== undefined) return row;
    }
    throw new Error(`it never came to this: ${sql}`);
  }

  /** A setting for new and old sessions. */
  async set(setting: string, value: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET ${setting} = '${value}'`);
    await this.query("SELECT pg_reload_conf()");
    const isSet = `SELECT 1 WHERE current_setting('${setting}') = '${value}'`;
    await this.until(isSet);
  }

  /** From now on this user needs its password. */
  async demandPassword(user: string): Promise<void> {
    const file = join(this.#data, "pg_hba.conf");
    const rule = `host all ${user} 127.0.0.1/32 scram-sha-256\n`;
    writeFileSync(file, rule + readFileSync(file, "utf8"));
    await this.query("SELECT pg_reload_conf()");
    await this.until(`SELECT 1 FROM pg_hba_file_rules WHERE '${user}' = ANY (user_name)`);
  }

  async promote(): Promise<void> {
    await this.query("SELECT pg_promote()");
    await this.until("SELECT 1 WHERE NOT pg_is_in_recovery()");
  }

  get isRunning(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null;
  }

  /** SIGSTOP or SIGCONT to all of its processes. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    const pid = this.pid ?? 0;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    for (const each of [pid, ...children.trim().split(" ").map(Number)]) {
      try {
        process.kill(each, name);
      } catch {
        // It ended meanwhile.
      }
    }
  }

  /** SIGKILL of the postmaster: nothing is flushed, nobody is told. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    if (this.isRunning) this.signal("SIGCONT");
    await this.#end("SIGQUIT");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  async #end(signal: "SIGKILL" | "SIGQUIT"): Promise<void> {
    const running = this.#process;
    if (!running || !this.isRunning) return;
    const ended = once(running, "exit");
    running.kill(signal);
    await ended;
  }
}

function program(name: string): string {
  return join(postgresPrograms() ?? "", name);
}

async function run(name: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(program(name), args, { ...owner(), cwd: tmpdir() });
}

function newFolder(within = tmpdir()): string {
  const folder = mkdtempSync(join(within, "rollcall-postgres-"));
  const { uid, gid } = owner();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}

/** The user that Debian made for it, where we are root. */
function owner(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync("/etc/passwd", "utf8").match(/^postgres:[^:]*:(\d+):(\d+):/m);
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : {};
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}
