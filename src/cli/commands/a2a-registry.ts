/**
 * `rollcall a2a-registry`: the daemon as a stand-alone A2A registry, for those who ran
 * `oo-a2a-registry` under uvicorn. It keeps its state in memory unless told otherwise, has the port
 * that agents expect, and heeds the variables that they set for it.
 */
import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { hostFlag, portFlag, textFlag } from "../flags.ts";
import { about } from "../help.ts";
import { serve } from "../serve.ts";

interface Flags {
  readonly host: string;
  readonly port: number;
  readonly dataDir?: string;
  readonly allow?: string;
  readonly trust?: string;
  readonly allowedHosts?: string;
}

/** The environment variables of the peer, and the settings they stand for. */
const VARIABLES = {
  STALE_MULTIPLIER: "a2a-stale-multiplier",
  EXPECTED_HEARTBEAT_INTERVAL: "a2a-interval",
  FETCH_TIMEOUT: "a2a-fetch-timeout",
  A2A_VERSION: "a2a-version",
} as const;

export const a2aRegistry = buildCommand<Flags, [], Context>({
  docs: about(
    "Run a registry of A2A agents in the foreground: they send heartbeats, and are listed at\n" +
      "/.well-known/agents once their cards were fetched. It heeds STALE_MULTIPLIER,\n" +
      "EXPECTED_HEARTBEAT_INTERVAL, FETCH_TIMEOUT and A2A_VERSION. `rollcall up` is the same\n" +
      "with more to set.",
    { call: "rollcall a2a-registry", does: "on port 8000, in memory" },
    { call: "rollcall a2a-registry --port 8080 --data-dir state", does: "kept on disk" },
  ),
  parameters: {
    flags: {
      host: hostFlag,
      port: portFlag("8000"),
      dataDir: textFlag("DIR", "Where the state is kept [in memory]"),
      allow: textFlag("ADDRESS[/BITS],…", "Private addresses from which cards may be fetched"),
      trust: textFlag("ADDRESS[/BITS],…", "Networks whose agents are let in without a token"),
      allowedHosts: textFlag("HOST,…", "Names by which agents elsewhere call this registry"),
    },
  },
  async func({ host, port, dataDir, allow, trust, allowedHosts }) {
    const settings: Record<string, string> = {
      "http-addr": `${host}:${port}`,
      addr: "off",
      "status-files": "false",
      ...(dataDir === undefined ? { memory: "true" } : { "data-dir": dataDir }),
      ...(allow !== undefined && { "a2a-allowed-addresses": allow }),
      ...(trust !== undefined && { trust }),
      ...(allowedHosts !== undefined && { "allowed-hosts": allowedHosts }),
    };
    for (const [variable, flag] of Object.entries(VARIABLES)) {
      const value = this.env[variable];
      if (value !== undefined && value !== "") settings[flag] = value;
    }
    await serve(this, settings);
  },
});
