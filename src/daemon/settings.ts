/**
 * Everything that can be set, once: the command line makes its flags and its help of this table,
 * and config.ts reads the same names from the file and the environment.
 *
 * No parser is imported here, so that `rollcall --help` stays fast.
 */

export type SettingName =
  | "addr"
  | "http_addr"
  | "arcp_addr"
  | "data_dir"
  | "memory"
  | "log"
  | "log_durability"
  | "log_credentials_file"
  | "nats_monitor"
  | "nats_replicas"
  | "backup_every"
  | "backup_keep"
  | "node"
  | "cluster_addr"
  | "advertise"
  | "cluster_cert"
  | "cluster_key"
  | "cluster_ca"
  | "failover"
  | "leader"
  | "node_lost_after"
  | "accept_loss"
  | "socket"
  | "local_trust"
  | "allowed_users"
  | "oidc_issuer"
  | "oidc_audience"
  | "oidc_claim"
  | "oidc_roles"
  | "tls_cert"
  | "tls_key"
  | "tls_client_ca"
  | "tls_clients"
  | "trust"
  | "trusted_proxies"
  | "proxy_users"
  | "insecure"
  | "reflection"
  | "allowed_hosts"
  | "rate_limit"
  | "embedder_url"
  | "embedder_model"
  | "embedder_key_file"
  | "a2a_addr"
  | "a2a_version"
  | "a2a_interval"
  | "a2a_stale_multiplier"
  | "a2a_cleanup_interval"
  | "a2a_fetch_timeout"
  | "a2a_allowed_addresses"
  | "a2a_keys_file"
  | "join"
  | "token_file"
  | "join_ca"
  | "share"
  | "share_exclude"
  | "redact"
  | "accept"
  | "status_dir"
  | "status_files"
  | "stuck_after"
  | "notify_terminal"
  | "notify_desktop"
  | "notify_command"
  | "notify_webhook"
  | "notify_mute"
  | "log_level"
  | "config";

