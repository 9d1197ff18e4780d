/**
 * The configuration of the daemon: a TOML file, then the environment, then flags, each overruling
 * the one before. A wrong value is refused with its source and the allowed values, even where it
 * would be overruled: a mistake should not wait for the day it counts.
 */
import { homedir, hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { ListedVersion } from "../directory/cards/versions.ts";
import { RollcallError } from "../core/errors.ts";
import type { Failover } from "../core/limits.ts";
import { parseAgents, type AgentConfig } from "./arcp/agents-config.ts";
import type { PinnedKey } from "../directory/signatures.ts";
import { formatAddress, isWide, parseAddress, type Address } from "./address.ts";
import { cardKeys } from "./card-keys.ts";
import { parseValues, type Values } from "./config-schema.ts";
import { fromEnvironment, fromFile, fromFlags } from "./config-sources.ts";
import { DEFAULT_PATIENCE, type Patience } from "../fleet/stuck.ts";
import { statusFolder } from "../wires/files/folder.ts";
import { embedderConfig, type EmbedderConfig } from "./embedder.ts";
import type { InRole } from "../core/principals.ts";
import { localTrustOn, type AllowedUser, type LocalTrust } from "../identity/local-users.ts";
import type { OidcConfig } from "../identity/oidc/jwt-callers.ts";
import { LOCAL_TOKEN_NAME } from "../machine/local-token.ts";
import { SOCKET_NAME, stateFolder } from "../machine/places.ts";
import { usersOf } from "../machine/users.ts";
import type { PairFiles } from "../net/tls/pair.ts";
import { MAX_SOCKET_PATH } from "./local-socket.ts";
import { outpostConfig, type OutpostConfig } from "./outpost-config.ts";
import type { NotifyConfig } from "./notifications.ts";
import {
  DEFAULT_A2A,
  DEFAULT_ADDR,
  DEFAULT_BACKUP_KEEP,
  DEFAULT_CLUSTER_ADDR,
  DEFAULT_HTTP_ADDR,
  DEFAULT_NODE_LOST_AFTER_S,
  DEFAULT_RATE_LIMIT,
} from "./settings.ts";
import type { LogLevel } from "./settings.ts";
import { stateOf, type LogConfig, type StateVoice } from "./state-config.ts";
import type { BackupPlan } from "./backups.ts";
import { HOUR } from "../core/units.ts";

/** The registry of A2A agents. */
export interface A2aConfig {
  /** A door of its own; absent: on the HTTP door alone. */
  readonly addr: Address | undefined;
  /** Of the cards, for readers that ask for none. */
  readonly version: ListedVersion;
  readonly intervalS: number;
  readonly staleMultiplier: number;
  /** How much longer a silent agent stays listed. */
  readonly cleanupMs: number;
  readonly fetchTimeoutMs: number;
  /** Private ones from which cards may be fetched. */
  readonly allowedAddresses: readonly string[];
  /** Keys that may sign cards, beside those at a card's own origin. */
  readonly keys: readonly PinnedKey[];
}

/** Of a node that shares its log with others. */
export interface ClusterConfig {
  /** Where other members reach it. */
  readonly addr: Address;
  /** The same as they see it; absent: the address that it is bound to. */
  readonly advertise: Address | undefined;
  /** Absent: members are processes of one user on one machine. */
  readonly tls: PairFiles | undefined;
  readonly failover: Failover;
  readonly mayLead: boolean;
  readonly lostAfterMs: number;
  readonly acceptLoss: boolean;
}

export interface Config {
  /** Of gRPC; absent: there is none. */
  readonly addr: Address | undefined;
  readonly httpAddr: Address;
  /** Whether a free port will do when this one is taken. */
  readonly httpMayMove: boolean;
  /** A port for ARCP alone; absent: HTTP serves it. */
  readonly arcpAddr: Address | undefined;
  /** The agents that the daemon hosts. */
  readonly agents: readonly AgentConfig[];
  /** Absent: in memory. */
  readonly dataDir: string | undefined;
  readonly log: LogConfig;
  /** Absent: no backups by the clock. */
  readonly backups: BackupPlan | undefined;
  readonly node: string;
  /** Only where the log is shared. */
  readonly cluster: ClusterConfig;
  /** The path of the unix socket; absent: there is none. */
  readonly socket: string | undefined;
  readonly localTrust: LocalTrust;
  /** The file with the token of the daemon's user; absent: there is none. */
  readonly localTokenFile: string | undefined;
  /** Other users of this machine that are let in. */
  readonly allowedUsers: readonly AllowedUser[];
  /** The issuer of JWTs that are let in; absent: there is none. */
  readonly oidc: OidcConfig | undefined;
  /** Absent: all connections are plain. */
  readonly tls: PairFiles | undefined;
  /** Names in the certificates of clients. */
  readonly tlsClients: readonly InRole[];
  /** Networks, by their ranges, whose callers are let in without a credential. */
  readonly trust: readonly InRole[];
  /** Ranges of proxies that say where a call comes from. */
  readonly trustedProxies: readonly string[];
  /** The users of proxies on this machine. */
  readonly proxyUsers: readonly { readonly name: string; readonly uid: number }[];
  /** Whether tokens may come from other machines without TLS. */
  readonly insecure: boolean;
  readonly reflection: boolean;
  readonly allowedHosts: readonly string[];
  /** Requests a second from one address; 0 means no limit. */
  readonly rateLimit: number;
  /** Absent: the built-in model. */
  readonly embedder: EmbedderConfig | undefined;
  readonly a2a: A2aConfig;
  /** The team's daemon that this one reports to; absent: it reports to nobody. */
  readonly outpost: OutpostConfig | undefined;
  /** Where the status files of this machine are; absent: they are not followed. */
  readonly statusDir: string | undefined;
  /** How long an agent may claim to work without activity. */
  readonly patience: Patience;
  readonly notify: NotifyConfig;
  readonly logLevel: LogLevel;
}

export interface ConfigSources {
  /** By the names in SETTINGS, without the dashes; a switch is "true" or "false". */
  readonly flags: Partial<Record<string, string>>;
  readonly env: NodeJS.ProcessEnv;
  /** Whether HTTP may take a free port where none was set and the default one is taken. */
  readonly mayMoveHttp?: boolean;
  /** The base of relative paths. */
  readonly cwd?: string;
  readonly home?: string;
  readonly platform?: NodeJS.Platform;
}

/** The values of one source, and the base of its relative paths. */
interface Voice {
  readonly values: Values;
  readonly folder: string;
}

export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const { env, cwd = process.cwd(), home = homedir(), platform = process.platform } = sources;
  const flags: Voice = { values: parseValues(fromFlags(sources.flags)), folder: cwd };
  const environment: Voice = { values: parseValues(fromEnvironment(env)), folder: cwd };
  const named = flags.values.config ?? environment.values.config;
  const voices = [flags, environment];
  let agents: readonly AgentConfig[] = [];
  if (named !== undefined) {
    const path = atHome(named, { folder: cwd, home });
    const file = await fromFile(path);
    const folder = dirname(path);
    voices.push({ values: parseValues(file.said), folder });
    agents = parseAgents(file.agents, { path, folder });
  }
  const values = voices.reduceRight<Values>(
    (weaker, voice) => ({ ...weaker, ...voice.values }),
    {},
  );
  const { dataDir: state, log } = stateOf({
    voices: voices.map((voice) => voiceOf(voice, home)),
    defaultDir: stateFolder({ ...env, HOME: home }),
    durability: values.log_durability ?? "strict",
    credentialsFile: pathOf("log_credentials_file", voices, home),
    natsMonitors: values.nats_monitor ?? [],
    natsReplicas: values.nats_replicas ?? DEFAULT_NATS_REPLICAS,
  });
  const { addr, http_addr: http, arcp_addr: arcp, a2a_addr: a2a } = values;
  const doors = [addr, http, arcp, a2a];
  const isReached = doors.some((door) => typeof door === "object" && isWide(door));
  const localTrust = localTrustOn({ platform, isWide: isReached }, values.local_trust);
  return {
    addr: values.addr === "off" ? undefined : (values.addr ?? parseAddress(DEFAULT_ADDR)),
    httpAddr: values.http_addr ?? parseAddress(DEFAULT_HTTP_ADDR),
    httpMayMove: sources.mayMoveHttp === true && values.http_addr === undefined,
    arcpAddr: values.arcp_addr,
    agents,
    dataDir: state,
    log,
    socket: socketPath(pathOf("socket", voices, home), platform === "win32" ? undefined : state),
    localTrust,
    localTokenFile: localTrust === "token" ? localTokenFile(state) : undefined,
    allowedUsers: await usersOf("allowed_users", values.allowed_users ?? []),
    oidc: oidcOf(values),
    tls: tlsFiles(values, (name) => pathOf(name, voices, home)),
    tlsClients: values.tls_clients ?? [],
    trust: values.trust ?? [],
    trustedProxies: values.trusted_proxies ?? [],
    proxyUsers: await usersOf(
      "proxy_users",
      (values.proxy_users ?? []).map((name) => ({ name })),
    ),
    insecure: values.insecure ?? false,
    node: values.node ?? nodeName(hostname()),
    cluster: clusterOf(values, (name) => pathOf(name, voices, home)),
    reflection: values.reflection ?? true,
    allowedHosts: values.allowed_hosts ?? [],
    backups: backupPlan(values),
    rateLimit: values.rate_limit ?? DEFAULT_RATE_LIMIT,
    embedder: await embedderConfig({
      url: values.embedder_url,
      model: values.embedder_model,
      keyFile: pathOf("embedder_key_file", voices, home),
      env,
    }),
    a2a: {
      addr: values.a2a_addr,
      version: values.a2a_version ?? "own",
      intervalS: values.a2a_interval ?? DEFAULT_A2A.intervalS,
      staleMultiplier: values.a2a_stale_multiplier ?? DEFAULT_A2A.staleMultiplier,
      cleanupMs: 1000 * (values.a2a_cleanup_interval ?? DEFAULT_A2A.cleanupIntervalS),
      fetchTimeoutMs: 1000 * (values.a2a_fetch_timeout ?? DEFAULT_A2A.fetchTimeoutS),
      allowedAddresses: values.a2a_allowed_addresses ?? [],
      keys: await cardKeys(pathOf("a2a_keys_file", voices, home)),
    },
    outpost: outpostConfig(values, {
      path: (name) => pathOf(name, voices, home),
      pattern: (text) => (text.startsWith("*") ? text : atHome(text, { folder: cwd, home })),
    }),
    statusDir:
      values.status_files === false
        ? undefined
        : (pathOf("status_dir", voices, home) ?? statusFolder({ ...env, HOME: home })),
    patience: patienceOf(values.stuck_after ?? []),
    notify: {
      terminal: values.notify_terminal ?? "off",
      desktop: values.notify_desktop ?? false,
      command: values.notify_command ?? [],
      webhook: () => values.notify_webhook,
      mutes: (values.notify_mute ?? []).map((folder) => atHome(folder, { folder: cwd, home })),
    },
    logLevel: values.log_level ?? "info",
  };
}

