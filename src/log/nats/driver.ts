/**
 * The package `@nats-io/transport-node`, loaded when NATS is asked for, and one connection by it,
 * which finds another server by itself when it loses its own. JetStream is spoken as it is on the
 * wire, JSON in and out: what becomes of a write must be known by its code, and there are few
 * calls.
 */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions as TLS } from "node:tls";
import type * as Package from "@nats-io/transport-node";
import type { ConnectionOptions, Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { RollcallError } from "../../core/errors.ts";
import { Lost, NotSent, Refused } from "./failure.ts";
import { NATS } from "./limits.ts";
import type { NatsUrl } from "./url.ts";

export type Headers = Readonly<Record<string, string>>;

/** A message as it came, of a stream or an answer. */
export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Of an answer without a body: 404, 503, …; else 0. */
  readonly status: number;
  header(name: string): string;
}

export interface Outgoing {
  readonly subject: string;
  readonly body: string;
  readonly headers: Headers;
}

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly maxPayload: number;
}

export interface Login {
  readonly url: NatsUrl;
  /** What the file of credentials has: a JWT with its key, a password, or a token. */
  readonly credentials?: () => Promise<string>;
}

/** To any of the servers, or to this one of them if it is there. */
export async function connect({ url, credentials }: Login, first?: string): Promise<Connection> {
  const driver = await loadDriver();
  const secret = await credentials?.();
  const others = url.servers.filter((server) => server !== first);
  const connection = await connected(driver, url, {
    servers: first === undefined ? others : [first, ...others],
    noRandomize: first !== undefined,
    name: "rollcall",
    // The stack of each request takes a tenth of the time of an append.
    noAsyncTraces: true,
    timeout: NATS.connectMs,
    pingInterval: NATS.pingMs,
    maxPingOut: NATS.pings,
    maxReconnectAttempts: -1,
    reconnectTimeWait: NATS.reconnectMs,
    ...(url.isTls && { tls: tlsOf(url) }),
    ...loginOf(driver, url, secret),
  });
  return new Connection(driver, connection);
}

type Driver = typeof Package;

async function loadDriver(): Promise<Driver> {
  try {
    return await import("@nats-io/transport-node");
  } catch (cause) {
    const name = "@nats-io/transport-node";
    const message = `a log in NATS needs the package ${name}: npm install ${name} beside rollcall`;
    throw new RollcallError("UNIMPLEMENTED", message, { cause });
  }
}

async function connected(
  driver: Driver,
  { description }: NatsUrl,
  options: ConnectionOptions,
): Promise<NatsConnection> {
  try {
    return await driver.connect(options);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    if (why.includes("does not support 'tls'")) {
      const message = `NATS at ${description} has no TLS: configure it, or say ?tls=off`;
      throw new RollcallError("WRONG_STATE", message, { cause });
    }
    if (BAD_CERTIFICATE.test(systemCode(cause) ?? "")) {
      const advice = "its certificate is not trusted here: check tlsca, and the names in it";
      const message = `NATS at ${description}: ${advice} (${why})`;
      throw new RollcallError("UNAVAILABLE", message, { cause });
    }
    if (cause instanceof driver.AuthorizationError) {
      const advice = "check the user of the URL, and log_credentials_file";
      const message = `NATS refuses to let us in: ${advice} (${cause.message})`;
      throw new RollcallError("UNAVAILABLE", message, { cause });
    }
    throw new NotSent(why, { cause });
  }
}

/** Codes of Node and of OpenSSL. */
const BAD_CERTIFICATE = /CERT|SELF_SIGNED|VERIFY/;

function systemCode(error: unknown): string | undefined {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
}

function loginOf(driver: Driver, { user }: NatsUrl, secret?: string): ConnectionOptions {
  if (secret?.includes("BEGIN NATS USER JWT")) {
    return { authenticator: driver.credsAuthenticator(Buffer.from(secret)) };
  }
  if (user !== undefined) return { user, ...(secret !== undefined && { pass: secret }) };
  return secret === undefined ? {} : { token: secret };
}

type TlsOptions = NonNullable<ConnectionOptions["tls"]> & Pick<TLS, "checkServerIdentity">;

function tlsOf({ servers, tlsCa, tlsCert, tlsKey }: NatsUrl): TlsOptions {
  const addresses = servers.map(hostOf).filter((host) => isIP(host) > 0);
  return {
    ...(tlsCa !== undefined && { ca: readPem("tlsca", tlsCa) }),
    ...(tlsCert !== undefined && { cert: readPem("tlscert", tlsCert) }),
    ...(tlsKey !== undefined && { key: readPem("tlskey", tlsKey) }),
    // The driver names no host to TLS where it has only an address; Node then says localhost.
    checkServerIdentity(host, certificate) {
      const problem = checkServerIdentity(host, certificate);
      if (!problem || host !== "localhost") return problem;
      const isListed = addresses.some((address) => !checkServerIdentity(address, certificate));
      return isListed ? undefined : problem;
    },
  };
}

/** Of HOST:PORT. */
function hostOf(server: string): string {
  return server.slice(0, server.lastIndexOf(":")).replaceAll(/^\[|\]$/g, "");
}

