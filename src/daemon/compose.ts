/**
 * The daemon: a store, the engine on it, and two doors in front, opened in this order and closed in
 * the opposite one. What cannot be opened closes what was.
 */
import type { By } from "../core/by.ts";
import type { Clock } from "../core/clock.ts";
import { systemClock } from "../machine/clock.ts";
import { Audit } from "../engine/audit.ts";
import { Engine } from "../engine/engine.ts";
import type { Store } from "../log/store.ts";
import { importLedger } from "../wires/arcp/ledger/import.ts";
import type { Address } from "./address.ts";
import { announce } from "./announcement.ts";
import { Backups } from "./backups.ts";
import { backUpLog } from "./copies.ts";
import { DaemonArcp } from "./arcp/service.ts";
import { Cluster } from "./members/cluster.ts";
import { chain } from "../identity/chain.ts";
import { Certificates } from "../identity/certificates.ts";
import { issuerFetcher } from "../identity/oidc/issuer-keys.ts";
import { JwtCallers } from "../identity/oidc/jwt-callers.ts";
import { tellingRefusals } from "../identity/refused.ts";
import { permitBy } from "../operations/access.ts";
import { LocalUsers } from "../identity/local-users.ts";
import { Networks } from "../identity/networks.ts";
import { Origins } from "../identity/origin.ts";
import { PeerUsers } from "../identity/peer-users.ts";
import { ProxyUsers } from "../identity/proxy-users.ts";
import { BearerTokens } from "../identity/tokens.ts";
import type { Config } from "./config.ts";
import { shutDown } from "./closing.ts";
import { openDoors, type Doors } from "./doors.ts";
import { answersOthers } from "./exposure.ts";
import { createLogger, type Logger } from "./logger.ts";
import { Metrics } from "./metrics.ts";
import { OwnToken } from "./own-token.ts";
import { startServices, type DaemonServices } from "./services.ts";
import { storeOf } from "./store.ts";
import { KeyPair } from "../net/tls/pair.ts";
import { releaseVersion } from "./version.ts";

export interface Daemon {
  readonly grpcAddress: Address | undefined;
  readonly httpAddress: Address | undefined;
  /** Where ARCP has a port of its own. */
  readonly arcpAddress: Address | undefined;
  /** Of the A2A registry, where it has a door of its own. */
  readonly a2aAddress: Address | undefined;
  /** The kind of store and its path. */
  readonly stateDescription: string;
  readonly engine: Engine;
  /** Resolves, closed, when it could not go on. */
  readonly failed: Promise<Error>;
  /** The lines for the person who started it. */
  announcement(): string[];
  /** Idempotent; done in under 5 s. */
  close(): Promise<void>;
}

export interface DaemonOptions {
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** The environment of hosted agents that run in their own processes. */
  readonly env?: NodeJS.ProcessEnv;
}

