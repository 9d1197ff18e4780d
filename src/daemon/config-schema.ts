/** The allowed values of each setting, and their description for error messages. */
import { isIP } from "node:net";
import { z } from "zod";
import { HEARTBEAT } from "../core/card-limits.ts";
import { LISTED_VERSIONS } from "../directory/cards/versions.ts";
import { RollcallError } from "../core/errors.ts";
import { DIRECTORY, FLEET } from "../core/limits.ts";
import { ACCEPTS, SHARES } from "../core/outposts.ts";
import { ROLES } from "../core/principals.ts";
import { DURABILITIES } from "../log/durability.ts";
import { NATS_SYNTAX } from "../log/nats/url.ts";
import { POSTGRES_SYNTAX } from "../log/postgres/url.ts";
import type { RoleRule } from "../identity/oidc/roles.ts";
import { httpUrl } from "../net/http/url.ts";
import { isLoopbackHost } from "../net/loopback.ts";
import { REDACTIONS } from "../wires/outpost/policy.ts";
import { LOCAL_TRUSTS } from "../identity/local-users.ts";
import { ADDRESS_SYNTAX, parseAddress } from "./address.ts";
import { LOG_LEVELS, type SettingName } from "./settings.ts";
import { MINUTE, SECOND } from "../core/units.ts";

/** A value as it was given, and its source: "--addr", "ROLLCALL_ADDR", "addr in FILE". */
export interface SettingText {
  readonly value: unknown;
  readonly source: string;
}

const MAX_RATE_LIMIT = 1_000_000;
const MAX_FETCH_S = 30;
/** Twenty days: timers cannot wait for longer than 24. */
const MAX_BACKUP_HOURS = 480;
const MAX_BACKUPS = 1_000;
/** Longer than a name may be silent before another takes it (core/limits.ts). */
const MIN_LOST_S = 10;
const MAX_LOST_S = 3_600;
const MAX_CLEANUP_S = DIRECTORY.cleanupMsMost / SECOND;

const isOn = z.union([
  z.boolean(),
  z.enum(["true", "1", "yes", "on"]).transform(() => true),
  z.enum(["false", "0", "no", "off"]).transform(() => false),
]);

const address = z.string().transform((text, context) => {
  try {
    return parseAddress(text);
  } catch {
    context.addIssue("not an address");
    return z.NEVER;
  }
});

/** A name, an IPv4 address or a bracketed IPv6 one, with or without a port. */
const host = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/);

/** No user and password: they would appear wherever the address is shown. */
const endpoint = z
  .string()
  .max(2048)
  .refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
    return isHttp && url.username === "" && url.password === "";
  });

const STATES = ["thinking", "reading", "writing", "working", "waiting"] as const;

/** MIN for all states, or STATE=MIN for one. */
const patience = z
  .union([z.string(), z.number().transform(String)])
  .transform((text) => /^(?:(\w+)=)?(\d{1,6}(?:\.\d+)?)$/.exec(text.trim()))
  .transform((found, context) => {
    const state = STATES.find((each) => each === found?.[1]);
    if (found && (found[1] === undefined || state)) return { state, ms: Number(found[2]) * MINUTE };
    context.addIssue("not a time");
    return z.NEVER;
  });

const MAX_LISTED = 64;

/** A TOML list, text with commas, or a number alone. */
function listed<Item extends z.ZodType>(item: Item) {
  return z.preprocess(
    (value) =>
      typeof value === "string" ? value.split(",") : typeof value === "number" ? [value] : value,
    z.array(item).max(MAX_LISTED),
  );
}

/** A TOML number, or text that is one. */
function amount<Amount extends z.ZodNumber>(allowed: Amount) {
  const text = z.string().regex(/^\d{1,9}(?:\.\d{1,9})?$/);
  return z.union([z.number(), text.transform(Number)]).pipe(allowed);
}