/** All of it or nothing: an issuer without an audience would let in the JWTs of other services. */
function oidcOf(values: Values): OidcConfig | undefined {
  const { oidc_issuer: issuer, oidc_audience: audience, oidc_roles: roles } = values;
  if (issuer !== undefined && audience !== undefined && roles !== undefined && roles.length > 0) {
    return { issuer, audience, claim: values.oidc_claim ?? "sub", roles };
  }
  if (issuer === undefined && audience === undefined && roles === undefined) return undefined;
  const message = "oidc_issuer, oidc_audience and oidc_roles go together: give all three";
  throw new RollcallError("INVALID_ARGUMENT", message);
}

function voiceOf({ values, folder }: Voice, home: string): StateVoice {
  const path = (each: string) => atHome(each, { folder, home });
  const { memory = false, log, data_dir: said } = values;
  return { memory, log, dataDir: said === undefined ? undefined : path(said), path };
}

/** Clients look for it beside the state. */
function localTokenFile(folder: string | undefined): string {
  if (folder !== undefined) return join(folder, LOCAL_TOKEN_NAME);
  const why = "local_trust needs a folder for the token of this user";
  throw new RollcallError("INVALID_ARGUMENT", `${why}: give a data_dir, or set local_trust to any`);
}

/** In memory there is no folder that it could lie in, and a path that is too long takes none. */
function socketPath(given: string | undefined, folder: string | undefined): string | undefined {
  if (given !== undefined) {
    if (basename(given) === "off") return undefined;
    if (Buffer.byteLength(given) <= MAX_SOCKET_PATH) return given;
    const message = `the path of the socket has more than ${MAX_SOCKET_PATH} bytes: ${given}`;
    throw new RollcallError("INVALID_ARGUMENT", message);
  }
  const path = folder === undefined ? undefined : join(folder, SOCKET_NAME);
  return path === undefined || Buffer.byteLength(path) > MAX_SOCKET_PATH ? undefined : path;
}

