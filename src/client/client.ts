/**
 * Talks to a daemon over HTTP: what the commands, the live views and programs share.
 *
 *   const daemon = connect({ url });
 *   for await (const item of daemon.events({ from: 0 })) …
 */
import { Agent } from "node:http";
import { RollcallError } from "../core/errors.ts";
import { followEvents, type EventsOptions, type StreamItem } from "./events.ts";
import { isRecord, open, readBody } from "./request.ts";
import { DEFAULT_URL, parseUrl } from "./url.ts";

export interface ConnectOptions {
  /** Where the daemon's HTTP door is. */
  readonly url?: string;
}

export interface GetOptions {
  readonly signal?: AbortSignal;
}

export class Client {
  readonly url: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(options: ConnectOptions = {}) {
    this.url = parseUrl(options.url ?? DEFAULT_URL);
  }

  /** The JSON object at a path; rejects with the daemon's refusal, or UNAVAILABLE without one. */
  async get(path: string, options: GetOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    const answer = parse(await this.text(path, options));
    if (answer) return answer;
    throw new RollcallError("UNAVAILABLE", `what answers at ${this.url}${path} is not rollcall`);
  }

  /** What is at a path, as it is. */
  async text(path: string, options: GetOptions = {}): Promise<string> {
    const url = new URL(this.url + path);
    return readBody(url, await open(url, { agent: this.#agent, signal: options.signal }));
  }

  /** Every event after `from`, in order, once each, then live; across restarts of the daemon. */
  events(options: EventsOptions = {}): AsyncGenerator<StreamItem> {
    return followEvents(this.url, this.#agent, options);
  }

  /** Ends all connections. Idempotent. */
  close(): void {
    this.#agent.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

export function connect(options: ConnectOptions = {}): Client {
  return new Client(options);
}

function parse(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const answer: unknown = JSON.parse(body);
    return isRecord(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
}