/** An address, or a range of them as ADDRESS/BITS. */
const range = z
  .string()
  .trim()
  .regex(/^[0-9A-Fa-f.:]{2,45}(?:\/\d{1,3})?$/)
  .refine((text) => {
    const [ip = "", bits = "0"] = text.split("/");
    return isIP(ip) !== 0 && Number(bits) <= (isIP(ip) === 4 ? 32 : 128);
  });

/** An outpost speaks for one host, which only a token of its own names. */
const PERSONAL = ROLES.filter((role) => role !== "outpost");

/** Callers by a name of theirs, and the role that they have: NAME for an agent, or NAME=ROLE. */
function inRole(named: z.ZodString) {
  return z
    .string()
    .trim()
    .transform((text, context) => {
      const [, given = "", role = "agent"] = /^(.*?)(?:=([a-z]+))?$/.exec(text) ?? [];
      const name = named.safeParse(given);
      const personal = PERSONAL.find((each) => each === role);
      if (name.success && personal) return { name: name.data, role: personal };
      context.addIssue("not a name and a role");
      return z.NEVER;
    });
}

/** A name or a number. */
const user = z.string().regex(/^[a-z0-9_][a-z0-9_.@-]{0,63}$/i);

/** A host, an address, an email or a URI, as a certificate has it. */
const certificateName = z.string().regex(/^[\x21-\x7e]{1,255}$/);

/** With TLS, or on this machine: keys that somebody else can put there let anybody in. */
const issuer = endpoint.refine((text) => {
  const url = httpUrl(text);
  const isSafe = url && (url.protocol === "https:" || isLoopbackHost(url));
  return isSafe && url.search === "" && url.hash === "";
});

/** CLAIM:VALUE=ROLE, or *=ROLE. A claim may be a URL itself. */
const ROLE_RULE = /^(?:\*|(?<claim>(?:https?:\/\/)?[^:=\s]+):(?<value>.+))=(?<role>[a-z]+)$/;

const roleRule = z
  .string()
  .trim()
  .transform((text, context): RoleRule => {
    const { claim, value, role = "" } = ROLE_RULE.exec(text)?.groups ?? {};
    const given = PERSONAL.find((each) => each === role);
    if (given) return claim && value ? { claim, value, role: given } : { role: given };
    context.addIssue("not a rule");
    return z.NEVER;
  });