function readPem(parameter: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `${parameter} of the NATS URL cannot be read: ${why}`;
    throw new RollcallError("INVALID_ARGUMENT", message, { cause });
  }
}

export class Connection {
  readonly #driver: Driver;
  readonly #connection: NatsConnection;
  /** Those that wait for an answer. */
  readonly #requests = new Set<(error: Error) => void>();
  /** It has found another server, or the same one again. */
  onReconnect: () => void = () => undefined;

  constructor(driver: Driver, connection: NatsConnection) {
    this.#driver = driver;
    this.#connection = connection;
    this.#watch().catch(() => undefined);
  }

  /** What was sent to a server that is gone gets no answer: it need not be waited for. */
  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === "reconnect") this.onReconnect();
      if (type !== "disconnect") continue;
      for (const reject of this.#requests) reject(new Lost("the server is gone"));
    }
  }

  get facts(): ServerFacts {
    const { info } = this.#connection;
    const { server_name: name = "", version = "0", max_payload: maxPayload = 0 } = info ?? {};
    return { name, version, maxPayload };
  }

  get isClosed(): boolean {
    return this.#connection.isClosed();
  }

  /** Resolves when it is: it came to its end, or the servers let it in no more. */
  async closed(): Promise<void> {
    await this.#connection.closed();
  }

  publish({ subject, body, headers }: Outgoing): void {
    this.#connection.publish(subject, body, { headers: this.#headers(headers) });
  }

  request(outgoing: Outgoing, timeoutMs: number): Promise<Message> {
    return new Promise((resolve, reject) => {
      this.#requests.add(reject);
      this.#answered(outgoing, timeoutMs)
        .then(resolve, (error: unknown) => reject(this.#failure(error)))
        .finally(() => this.#requests.delete(reject));
    });
  }

  async #answered({ subject, body, headers }: Outgoing, timeoutMs: number): Promise<Message> {
    const timeout = Math.max(1, Math.ceil(timeoutMs));
    const hasHeaders = Object.keys(headers).length > 0;
    const options = { timeout, ...(hasHeaders && { headers: this.#headers(headers) }) };
    return messageOf(await this.#connection.request(subject, body, options));
  }

  /** A call of JetStream's interface: its answer, or `Refused`. */
  async call<Answer>(
    subject: string,
    request: unknown = {},
    timeoutMs: number = NATS.answerMs,
  ): Promise<Answer> {
    const outgoing = { subject: `$JS.API.${subject}`, body: JSON.stringify(request), headers: {} };
    const { data } = await this.request(outgoing, timeoutMs);
    return answerOf(data) as Answer;
  }

  /**
   * Several answers to one request, up to the one that is only a status; gives that one last. Each
   * may take so long.
   */
  collect(subject: string, request: unknown, timeoutMs: number): Promise<Message[]> {
    return new Promise((resolve, reject) => {
      const messages: Message[] = [];
      const inbox = this.#driver.createInbox();
      const end = (settle: () => void) => {
        clearTimeout(timer);
        subscription.unsubscribe();
        settle();
      };
      const late = () => end(() => reject(new Lost(`no answer within ${timeoutMs} ms`)));
      let timer = setTimeout(late, timeoutMs);
      const subscription = this.#connection.subscribe(inbox, {
        callback: (error, incoming) => {
          if (error) return end(() => reject(this.#failure(error)));
          const message = messageOf(incoming);
          messages.push(message);
          if (message.status === NO_RESPONDERS) {
            return end(() => reject(new NotSent("nobody answers for the stream")));
          }
          if (message.status !== 0) return end(() => resolve(messages));
          clearTimeout(timer);
          timer = setTimeout(late, timeoutMs);
        },
      });
      this.#connection.publish(`$JS.API.${subject}`, JSON.stringify(request), { reply: inbox });
    });
  }

  subscribe(subject: string, heard: (message: Message) => void): void {
    this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) heard(messageOf(message));
      },
    });
  }

  #headers(headers: Headers): MsgHdrs {
    const all = this.#driver.headers();
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return all;
  }

  #failure(error: unknown): Error {
    const reason = error instanceof Error ? error.message : String(error);
    const { NoRespondersError, RequestError } = this.#driver;
    const isUnheard =
      error instanceof NoRespondersError ||
      (error instanceof RequestError && error.isNoResponders());
    const Failure = isUnheard ? NotSent : Lost;
    return new Failure(reason, { cause: error });
  }

  async close(): Promise<void> {
    await this.#connection.close().catch(() => undefined);
  }
}

const NO_RESPONDERS = 503;

interface Failed {
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** What a leader answered, or why it refused. */
export function answerOf(data: Uint8Array): unknown {
  let answer: Failed;
  try {
    answer = JSON.parse(Buffer.from(data).toString()) as Failed;
  } catch (cause) {
    throw new Lost("the answer is no JSON", { cause });
  }
  const { error } = answer;
  if (error) throw new Refused(error.err_code ?? 0, error.description ?? "refused");
  return answer;
}

function messageOf({ subject, data, headers }: Msg): Message {
  return {
    subject,
    data,
    status: headers?.code ?? 0,
    header: (name) => headers?.get(name) ?? "",
  };
}