/** A certificate has a key, and those of clients are asked for in TLS alone. */
function tlsFiles(values: Values, path: (name: PathName) => string | undefined) {
  const [cert, key, clientCa] = [path("tls_cert"), path("tls_key"), path("tls_client_ca")];
  if (cert !== undefined && key !== undefined) {
    if (clientCa !== undefined || !values.tls_clients) return { cert, key, clientCa };
    throw lacking("tls_clients", "tls_client_ca");
  }
  if (cert !== undefined) throw lacking("tls_cert", "tls_key");
  if (key !== undefined) throw lacking("tls_key", "tls_cert");
  if (clientCa !== undefined) throw lacking("tls_client_ca", "tls_cert and tls_key");
  if (values.tls_clients) throw lacking("tls_clients", "tls_cert, tls_key and tls_client_ca");
  return undefined;
}

/** A member acts for every caller: beyond one machine it needs a certificate. */
function clusterOf(values: Values, path: (name: PathName) => string | undefined): ClusterConfig {
  const addr = values.cluster_addr ?? parseAddress(DEFAULT_CLUSTER_ADDR);
  const [cert, key, ca] = [path("cluster_cert"), path("cluster_key"), path("cluster_ca")];
  const given = [cert, key, ca].filter((file) => file !== undefined);
  const fix = "give all three of cluster_cert, cluster_key and cluster_ca";
  if (given.length === 0 && isWide(addr)) {
    const message = `cluster_addr ${formatAddress(addr)} reaches beyond this machine: ${fix}`;
    throw new RollcallError("INVALID_ARGUMENT", message);
  }
  const tls =
    cert !== undefined && key !== undefined && ca !== undefined
      ? { cert, key, clientCa: ca }
      : undefined;
  if (given.length > 0 && !tls) throw new RollcallError("INVALID_ARGUMENT", fix);
  return {
    addr,
    advertise: values.advertise,
    tls,
    failover: values.failover ?? "fast",
    mayLead: values.leader !== "never",
    lostAfterMs: 1000 * (values.node_lost_after ?? DEFAULT_NODE_LOST_AFTER_S),
    acceptLoss: values.accept_loss ?? false,
  };
}

