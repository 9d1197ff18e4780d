/** The log of the daemon that `rollcall up` would start here, for commands that work on it. */
import { invalidArgument } from "../core/errors.ts";
import { loadConfig } from "../daemon/config.ts";
import type { StateConfig } from "../daemon/state-config.ts";
import { KIB, MIB } from "../core/units.ts";
import type { Context } from "./context.ts";
import { textFlag } from "./flags.ts";
import { spokenFlags, type SettingFlags } from "./settings.ts";

export const databaseFlags = {
  config: textFlag("FILE", "The config file of the daemon"),
  dataDir: textFlag("DIR", "Where the daemon keeps its state"),
} as const;

export interface DatabaseFlags {
  readonly config?: string | undefined;
  readonly dataDir?: string | undefined;
}

/** Of a store that members share, as of `rollcall up`. */
export const storeFlags = {
  logDurability: textFlag("MODE", "strict or trust, as of `rollcall up` [strict]"),
  logCredentialsFile: textFlag("FILE", "A file with the password for the log [PGPASSWORD]"),
  natsMonitor: textFlag("URL,URL…", "Monitoring ports of all NATS servers"),
  natsReplicas: textFlag("N", "How many NATS servers keep a log [3]"),
} as const;

/** Of commands for a log of any kind. */
export const logFlags = {
  ...databaseFlags,
  log: textFlag("URL", "Where the log is kept, if not in a file there: postgres:, nats:"),
  ...storeFlags,
} as const;

export type LogFlags = {
  readonly [Name in keyof typeof logFlags]?: string;
};

export async function stateOf({ env }: Context, flags: SettingFlags): Promise<StateConfig> {
  const { log, dataDir } = await loadConfig({ flags: spokenFlags(flags), env });
  return { log, dataDir };
}

/** Where it is a file. */
export async function databaseOf(context: Context, flags: DatabaseFlags): Promise<string> {
  const { config, dataDir } = flags;
  const { log } = await stateOf(context, { config, dataDir });
  if (log.kind === "sqlite") return log.path;
  const where = log.kind === "memory" ? "in memory" : `in ${log.kind}`;
  throw invalidArgument(`the daemon keeps its state ${where}: there is no file of SQLite`);
}

export function sizeText(bytes: number): string {
  return bytes < MIB ? `${Math.ceil(bytes / KIB)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}

/** How far a copy has come, in the place of the last such line. */
async function showProgress({ err }: Context, text: string): Promise<void> {
  if (err.isTerminal) await err.write(`\r\u001b[K${text}`);
}

/** Shows how far work has come, and takes the line away when it has ended. */
export async function withProgress<T>(
  context: Context,
  work: (show: (text: string) => void) => Promise<T>,
): Promise<T> {
  try {
    return await work((text) => void showProgress(context, text));
  } finally {
    await showProgress(context, "");
  }
}