const schema = {
  addr: z.union([z.literal("off"), address]),
  http_addr: address,
  arcp_addr: address,
  data_dir: z.string().min(1),
  memory: isOn,
  log: z.string().regex(/^(?:memory:|sqlite:.*|postgres(?:ql)?:\/\/.*|nats:\/\/.*)$/),
  log_durability: z.enum(DURABILITIES),
  log_credentials_file: z.string().min(1),
  nats_monitor: listed(z.string().regex(/^https?:\/\/[^/?#@\s]+$/)),
  nats_replicas: amount(z.int().min(1).max(5)),
  backup_every: amount(z.number().min(0).max(MAX_BACKUP_HOURS)),
  backup_keep: amount(z.int().min(1).max(MAX_BACKUPS)),
  node: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/),
  cluster_addr: address,
  advertise: address,
  cluster_cert: z.string().min(1),
  cluster_key: z.string().min(1),
  cluster_ca: z.string().min(1),
  failover: z.enum(["fast", "calm"]),
  leader: z.enum(["eligible", "never"]),
  node_lost_after: amount(z.number().min(MIN_LOST_S).max(MAX_LOST_S)),
  accept_loss: isOn,
  socket: z.string().min(1),
  local_trust: z.enum(LOCAL_TRUSTS),
  allowed_users: listed(inRole(user)),
  oidc_issuer: issuer,
  oidc_audience: z.string().trim().min(1).max(1024),
  oidc_claim: z.string().trim().min(1).max(256),
  oidc_roles: listed(roleRule),
  tls_cert: z.string().min(1),
  tls_key: z.string().min(1),
  tls_client_ca: z.string().min(1),
  tls_clients: listed(inRole(certificateName)),
  trust: listed(inRole(range)),
  trusted_proxies: listed(range),
  proxy_users: listed(user),
  insecure: isOn,
  reflection: isOn,
  allowed_hosts: listed(host),
  rate_limit: amount(z.int().min(0).max(MAX_RATE_LIMIT)),
  embedder_url: endpoint,
  embedder_model: z.string().regex(/^[\x21-\x7e]{1,256}$/),
  embedder_key_file: z.string().min(1),
  a2a_addr: address,
  a2a_version: z.enum(LISTED_VERSIONS),
  a2a_interval: amount(z.int().min(1).max(HEARTBEAT.maxIntervalS)),
  a2a_stale_multiplier: amount(z.int().min(1).max(DIRECTORY.staleMultiplierMost)),
  a2a_cleanup_interval: amount(z.int().min(0).max(MAX_CLEANUP_S)),
  a2a_fetch_timeout: amount(z.number().min(0.1).max(MAX_FETCH_S)),
  a2a_allowed_addresses: listed(range),
  a2a_keys_file: z.string().min(1),
  join: endpoint,
  token_file: z.string().min(1),
  join_ca: z.string().min(1),
  share: z.enum(SHARES),
  share_exclude: listed(z.string().trim().min(1).max(FLEET.workspaceLength)),
  redact: listed(z.enum(REDACTIONS)),
  accept: z.enum(ACCEPTS),
  status_dir: z.string().min(1),
  status_files: isOn,
  stuck_after: listed(patience),
  notify_terminal: z.enum(["off", "bell", "osc9"]),
  notify_desktop: isOn,
  notify_command: listed(z.string().min(1)),
  notify_webhook: z
    .string()
    .max(2048)
    .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text)),
  notify_mute: listed(z.string().min(1)),
  log_level: z.enum(LOG_LEVELS),
  config: z.string().min(1),
} satisfies Record<SettingName, z.ZodType>;

const ONE_ROLE =
  `one of ${PERSONAL.join(", ")}; an outpost needs a token ` +
  "(rollcall tokens create NAME --role outpost --host HOST)";

