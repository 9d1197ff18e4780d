/**
 * Talks to a daemon over HTTP: what the commands, the live views and programs share.
 *
 *   const daemon = connect({ url });
 *   for await (const item of daemon.events({ from: 0 })) …
 */
import { AGENT_KEY } from "../../../core/by.ts";
import { parsedRecord, type JsonRecord } from "../../../core/json-object.ts";
import { followEvents, type EventsOptions, type StreamItem } from "./events.ts";
import { daemonAgent } from "../../../net/http/agent.ts";
import { HTTP_CLIENT } from "../../../net/http/limits.ts";
import { incompatible } from "../../../net/http/refusal.ts";
import { open, readAnswer, type DaemonLink } from "../../../net/http/request.ts";
import { localToken } from "../../../net/http/target.ts";
import { DEFAULT_URL, parseUrl } from "../../../net/http/url.ts";
import type { ServerTrust } from "../../../net/tls/trust.ts";

export interface ClientOptions {
  /** Where the daemon's HTTP door is. */
  readonly url?: string;
  /** The bearer token to present; unless set that of this user, where its daemon made one. */
  readonly token?: string | undefined;
  /**
   * The path of the daemon's own socket, which is used where it is there; false for none. Unless
   * set: that of this user's daemon, where the URL is the usual one.
   */
  readonly socket?: string | false;
  /** How to know the server at an https address; by the authorities of this system unless set. */
  readonly trust?: ServerTrust | undefined;
  /** The key of the agent that commands act for. */
  readonly agentKey?: string | undefined;
}

export interface GetOptions {
  readonly signal?: AbortSignal;
}

export interface PostOptions extends GetOptions {
  /** How long the daemon was told it may take, on top of what an answer takes. */
  readonly waitMs?: number;
}

export class Client {
  readonly url: string;
  readonly #link: DaemonLink;
  readonly #acting: Readonly<Record<string, string>>;

  constructor(options: ClientOptions = {}) {
    this.url = parseUrl(options.url ?? DEFAULT_URL);
    const own = options.socket === false ? undefined : localToken(this.url);
    const { token = own } = options;
    this.#link = { agent: daemonAgent({ ...options, url: this.url }), token };
    this.#acting = options.agentKey === undefined ? {} : { [AGENT_KEY]: options.agentKey };
  }

  /** The JSON object at a path; rejects with the daemon's refusal, or UNAVAILABLE without one. */
  async get(path: string, options: GetOptions = {}): Promise<JsonRecord> {
    return this.#json(path, await this.text(path, options));
  }

  /**
   * Has a command done and gives its answer. Sent once: whether a command that was not answered was
   * done is for the caller to find out.
   */
  async post(path: string, body: JsonRecord, options: PostOptions = {}): Promise<JsonRecord> {
    const url = new URL(this.url + path);
    const response = await open(url, {
      ...this.#link,
      signal: options.signal,
      headers: this.#acting,
      body: JSON.stringify(body),
      answerMs: HTTP_CLIENT.answerMs + (options.waitMs ?? 0),
    });
    return this.#json(path, await readAnswer(url, response));
  }

  /** The body at a path, not parsed. */
  async text(path: string, options: GetOptions = {}): Promise<string> {
    const url = new URL(this.url + path);
    return readAnswer(url, await open(url, { ...this.#link, signal: options.signal }));
  }

  /** Every event after `from`, in order, once each, then live; across restarts of the daemon. */
  events(options: EventsOptions = {}): AsyncGenerator<StreamItem> {
    return followEvents(this.url, this.#link, options);
  }

  #json(path: string, text: string): JsonRecord {
    const answer = parsedRecord(text);
    if (answer) return answer;
    throw incompatible(`${this.url}${path} does not answer with a JSON object`);
  }

  /** Ends all connections. Idempotent. */
  close(): void {
    this.#link.agent.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

export function connect(options: ClientOptions = {}): Client {
  return new Client(options);
}