function lacking(given: string, missing: string): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", `${given} needs ${missing} beside it`);
}

type PathName =
  | "a2a_keys_file"
  | "embedder_key_file"
  | "log_credentials_file"
  | "token_file"
  | "join_ca"
  | "status_dir"
  | "socket"
  | "tls_cert"
  | "tls_key"
  | "tls_client_ca"
  | "cluster_cert"
  | "cluster_key"
  | "cluster_ca";

/** A path starts from where it was said. */
function pathOf(name: PathName, voices: readonly Voice[], home: string): string | undefined {
  for (const { values, folder } of voices) {
    const path = values[name];
    if (path !== undefined) return atHome(path, { folder, home });
  }
  return undefined;
}

const DEFAULT_NATS_REPLICAS = 3;

function backupPlan({ backup_every: hours = 0, backup_keep: keep }: Values) {
  if (hours === 0) return undefined;
  return { everyMs: hours * HOUR, keep: keep ?? DEFAULT_BACKUP_KEEP };
}

/** A value for one state overrules the value for all. */
function patienceOf(said: NonNullable<Values["stuck_after"]>): Patience {
  const patience: Record<string, number> = {};
  const given = (ms: number) => (ms === 0 ? Infinity : ms);
  const forAll = said.find(({ state }) => state === undefined);
  if (forAll) for (const state of Object.keys(DEFAULT_PATIENCE)) patience[state] = given(forAll.ms);
  for (const { state, ms } of said) if (state !== undefined) patience[state] = given(ms);
  return patience;
}

/** A leading ~ is the home: no shell stands between a file or a variable and us. */
function atHome(path: string, { folder, home }: { folder: string; home: string }): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return resolve(folder, path);
}

/** The host's name, in the letters a node may have. */
function nodeName(host: string): string {
  const name = host.replaceAll(/[^A-Za-z0-9._-]/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return name.slice(0, 128) || "solo";
}
