/**
 * `postgres://USER@HOST[:PORT][,HOST[:PORT]…]/DATABASE?schema=NAME` as libpq writes it, with
 * several hosts, of which the one that takes writes is used. A part that is missing comes from the
 * environment that every program of Postgres reads (PGHOST, PGUSER, PGDATABASE, …).
 *
 * A password has no place in it: a URL is seen in process lists, logs and config files that people
 * share. It comes from a file or from PGPASSWORD, and no message here repeats the URL.
 */
import { RollcallError } from "../../core/errors.ts";

export const POSTGRES_SYNTAX =
  "postgres://USER@HOST[:PORT][,HOST[:PORT]…]/DATABASE[?schema=NAME&sslmode=MODE]";

const SSL_MODES = ["disable", "require", "verify-ca", "verify-full"] as const;

export type SslMode = (typeof SSL_MODES)[number];

export interface PostgresHost {
  /** A name or an address; the folder of a unix socket. Absent: as the environment says. */
  readonly host: string | undefined;
  readonly port: number | undefined;
}

export interface PostgresUrl {
  readonly hosts: readonly PostgresHost[];
  readonly user: string | undefined;
  readonly database: string | undefined;
  readonly schema: string;
  /** Absent: none to this machine, else `verify-full`. */
  readonly sslMode: SslMode | undefined;
  /** PEM files. */
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  /** For people: without user and settings. */
  readonly description: string;
}

const DEFAULT_SCHEMA = "rollcall";
const URL_PARTS = /^postgres(?:ql)?:\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^/?#]*)(?<rest>[/?].*)?$/;
const HOST_PARTS = /^(?<host>\[[\da-fA-F:.]+\]|[^:[\]]*)(?::(?<port>\d{1,5}))?$/;
/** Unquoted in SQL, so that an operator can type it; as long as Postgres allows. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const PARAMETERS = [
  "schema",
  "host",
  "port",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "target_session_attrs",
];

export function parsePostgresUrl(text: string): PostgresUrl {
  const { user: login, hosts: listed = "", rest = "" } = URL_PARTS.exec(text)?.groups ?? raise();
  if (login?.includes(":")) {
    throw invalid(
      "it has a password: take it out, and put it into a file (log_credentials_file) or PGPASSWORD",
    );
  }
  const [path, query = ""] = split(rest, "?");
  const parameters = parametersOf(query);
  const schema = parameters.get("schema") ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema) || schema.startsWith("pg_")) {
    const rule = "1 to 63 of a-z, 0-9 and _, the first no digit, and not pg_…";
    throw invalid(`${schema} is no name for its schema: expected ${rule}`);
  }
  const hosts = hostsOf(listed, parameters);
  const database = decoded(path.slice(1)) || undefined;
  const places = hosts.map(({ host, port }) => `${host ?? "PGHOST"}${port ? `:${port}` : ""}`);
  return {
    hosts,
    user: decoded(login ?? "") || undefined,
    database,
    schema,
    sslMode: sslModeOf(parameters.get("sslmode")),
    sslRootCert: parameters.get("sslrootcert"),
    sslCert: parameters.get("sslcert"),
    sslKey: parameters.get("sslkey"),
    description: `${places.join(",")}/${database ?? "PGDATABASE"}, schema ${schema}`,
  };
}

function hostsOf(listed: string, parameters: ReadonlyMap<string, string>): PostgresHost[] {
  const folder = parameters.get("host");
  const port = portOf(parameters.get("port"));
  if (folder !== undefined) {
    if (listed !== "") throw invalid("it names its host twice, before the path and behind it");
    return [{ host: folder, port }];
  }
  return listed.split(",").map((each) => {
    const { host = "", port: own } = HOST_PARTS.exec(each)?.groups ?? raise();
    const name = decoded(host.replaceAll(/^\[|\]$/g, "")) || undefined;
    return { host: name, port: portOf(own) ?? port };
  });
}

function parametersOf(query: string): ReadonlyMap<string, string> {
  const parameters = new Map(new URLSearchParams(query));
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    throw invalid(`it has no parameter ${unknown}; there are ${PARAMETERS.join(", ")}`);
  }
  // The only one that a store can use: it writes.
  if ((parameters.get("target_session_attrs") ?? "read-write") !== "read-write") {
    throw invalid("target_session_attrs can only be read-write, as it is without");
  }
  return parameters;
}

function sslModeOf(text: string | undefined): SslMode | undefined {
  const mode = SSL_MODES.find((each) => each === text);
  if (mode !== undefined || text === undefined) return mode;
  throw invalid(`sslmode is ${text}: expected one of ${SSL_MODES.join(", ")}`);
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw invalid(`${text} is no port`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("a % in it is not followed by two hexadecimal digits");
  }
}

function split(text: string, by: string): readonly [string, string?] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function raise(): never {
  throw invalid(`expected ${POSTGRES_SYNTAX}`);
}

function invalid(problem: string): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", `the Postgres URL cannot be used: ${problem}`);
}