const EXPECTED: Readonly<Record<SettingName, string>> = {
  addr: `${ADDRESS_SYNTAX}, or off`,
  http_addr: ADDRESS_SYNTAX,
  arcp_addr: ADDRESS_SYNTAX,
  data_dir: "the path of a folder",
  memory: "true or false",
  log: `sqlite:, sqlite:PATH, memory:, ${POSTGRES_SYNTAX} or ${NATS_SYNTAX}`,
  log_durability: `one of ${DURABILITIES.join(", ")}`,
  log_credentials_file: "the path of a file",
  nats_monitor: `at most ${MAX_LISTED} of http://HOST:PORT`,
  nats_replicas: "a whole number from 1 to 5",
  backup_every: `hours from 0 to ${MAX_BACKUP_HOURS}`,
  backup_keep: `a whole number from 1 to ${MAX_BACKUPS}`,
  node: "1 to 128 letters, digits or . _ : @ -, the first a letter or digit",
  cluster_addr: ADDRESS_SYNTAX,
  advertise: ADDRESS_SYNTAX,
  cluster_cert: "the path of a file",
  cluster_key: "the path of a file",
  cluster_ca: "the path of a file",
  failover: "fast or calm",
  leader: "eligible or never",
  node_lost_after: `seconds from ${MIN_LOST_S} to ${MAX_LOST_S}`,
  accept_loss: "true or false",
  socket: "the path of a socket, or off",
  local_trust: `one of ${LOCAL_TRUSTS.join(", ")}`,
  allowed_users: `at most ${MAX_LISTED} of USER or USER=ROLE with ${ONE_ROLE}`,
  oidc_issuer: "https://HOST/PATH, or http:// on this machine, as in the claim iss",
  oidc_audience: "a text, as in the claim aud",
  oidc_claim: "the name of a claim, such as sub or email",
  oidc_roles: `at most ${MAX_LISTED} of CLAIM:VALUE=ROLE or *=ROLE with ${ONE_ROLE}`,
  tls_cert: "the path of a file",
  tls_key: "the path of a file",
  tls_client_ca: "the path of a file",
  tls_clients: `at most ${MAX_LISTED} of NAME or NAME=ROLE with ${ONE_ROLE}`,
  trust: `at most ${MAX_LISTED} of ADDRESS[/BITS] or ADDRESS[/BITS]=ROLE with ${ONE_ROLE}`,
  trusted_proxies: `at most ${MAX_LISTED} of ADDRESS or ADDRESS/BITS`,
  proxy_users: `at most ${MAX_LISTED} of USER`,
  insecure: "true or false",
  reflection: "true or false",
  allowed_hosts: `at most ${MAX_LISTED} of HOST or HOST:PORT, no scheme and no path`,
  rate_limit: `a whole number from 0 to ${MAX_RATE_LIMIT}`,
  embedder_url: "http(s)://HOST/PATH without a user or a password",
  embedder_model: "1 to 256 letters, digits or signs",
  embedder_key_file: "the path of a file",
  a2a_addr: ADDRESS_SYNTAX,
  a2a_version: "own, 0.3 or 1.0",
  a2a_interval: `a whole number of seconds from 1 to ${HEARTBEAT.maxIntervalS}`,
  a2a_stale_multiplier: `a whole number from 1 to ${DIRECTORY.staleMultiplierMost}`,
  a2a_cleanup_interval: `a whole number of seconds from 0 to ${MAX_CLEANUP_S}`,
  a2a_fetch_timeout: `seconds from 0.1 to ${MAX_FETCH_S}`,
  a2a_allowed_addresses: `at most ${MAX_LISTED} of ADDRESS or ADDRESS/BITS`,
  a2a_keys_file: "the path of a file",
  join: "http(s)://HOST/PATH without a user or a password",
  token_file: "the path of a file",
  join_ca: "the path of a file",
  share: `one of ${SHARES.join(", ")}`,
  share_exclude: `at most ${MAX_LISTED} paths of folders, with * for any characters`,
  redact: `some of ${REDACTIONS.join(", ")}`,
  accept: `one of ${ACCEPTS.join(", ")}`,
  status_dir: "the path of a folder",
  status_files: "true or false",
  stuck_after: `minutes for all, or STATE=MINUTES with one of ${STATES.join(", ")}; 0 for never`,
  notify_terminal: "off, bell or osc9",
  notify_desktop: "true or false",
  notify_command: "a program, and its arguments behind commas",
  notify_webhook: "http(s)://HOST/PATH",
  notify_mute: "paths of folders",
  log_level: `one of ${LOG_LEVELS.join(", ")}`,
  config: "the path of a TOML file",
};

export type Value<Name extends SettingName> = z.output<(typeof schema)[Name]>;

/** The validated values of one source. */
export type Values = { readonly [Name in SettingName]?: Value<Name> };

export function parseValues(said: ReadonlyMap<SettingName, SettingText>): Values {
  const values: Record<string, unknown> = {};
  for (const [name, { value, source }] of said) {
    const parsed = schema[name].safeParse(value);
    if (!parsed.success) {
      const text = JSON.stringify(value);
      // A wrong address may contain a password; of a webhook, the path may be one.
      const isSecret =
        ["embedder_url", "log", "notify_webhook"].includes(name) || /:\/\/.*@/.test(text);
      const shown = isSecret ? "not valid" : text;
      throw new RollcallError(
        "INVALID_ARGUMENT",
        `${source} is ${shown}: expected ${EXPECTED[name]}`,
      );
    }
    values[name] = parsed.data;
  }
  return values;
}