export async function startDaemon(config: Config, options: DaemonOptions = {}): Promise<Daemon> {
  const logger = options.logger ?? createLogger({ level: config.logLevel });
  const { clock = systemClock } = options;
  const release = releaseVersion();
  const metrics = new Metrics();
  const opened: Opened = {};
  let trouble = "";
  try {
    const pair = await openPair(config, clock, logger);
    opened.pair = pair;
    const store = storeOf(config, release, logger);
    opened.store = store;
    await importLedger(store, {
      node: config.node,
      onImport: (found) =>
        logger.info(found, "importing the jobs of an older version into the log"),
    });
    const audit = new Audit({
      streams: store.streams,
      clock,
      onTrouble: (what, error) => logger.warn({ err: error }, what),
    });
    opened.audit = audit;
    const cluster = store.log.shared
      ? await Cluster.start({ config, clock, logger, version: release })
      : undefined;
    opened.cluster = cluster;
    const arcp = await DaemonArcp.start({
      audit,
      agents: config.agents,
      node: config.node,
      streams: store.streams,
      clock,
      logger,
      version: release,
      env: options.env ?? process.env,
    });
    opened.arcp = arcp;
    const engine = await Engine.open({
      ...cluster?.engineOptions,
      log: store.log,
      companion: arcp.companion,
      audit,
      node: config.node,
      clock,
      onAppend: (events, tookMs) => metrics.appended(events, tookMs),
      onTrouble: (what, error) => {
        trouble = `${what}: ${error instanceof Error ? error.message : String(error)}`;
        logger.warn({ err: error }, what);
      },
    });
    opened.engine = engine;
    const machine = {
      trust: config.localTrust,
      users: new PeerUsers({ clock }),
      uid: process.getuid?.(),
    };
    const users = new LocalUsers({ ...machine, allowed: config.allowedUsers });
    const jwts =
      config.oidc && new JwtCallers({ config: config.oidc, fetcher: issuerFetcher(), clock });
    const ownToken = new OwnToken(config);
    const tokens = new BearerTokens({ engine, clock, jwts, ownToken: ownToken.secret });
    const networks = new Networks({
      trusted: config.trust,
      isInsecure: config.insecure,
      hasTls: pair !== undefined,
      proxyUsers: new ProxyUsers({ ...machine, allowed: config.proxyUsers }),
    });
    const certificates = new Certificates({ clients: config.tlsClients, clock });
    const identity = chain({
      origins: new Origins(config.trustedProxies),
      guard: networks.guard,
      steps: [certificates, tokens, users, networks],
    });
    const onStranger = (by: By, reason: string) =>
      audit.denied({ by, action: "authenticate", target: "" }, reason);
    const authenticator = tellingRefusals(identity, onStranger);
    await audit.trim();
    const isLoopbackOnly = !answersOthers(config);
    const services = startServices({
      config,
      engine,
      clock,
      logger,
      isShared: cluster !== undefined,
      isLoopbackOnly,
      version: release,
      submit: (order) => arcp.companion.jobs.submit(order),
    });
    opened.services = services;
    arcp.open(services.fleet);
    if (cluster) {
      arcp.relayBy(
        () => engine.mode === "leading",
        (terms) => cluster.relay(terms),
      );
      await cluster.open({
        engine,
        relays: { accept: (transport, caller) => arcp.acceptRelayed(transport, caller) },
        authenticator: chain({ origins: new Origins([]), guard: networks.guard, steps: [users] }),
      });
    }
    const doors = await openDoors({
      config,
      engine,
      services,
      arcp,
      cluster,
      store,
      metrics,
      logger,
      clock,
      authenticator,
      onStranger,
      permit: permitBy(engine, (act, reason) => audit.denied(act, reason)),
      audit,
      tokens,
      pair,
      version: release,
      trouble: () => trouble,
    });
    ownToken.publish(doors);
    const backups = backupsOf({ config, audit, clock, logger }, release);
    const closing = { audit, pair, ownToken, certificates, backups, cluster };
    const parts = { config, store, engine, services, arcp, doors, metrics, logger, ...closing };
    return running({ ...parts, version: release });
  } catch (error) {
    metrics.close();
    await opened.arcp?.close();
    await opened.services?.close();
    await opened.audit?.close();
    await opened.cluster?.leave();
    await opened.engine?.close();
    await opened.cluster?.close();
    await opened.store?.close();
    opened.pair?.close();
    throw error;
  }
}

/** As far as it came. */
interface Opened {
  pair?: KeyPair | undefined;
  store?: Store;
  engine?: Engine;
  services?: DaemonServices;
  arcp?: DaemonArcp;
  cluster?: Cluster | undefined;
  audit?: Audit;
}

interface DaemonParts {
  readonly config: Config;
  readonly audit: Audit;
  readonly pair: KeyPair | undefined;
  readonly certificates: Certificates;
  readonly backups: Backups | undefined;
  readonly store: Store;
  readonly engine: Engine;
  readonly services: DaemonServices;
  readonly arcp: DaemonArcp;
  /** Where the log is shared with other nodes. */
  readonly cluster: Cluster | undefined;
  readonly doors: Doors;
  readonly ownToken: OwnToken;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly version: string;
}

function running(parts: DaemonParts): Daemon {
  const { store, engine, doors, logger, cluster } = parts;
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= shutDown(parts));
  // At debug only: the announcement says the same to the person who started it.
  logger.debug(
    { grpc: doors.grpcAddress, http: doors.httpAddress, state: store.description },
    "up",
  );
  return {
    grpcAddress: doors.grpcAddress,
    httpAddress: doors.httpAddress,
    arcpAddress: doors.arcpAddress,
    a2aAddress: doors.a2aAddress,
    stateDescription: store.description,
    engine,
    failed: Promise.race([doors.failed, ...(cluster ? [cluster.failed] : [])]).then(
      async (error) => {
        logger.fatal({ err: error }, "cannot go on");
        await close();
        return error;
      },
    ),
    announcement: () => announce(parts),
    close,
  };
}

interface BackupParts {
  readonly config: Config;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly logger: Logger;
}

function backupsOf(parts: BackupParts, release: string): Backups | undefined {
  const { config, audit, clock, logger } = parts;
  const { backups: plan, dataDir, log } = config;
  if (!plan || dataDir === undefined) return undefined;
  return new Backups({
    ...plan,
    make: (target) => backUpLog(log, { target, madeBy: `rollcall ${release}` }),
    dataDir,
    audit,
    clock,
    onBackup: (file) => logger.info({ file }, "made a backup"),
    onTrouble: (what, error) => logger.error({ err: error }, what),
  });
}

async function openPair(
  { tls: files }: Config,
  clock: Clock,
  logger: Logger,
): Promise<KeyPair | undefined> {
  if (!files) return undefined;
  return KeyPair.open({
    files,
    clock,
    onRenewal: ({ fingerprint256, validTo }) =>
      logger.info({ fingerprint256, validTo }, "new connections get the new certificate"),
    onTrouble: (error) => logger.error({ err: error }, "the old certificate stays in use"),
  });
}
