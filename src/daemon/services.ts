/** Services on the engine that the wires of a daemon share; closed with it. */
import { hostname } from "node:os";
import { CodexDiscovery } from "../coding-agents/codex/discovery.ts";
import { DirectoryService } from "../directory/directory.ts";
import { Mentions } from "../directory/mentions.ts";
import { TaskClaims } from "../engine/claims.ts";
import { ownBy } from "../core/by.ts";
import type { Clock } from "../core/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { Fleet } from "../fleet/fleet.ts";
import { Fetcher } from "../net/fetch/fetcher.ts";
import { OutpostService } from "../outposts/outposts.ts";
import { AgentSearch } from "../search/agent-search.ts";
import { SearchThread } from "../search/thread.ts";
import { FileReporter } from "../wires/files/reporter.ts";
import type { Config } from "./config.ts";
import type { SubmitJob } from "../wires/outpost/inbox.ts";
import type { Uplink } from "../wires/outpost/uplink.ts";
import { embedderFor } from "./embedder.ts";
import { Notifications } from "./notifications.ts";
import type { Logger } from "./logger.ts";
import { startUplink } from "./uplink.ts";

export interface ServicesOptions {
  readonly config: Config;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether other nodes have the same fleet. */
  readonly isShared: boolean;
  /** Whether only this machine is answered: then its agents may be visited, too. */
  readonly isLoopbackOnly: boolean;
  readonly version: string;
  /** Has a job run by an agent of this daemon. */
  readonly submit: SubmitJob;
}

export interface DaemonServices {
  readonly claims: TaskClaims;
  readonly search: AgentSearch;
  readonly fleet: Fleet;
  readonly outposts: OutpostService;
  /** To the team's daemon, of one that is an outpost. */
  readonly uplink: Uplink | undefined;
  readonly directory: DirectoryService;
  close(): Promise<void>;
}

export function startServices(options: ServicesOptions): DaemonServices {
  const { config, engine, clock, logger } = options;
  const onTrouble = (what: string, error: unknown) => logger.warn({ err: error }, what);
  const claims = new TaskClaims({ engine });
  const embedder = embedderFor(config.embedder, logger);
  const thread = new SearchThread({ embedder, onTrouble });
  const search = new AgentSearch({ engine, thread });
  const fleet = new Fleet({ engine, clock, patience: config.patience });
  const outposts = new OutpostService({ engine, clock, ownHosts: [hostname(), config.node] });
  const fetcher = new Fetcher({
    reach: { allowsLoopback: options.isLoopbackOnly, allowed: config.a2a.allowedAddresses },
    limits: { requestMs: config.a2a.fetchTimeoutMs, budgetMs: config.a2a.fetchTimeoutMs },
    onFailure: (detail) => logger.debug(detail, "a card could not be fetched"),
  });
  const directory = new DirectoryService({
    engine,
    clock,
    fetcher,
    thread,
    intervalS: config.a2a.intervalS,
    staleMultiplier: config.a2a.staleMultiplier,
    cleanupMs: config.a2a.cleanupMs,
    fetchTimeoutMs: config.a2a.fetchTimeoutMs,
    trust: { pinned: config.a2a.keys },
    onTrouble,
  });
  const mentions = new Mentions({ engine, directory });
  const files =
    config.statusDir === undefined
      ? undefined
      : new FileReporter({
          folder: config.statusDir,
          host: hostname(),
          clock,
          fleetMs: () => engine.nowMs,
          report: (report) => fleet.report(report, ownBy("files")),
          known: () => fleet.reports(),
          onCard: (card) => mentions.add(card),
          onTrouble,
        });
  const discovery = config.statusDir === undefined ? undefined : new CodexDiscovery(clock);
  const uplink = startUplink(options);
  const notifications = new Notifications({
    config: config.notify,
    fleet,
    clock,
    onTrouble,
    isTeller: () => engine.mode === "leading" || !options.isShared,
  });
  return {
    claims,
    search,
    fleet,
    outposts,
    uplink,
    directory,
    async close() {
      await uplink?.close();
      claims.close();
      discovery?.close();
      outposts.close();
      fleet.close();
      mentions.close();
      await fetcher.close();
      await Promise.all([search.close(), directory.close(), files?.close(), notifications.close()]);
    },
  };
}
