/**
 * `nats://[USER@]HOST[:PORT][,HOST[:PORT]…]/NAME`: the servers of one NATS cluster and the name of
 * the log in it. A password has no place in it, for the reasons of Postgres' URL: it comes from
 * a file, and no message here repeats the URL.
 */
import { RollcallError } from "../../core/errors.ts";

export const NATS_SYNTAX = "nats://[USER@]HOST[:PORT][,HOST[:PORT]…]/NAME[?tls=MODE&tlsca=FILE]";

const TLS_MODES = ["off", "require"] as const;

export interface NatsUrl {
  /** Each with its port. */
  readonly servers: readonly string[];
  readonly user: string | undefined;
  readonly name: string;
  readonly isTls: boolean;
  /** PEM files. */
  readonly tlsCa: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** For people: without the user. */
  readonly description: string;
}

const URL_PARTS =
  /^nats:\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^/?#]+)\/(?<name>[^/?#]*)(?:\?(?<query>[^#]*))?$/;
const HOST = /^(?<host>\[[\da-fA-F:.]+\]|[^:[\]]+)(?::(?<port>\d{1,5}))?$/;
/** A token of a subject, a part of a stream's name and of a folder on the servers. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const PARAMETERS = ["tls", "tlsca", "tlscert", "tlskey"];
const DEFAULT_PORT = 4222;

export function parseNatsUrl(text: string): NatsUrl {
  const parts = URL_PARTS.exec(text)?.groups;
  if (!parts) throw invalid(`expected ${NATS_SYNTAX}`);
  const { user, hosts = "", name = "", query = "" } = parts;
  if (user?.includes(":")) {
    throw invalid("it has a password: take it out, and put it into a file (log_credentials_file)");
  }
  if (!NAME.test(name)) {
    const rule = "1 to 32 of a-z, 0-9, _ and -, the first a letter or a digit";
    throw invalid(`"${name}" is no name for a log: expected ${rule}`);
  }
  const parameters = new Map(new URLSearchParams(query));
  const unknown = [...parameters.keys()].find((each) => !PARAMETERS.includes(each));
  if (unknown !== undefined) {
    throw invalid(`it has no parameter ${unknown}; there are ${PARAMETERS.join(", ")}`);
  }
  const places = hosts.split(",").map(placeOf);
  return {
    servers: places.map(({ server }) => server),
    user: decoded(user ?? "") || undefined,
    name,
    isTls: isTls(parameters.get("tls"), places),
    tlsCa: parameters.get("tlsca"),
    tlsCert: parameters.get("tlscert"),
    tlsKey: parameters.get("tlskey"),
    description: `${places.map(({ server }) => server).join(",")}/${name}`,
  };
}

interface Place {
  readonly host: string;
  readonly server: string;
}

function placeOf(text: string): Place {
  const { host, port } = HOST.exec(text)?.groups ?? {};
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (host === undefined || number < 1 || number > 65_535) {
    throw invalid(`"${text}" is no HOST[:PORT]; expected ${NATS_SYNTAX}`);
  }
  return { host, server: `${host}:${number}` };
}

/** Between machines by default. */
function isTls(mode: string | undefined, places: readonly Place[]): boolean {
  if (mode !== undefined && !TLS_MODES.some((each) => each === mode)) {
    throw invalid(`tls is ${mode}: expected one of ${TLS_MODES.join(", ")}`);
  }
  return mode === undefined ? !places.every(({ host }) => isHere(host)) : mode === "require";
}

function isHere(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("a % in it is not followed by two hexadecimal digits");
  }
}

function invalid(problem: string): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", `the NATS URL cannot be used: ${problem}`);
}
