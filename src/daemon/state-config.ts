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
import type { Durability } from "../log/durability.ts";
import { parseNatsUrl } from "../log/nats/url.ts";
import { parsePostgresUrl } from "../log/postgres/url.ts";

export type LogConfig = { readonly kind: "memory" } | KeptConfig;

/** Of a log that outlives its daemon. */
export type KeptConfig = { readonly kind: "sqlite"; readonly path: string } | SharedConfig;

/** Of a log that several members share. */
export type SharedConfig = PostgresConfig | NatsConfig;

export interface PostgresConfig {
  readonly kind: "postgres";
  /** Without a password. */
  readonly url: string;
  readonly durability: Durability;
  /** A function: nobody who prints the configuration prints this. */
  readonly password: (() => Promise<string>) | undefined;
}

export interface NatsConfig {
  readonly kind: "nats";
  /** Without a password. */
  readonly url: string;
  readonly durability: Durability;
  /** The monitoring ports of its servers. */
  readonly monitors: readonly string[];
  /** Of the streams, when they are made. */
  readonly replicas: number;
  readonly credentials: (() => Promise<string>) | undefined;
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
  readonly natsMonitors: readonly string[];
  readonly natsReplicas: number;
}

const MEMORY = "memory:";
const SQLITE = "sqlite:";
const NATS = "nats:";

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
  const { durability, credentialsFile: file, natsMonitors: monitors } = options;
  // Says what is wrong with it now, and not when it is opened.
  if (log.startsWith(NATS)) {
    parseNatsUrl(log);
    const credentials = file === undefined ? undefined : () => readCredentials(file);
    const replicas = options.natsReplicas;
    return { kind: "nats", url: log, durability, monitors, replicas, credentials };
  }
  parsePostgresUrl(log);
  const password = file === undefined ? undefined : () => readPassword(file);
  return { kind: "postgres", url: log, durability, password };
}

function withoutCredentials({ credentialsFile }: StateOptions, log: LogConfig): LogConfig {
  const isShared = log.kind === "postgres" || log.kind === "nats";
  if (isShared || credentialsFile === undefined) return log;
  throw invalid(
    "log_credentials_file needs a log in Postgres or NATS beside it (log = postgres://…, nats://…)",
  );
}

/** Passwords are a line; whatever is larger is another file. */
const MAX_PASSWORD_LENGTH = 4096;

/** For each connection anew, so that it can be changed while the daemon runs. */
async function readPassword(path: string): Promise<string> {
  const password = (await readText(path)).replace(/\r?\n$/, "");
  if (password !== "" && password.length <= MAX_PASSWORD_LENGTH && !/[\r\n\0]/.test(password)) {
    return password;
  }
  // Told by where it is, never by what it is.
  throw invalid(`log_credentials_file ${path} holds no password: expected one line`);
}

/** A file as `nsc` writes it, with a JWT and its key; else a password or a token. */
async function readCredentials(path: string): Promise<string> {
  const text = await readText(path);
  return text.includes("BEGIN NATS USER JWT") ? text : readPassword(path);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new RollcallError("INVALID_ARGUMENT", `log_credentials_file: ${why}`, { cause });
  }
}

function invalid(message: string): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", message);
}