export interface Setting {
  /** Its key in the config file. */
  readonly name: SettingName;
  /** Its flag, without the dashes; a switch also has `no-` in front of it. */
  readonly flag: string;
  readonly env: string;
  /** Older names of the same thing; a source may use one of them, not both. */
  readonly aliases: readonly { readonly flag: string; readonly env: string }[];
  readonly kind: "text" | "switch" | "list";
  /** The name of the value in help; empty for a switch. */
  readonly placeholder: string;
  readonly help: string;
  /** For people; empty when there is none. */
  readonly default: string;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const DEFAULT_ADDR = "127.0.0.1:7070";
export const DEFAULT_HTTP_ADDR = "127.0.0.1:9090";
export const DEFAULT_CLUSTER_ADDR = "127.0.0.1:7071";
export const DEFAULT_NODE_LOST_AFTER_S = 30;
export const DEFAULT_RATE_LIMIT = 2_000;
export const DEFAULT_BACKUP_KEEP = 7;

/** Of the A2A registry: what its peer does, but for evicting late. */
export const DEFAULT_A2A = {
  intervalS: 60,
  staleMultiplier: 3,
  cleanupIntervalS: 0,
  fetchTimeoutS: 10,
} as const;

export const SETTINGS: readonly Setting[] = [
  setting("addr", "where gRPC listens, or off", {
    placeholder: "HOST:PORT",
    default: DEFAULT_ADDR,
  }),
  setting("http_addr", "where HTTP listens", {
    placeholder: "HOST:PORT",
    default: DEFAULT_HTTP_ADDR,
    aliases: ["metrics-addr"],
  }),
  setting("arcp_addr", "a port for ARCP alone, as ws://HOST:PORT/arcp; HTTP serves it, too", {
    placeholder: "HOST:PORT",
  }),
  setting("data_dir", "where the state is kept", {
    placeholder: "DIR",
    default: "$XDG_STATE_HOME/rollcall, or ~/.local/state/rollcall",
  }),
  setting("memory", "keep the state in memory only: it is gone when the daemon stops", {
    kind: "switch",
    default: "false",
  }),
  setting("log", "where the log is: sqlite:[PATH], memory:, postgres://…/DB or nats://…/NAME", {
    placeholder: "URL",
    default: "sqlite: beside the state",
  }),
  setting("log_durability", "refuse (strict) servers that may lose acknowledged writes", {
    placeholder: "strict|trust",
    default: "strict",
  }),
  setting("log_credentials_file", "a file with the password for the log; or set PGPASSWORD", {
    placeholder: "FILE",
  }),
  setting("nats_monitor", "monitoring ports of all NATS servers, which say how they sync", {
    placeholder: "URL,…",
    kind: "list",
  }),
  setting("nats_replicas", "how many NATS servers keep a log", { placeholder: "N", default: "3" }),
  setting("backup_every", "hours between backups of the state, into backups beside it; 0: none", {
    placeholder: "HOURS",
    default: "0",
  }),
  setting("backup_keep", "how many of those backups are kept", {
    placeholder: "N",
    default: String(DEFAULT_BACKUP_KEEP),
  }),
  setting("node", "the name of this daemon in its log; unique in a cluster", {
    placeholder: "NAME",
    default: "the host's name",
  }),
  setting("cluster_addr", "where the other members of a cluster reach this one", {
    placeholder: "HOST:PORT",
    default: `${DEFAULT_CLUSTER_ADDR}, where the log is shared`,
  }),
  setting("advertise", "the address that other members use for it, where it differs", {
    placeholder: "HOST:PORT",
    default: "cluster_addr",
  }),
  setting("cluster_cert", "this member's certificate, PEM; needed beyond one machine", {
    placeholder: "FILE",
  }),
  setting("cluster_key", "its private key, PEM", { placeholder: "FILE" }),
  setting("cluster_ca", "the authority that signs the certificates of all members, PEM", {
    placeholder: "FILE",
  }),
  setting("failover", "how soon another member leads: within 2 s, or 6 s for slow links", {
    placeholder: "fast|calm",
    default: "fast",
  }),
  setting("leader", "whether this member may lead", {
    placeholder: "eligible|never",
    default: "eligible",
  }),
  setting("node_lost_after", "seconds of silence after which a member is taken off the list", {
    placeholder: "S",
    default: String(DEFAULT_NODE_LOST_AFTER_S),
  }),
  setting("accept_loss", "start although the log lost events that this member has seen", {
    kind: "switch",
    default: "false",
  }),
  setting("socket", "a unix socket for HTTP and gRPC, for this user alone; or off", {
    placeholder: "PATH",
    default: "rollcall.sock beside the state",
  }),
  setting("local_trust", "callers on this machine to let in", {
    placeholder: "user|token|any|none",
    default: "user (see allowed_users); any on macOS and Windows, where user is token",
  }),
  setting("allowed_users", "other users of this machine to let in, as an agent or in a role", {
    placeholder: "USER[=ROLE],…",
    kind: "list",
  }),
  setting("oidc_issuer", "the OpenID Connect issuer whose JWTs are taken as bearer tokens", {
    placeholder: "URL",
  }),
  setting("oidc_audience", "the audience that such a JWT must name", { placeholder: "TEXT" }),
  setting("oidc_claim", "the claim that names the caller", {
    placeholder: "CLAIM",
    default: "sub",
  }),
  setting("oidc_roles", "the roles that claims give; * is every JWT of the issuer", {
    placeholder: "CLAIM:VALUE=ROLE,…",
    kind: "list",
  }),
  setting("tls_cert", "the certificate for TLS on every port, PEM; read again when it changes", {
    placeholder: "FILE",
  }),
  setting("tls_key", "its private key, PEM", { placeholder: "FILE" }),
  setting("tls_client_ca", "authorities that sign the certificates of clients, PEM", {
    placeholder: "FILE",
  }),
  setting("tls_clients", "clients by the names in their certificates, as agents or in a role", {
    placeholder: "NAME[=ROLE],…",
    kind: "list",
  }),
  setting("trust", "networks whose callers are let in without a token, as agents or in a role", {
    placeholder: "ADDRESS[/BITS][=ROLE],…",
    kind: "list",
  }),
  setting("trusted_proxies", "proxies whose X-Forwarded-For is believed", {
    placeholder: "ADDRESS[/BITS],…",
    kind: "list",
  }),
  setting("proxy_users", "users of this machine whose processes are such proxies, beside root", {
    placeholder: "USER,…",
    kind: "list",
  }),
  setting("insecure", "listen beyond this machine without TLS: tokens can be read on their way", {
    kind: "switch",
    default: "false",
  }),
  setting("reflection", "let gRPC clients ask which services there are", {
    kind: "switch",
    default: "true",
  }),
  setting("allowed_hosts", "more names by which HTTP clients may call this daemon", {
    placeholder: "HOST[:PORT],…",
    kind: "list",
  }),
  setting("rate_limit", "calls a second that one caller may make, 0 for no limit", {
    placeholder: "N",
    default: String(DEFAULT_RATE_LIMIT),
  }),
  setting("embedder_url", "an embedding endpoint like OpenAI's, in place of the built-in model", {
    placeholder: "URL",
  }),
  setting("embedder_model", "the model that the endpoint should run", { placeholder: "NAME" }),
  setting("embedder_key_file", "a file with the endpoint's key; or set ROLLCALL_EMBEDDER_KEY", {
    placeholder: "FILE",
  }),
  setting("a2a_addr", "a port for the A2A registry and MCP alone; HTTP serves both, too", {
    placeholder: "HOST:PORT",
  }),
  setting("a2a_version", "version of cards for clients that name none; own: the agent's", {
    placeholder: "own|0.3|1.0",
    default: "own",
  }),
  setting("a2a_interval", "seconds that A2A agents are asked to wait between heartbeats", {
    placeholder: "S",
    default: String(DEFAULT_A2A.intervalS),
  }),
  setting("a2a_stale_multiplier", "intervals of silence after which an A2A agent is evicted", {
    placeholder: "N",
    default: String(DEFAULT_A2A.staleMultiplier),
  }),
  setting("a2a_cleanup_interval", "more seconds of silence before it is evicted", {
    placeholder: "S",
    default: String(DEFAULT_A2A.cleanupIntervalS),
  }),
  setting("a2a_fetch_timeout", "seconds that an A2A agent may take to send its card", {
    placeholder: "S",
    default: String(DEFAULT_A2A.fetchTimeoutS),
  }),
  setting("a2a_allowed_addresses", "private addresses from which agent cards may be fetched", {
    placeholder: "ADDRESS[/BITS],…",
    kind: "list",
  }),
  setting("a2a_keys_file", "a JWK set: the public keys that agent cards may be signed with", {
    placeholder: "FILE",
  }),
  setting("join", "report to the team's daemon at this URL, as an outpost of it", {
    placeholder: "URL",
  }),
  setting("token_file", "a file with the token for it; read again at every connection", {
    placeholder: "FILE",
  }),
  setting("join_ca", "authorities that sign that daemon's certificate, PEM", {
    placeholder: "FILE",
    default: "the system's",
  }),
  setting("share", "what leaves this machine: status, questions (with status) or all", {
    placeholder: "WHAT",
    default: "questions",
  }),
  setting("share_exclude", "folders whose agents are not shared; * stands for any characters", {
    placeholder: "DIR,…",
    kind: "list",
  }),
  setting("redact", "texts to leave out of all that is shared: goals, commands", {
    placeholder: "WHAT,…",
    kind: "list",
  }),
  setting("accept", "what the team may do here: nothing, answers, or jobs (and answers)", {
    placeholder: "WHAT",
    default: "answers",
  }),
  setting("status_dir", "where the status files of this machine's agents are", {
    placeholder: "DIR",
    default: "$AGENT_STATUS_DIR, or agent-status beside the state",
  }),
  setting("status_files", "follow the status files of this machine", {
    kind: "switch",
    default: "true",
  }),
  setting("stuck_after", "minutes without activity until a working agent is a problem", {
    placeholder: "[STATE=]MIN,…",
    kind: "list",
    default: "10,waiting=30",
  }),
  setting("notify_terminal", "tell this terminal when an agent needs you: off, bell or osc9", {
    placeholder: "HOW",
    default: "off",
  }),
  setting("notify_desktop", "tell the desktop when an agent needs you", {
    kind: "switch",
    default: "false",
  }),
  setting("notify_command", "run this when an agent needs you; its question is in ROLLCALL_TEXT", {
    placeholder: "PROGRAM[,ARG…]",
    kind: "list",
  }),
  setting("notify_webhook", "post to this address when an agent needs you", { placeholder: "URL" }),
  setting("notify_mute", "folders whose agents send no notification", {
    placeholder: "DIR,…",
    kind: "list",
  }),
  setting("log_level", `how much to log: ${LOG_LEVELS.join(", ")}`, {
    placeholder: "LEVEL",
    default: "info",
  }),
  setting("config", "a TOML file with any of these, dashes written as underscores", {
    placeholder: "FILE",
  }),
];

/** Headings for the help, each with the setting that begins its group. */
export const SETTING_HEADINGS: Readonly<Partial<Record<SettingName, string>>> = {
  addr: "Ports",
  data_dir: "State",
  node: "Cluster",
  socket: "Callers",
  tls_cert: "TLS and other machines",
  reflection: "Limits of doors",
  embedder_url: "Search",
  a2a_addr: "A2A registry",
  join: "Outpost of a team",
  status_dir: "Agents of this machine",
  notify_terminal: "Notifications",
  log_level: "Other",
};

interface Extras {
  readonly kind?: Setting["kind"];
  readonly placeholder?: string;
  readonly default?: string;
  readonly aliases?: readonly string[];
}

function setting(name: SettingName, help: string, extras: Extras): Setting {
  const flag = name.replaceAll("_", "-");
  const { kind = "text", placeholder = "", aliases = [] } = extras;
  return {
    name,
    flag,
    env: envOf(flag),
    aliases: aliases.map((alias) => ({ flag: alias, env: envOf(alias) })),
    kind,
    placeholder,
    help,
    default: extras.default ?? "",
  };
}

function envOf(flag: string): string {
  return `ROLLCALL_${flag.replaceAll("-", "_").toUpperCase()}`;
}
