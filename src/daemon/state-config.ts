/**
 * Where the daemon keeps its state: a folder for what is its own (socket, token, backups) and a
 * log, which is a SQLite file in that folder, unless `log` names another place.
 *
 * The password of a database comes from a file or from PGPASSWORD, never from the URL: a flag is
 * seen by every user of the machine, and a config file is passed on.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { RollcallError } from "../core/errors.ts";
import type { Durability } from "../log/postgres/durability.ts";
import { parsePostgresUrl } from "../log/postgres/url.ts";

export type LogConfig =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly path: string }
  | PostgresConfig;

export interface PostgresConfig {
  readonly kind: "postgres";
  /** Without a password. */
  readonly url: string;
  readonly durability: Durability;
  /** A function: nobody who prints the configuration prints this. */
  readonly password: (() => Promise<string>) | undefined;
}

export interface StateConfig {
  /** Absent: in memory. */
  readonly dataDir: string | undefined;
  readonly log: LogConfig;
}

/** The settings of one source; paths in full. */
export interface StateVoice {
  readonly memory: boolean;
  readonly log: string | undefined;
  readonly dataDir: string | undefined;
  /** A path that this source names, in full. */
  readonly path: (path: string) => string;
}

interface StateOptions {
  /** The strongest first. */
  readonly voices: readonly StateVoice[];
  /** Where no source names one. */
  readonly defaultDir: string;
  readonly durability: Durability;
  readonly credentialsFile: string | undefined;
}

const MEMORY = "memory:";
const SQLITE = "sqlite:";

/** The strongest voice that says either a place or "in memory" decides between the two. */
export function stateOf(options: StateOptions): StateConfig {
  let dataDir: string | undefined;
  let log: LogConfig | undefined;
  for (const voice of options.voices) {
    checkVoice(voice);
    const isMemory = voice.memory || voice.log === MEMORY;
    if (isMemory && (dataDir !== undefined || log !== undefined)) continue;
    if (isMemory)
      return { dataDir: undefined, log: withoutCredentials(options, { kind: "memory" }) };
    dataDir ??= voice.dataDir;
    log ??= logOf(voice, options);
  }
  const folder = dataDir ?? options.defaultDir;
  const file: LogConfig = { kind: "sqlite", path: join(folder, "rollcall.db") };
  return { dataDir: folder, log: withoutCredentials(options, log ?? file) };
}

function checkVoice({ memory, log, dataDir }: StateVoice): void {
  const name = memory ? "memory" : log === MEMORY ? "log memory:" : undefined;
  if (name === undefined) return;
  // A URL is not repeated: somebody may have written a password into it.
  const other = memory && log !== undefined ? "log" : dataDir && `data_dir ${dataDir}`;
  if (!other) return;
  throw invalid(`${name} and ${other} exclude each other: give one of them`);
}

/** Nothing where it is the file in the folder. */
function logOf({ log, path }: StateVoice, options: StateOptions): LogConfig | undefined {
  if (log === undefined || log === SQLITE) return undefined;
  if (log.startsWith(SQLITE)) return { kind: "sqlite", path: path(log.slice(SQLITE.length)) };
  // Says what is wrong with it now, and not when it is opened.
  parsePostgresUrl(log);
  const { durability, credentialsFile: file } = options;
  const password = file === undefined ? undefined : () => readPassword(file);
  return { kind: "postgres", url: log, durability, password };
}

function withoutCredentials({ credentialsFile }: StateOptions, log: LogConfig): LogConfig {
  if (log.kind === "postgres" || credentialsFile === undefined) return log;
  throw invalid("log_credentials_file needs a log in Postgres beside it (log = postgres://…)");
}

/** Passwords are a line; whatever is larger is another file. */
const MAX_PASSWORD_LENGTH = 4096;

/** For each connection anew, so that it can be changed while the daemon runs. */
async function readPassword(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new RollcallError("INVALID_ARGUMENT", `log_credentials_file: ${why}`, { cause });
  }
  const password = text.replace(/\r?\n$/, "");
  if (password !== "" && password.length <= MAX_PASSWORD_LENGTH && !/[\r\n\0]/.test(password)) {
    return password;
  }
  // Told by where it is, never by what it is.
  throw invalid(`log_credentials_file ${path} holds no password: expected one line`);
}

function invalid(message: string): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", message);
}
