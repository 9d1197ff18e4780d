/** The database of the daemon that `rollcall up` would start here, for commands that work on it. */
import { invalidArgument } from "../core/errors.ts";
import { loadConfig } from "../daemon/config.ts";
import { KIB, MIB } from "../core/units.ts";
import type { Context } from "./context.ts";
import { textFlag } from "./flags.ts";
import { spokenFlags } from "./settings.ts";

export const databaseFlags = {
  config: textFlag("FILE", "The config file of the daemon"),
  dataDir: textFlag("DIR", "Where the daemon keeps its state"),
} as const;

export interface DatabaseFlags {
  readonly config?: string;
  readonly dataDir?: string;
}

export async function databaseOf({ env }: Context, flags: DatabaseFlags): Promise<string> {
  const { config, dataDir } = flags;
  const found = await loadConfig({ flags: spokenFlags({ config, dataDir }), env });
  switch (found.log.kind) {
    case "sqlite":
      return found.log.path;
    case "memory":
      throw invalidArgument("the daemon keeps its state in memory: there is no database");
    case "postgres":
      throw invalidArgument(
        "the daemon keeps its log in Postgres: back it up by the means of Postgres (pg_dump)",
      );
  }
}

export function sizeText(bytes: number): string {
  return bytes < MIB ? `${Math.ceil(bytes / KIB)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}
