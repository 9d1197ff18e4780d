/** What stands on the engine and is shared by the wires of a daemon; closed with it. */
import { hostname } from "node:os";
import { TaskClaims } from "../engine/claims.ts";
import type { Clock } from "../engine/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { Fleet } from "../fleet/fleet.ts";
import { AgentSearch } from "../search/agent-search.ts";
import type { Directory } from "../wires/mcp/directory.ts";
import { FileReporter } from "../wires/files/reporter.ts";
import type { Config } from "./config.ts";
import { embedderFor } from "./embedder.ts";
import { Notifications } from "./notifications.ts";
import type { Logger } from "./logger.ts";

export interface ServicesOptions {
  readonly config: Config;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Services {
  readonly claims: TaskClaims;
  readonly search: AgentSearch;
  readonly fleet: Fleet;
  readonly directory: Directory;
  close(): Promise<void>;
}

export function startServices({ config, engine, clock, logger }: ServicesOptions): Services {
  const onTrouble = (what: string, error: unknown) => logger.warn({ err: error }, what);
  const claims = new TaskClaims({ engine });
  const embedder = embedderFor(config.embedder, logger);
  const search = new AgentSearch({ engine, ...(embedder && { embedder }), onTrouble });
  const fleet = new Fleet({ engine, clock, patience: config.patience });
  const files =
    config.statusDir === undefined
      ? undefined
      : new FileReporter({
          directory: config.statusDir,
          host: hostname(),
          clock,
          report: (report) => fleet.report(report),
          known: () => fleet.reports(),
          onTrouble,
        });
  const notifications = new Notifications({ config: config.notify, fleet, clock, onTrouble });
  return {
    claims,
    search,
    fleet,
    directory: EMPTY,
    async close() {
      claims.close();
      fleet.close();
      await Promise.all([search.close(), files?.close(), notifications.close()]);
    },
  };
}

/** Until there is a directory of A2A agents, nobody is in it. */
const EMPTY: Directory = {
  list: async () => [],
  get: async () => undefined,
  search: async () => [],
  watch: () => () => undefined,
};
