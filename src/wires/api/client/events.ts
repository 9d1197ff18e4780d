/**
 * The daemon's events as one stream that outlives its connections. Whatever the server says last
 * about where we stand (an event, a bookmark, a resync) is where the next connection goes on, so
 * there is no gap; what comes again is dropped, so there is no duplicate.
 *
 *   connecting ──▶ open ──lost, cut, silent──▶ waiting ──▶ connecting …
 *       │ refused for good, or never was open
 *       └──▶ throws
 *
 * Before the first event a live stream stands nowhere: the server's first bookmark tells where.
 */
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, errorText, RollcallError, wireCodes } from "../../../core/errors.ts";
import { parsedRecord } from "../../../core/json-object.ts";
import { backOff } from "../../../machine/waiting.ts";
import { HTTP_CLIENT } from "../../../net/http/limits.ts";
import { decodeError, incompatible } from "../../../net/http/refusal.ts";
import { cancelled, open, type DaemonLink } from "../../../net/http/request.ts";
import { SseParser, type SseMessage } from "../../../net/http/sse.ts";

export interface DaemonEvent {
  readonly kind: "event";
  readonly sequence: number;
  readonly topic: string;
  readonly atMs: number;
  /** The event as the log keeps it: its type is the topic, the rest depends on it. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** The log no longer has all events after `after` (our cursor) and up to `sequence`. */
export interface Resync {
  readonly kind: "resync";
  readonly after: number | undefined;
  readonly sequence: number;
}

export type StreamItem = DaemonEvent | Resync;

export type ConnectionState =
  | { readonly kind: "open"; readonly after: number | undefined }
  | { readonly kind: "lost"; readonly reason: string; readonly after: number | undefined };

export interface EventsOptions {
  /** The last sequence already seen; absent means from now on. */
  readonly from?: number | undefined;
  /** Another stream of events than of all: an agent's timeline. */
  readonly path?: string;
  /** Topics begin with one of these; none means every topic. */
  readonly topics?: readonly string[];
  readonly signal?: AbortSignal;
  onState?(state: ConnectionState): void;
}

/** Ends when the signal aborts. */
export async function* followEvents(
  base: string,
  link: DaemonLink,
  options: EventsOptions,
): AsyncGenerator<StreamItem> {
  const stream = new EventConnection(base, link, options);
  try {
    yield* stream.items();
  } catch (error) {
    if (!options.signal?.aborted) throw error;
  }
}

class EventConnection {
  readonly #base: string;
  readonly #link: DaemonLink;
  readonly #options: EventsOptions;
  #after: number | undefined;
  #wasOpen = false;
  #isOpen = false;
  /** Tries since something last came. */
  #tries = 0;
  #retryMs: number | undefined;

  constructor(base: string, link: DaemonLink, options: EventsOptions) {
    this.#base = base;
    this.#link = link;
    this.#options = options;
    this.#after = options.from;
  }

  async *items(): AsyncGenerator<StreamItem> {
    for (;;) {
      try {
        yield* this.#connection();
        this.#lost("the daemon ended the stream");
      } catch (error) {
        this.#options.signal?.throwIfAborted();
        if (!this.#mayRetry(error)) throw error;
        this.#lost(errorText(error));
      }
      await this.#pause();
    }
  }

  async *#connection(): AsyncGenerator<StreamItem> {
    const url = this.#url();
    const headers = {
      accept: "text/event-stream",
      ...(this.#after !== undefined && { "last-event-id": String(this.#after) }),
    };
    const response = await open(url, { ...this.#link, signal: this.#options.signal, headers });
    this.#wasOpen = true;
    this.#isOpen = true;
    this.#options.onState?.({ kind: "open", after: this.#after });
    const parser = new SseParser();
    try {
      for await (const chunk of chunks(response)) {
        for (const message of parser.push(chunk)) {
          const item = this.#take(message);
          this.#tries = 0;
          if (item) yield item;
        }
        this.#retryMs = parser.retryMs;
      }
    } finally {
      response.destroy();
    }
  }

  #url(): URL {
    const url = new URL(this.#base + (this.#options.path ?? "/v1/events"));
    if (this.#after !== undefined) url.searchParams.set("from", String(this.#after));
    for (const topic of this.#options.topics ?? []) url.searchParams.append("topic", topic);
    return url;
  }

  #take({ event, data, id }: SseMessage): StreamItem | undefined {
    if (event === "error") throw errorOf(data);
    const sequence = sequenceOf(id);
    if (event === "bookmark") {
      this.#after = Math.max(this.#after ?? 0, sequence);
      return undefined;
    }
    if (event === "resync") {
      const after = this.#after;
      this.#after = sequence;
      return { kind: "resync", after, sequence };
    }
    if (this.#after !== undefined && sequence <= this.#after) return undefined;
    this.#after = sequence;
    const parsed = parseData(data);
    const atMs = Date.parse(String(parsed["at"]));
    if (Number.isNaN(atMs)) throw incompatible(`event ${sequence} has no time`);
    return { kind: "event", sequence, topic: event, atMs, data: parsed };
  }

  /** A first connection that fails is an error; a lost one is retried unless the daemon refuses. */
  #mayRetry(error: unknown): boolean {
    return this.#wasOpen && wireCodes(codeOf(error)).retry !== "never";
  }

  /** Said once for each connection, however often the next one fails. */
  #lost(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.onState?.({ kind: "lost", reason, after: this.#after });
  }

  async #pause(): Promise<void> {
    const { firstRetryMs, lastRetryMs } = HTTP_CLIENT;
    const range = { firstRetryMs: this.#retryMs ?? firstRetryMs, lastRetryMs };
    const delayMs = backOff(this.#tries, range, Math.random);
    this.#tries += 1;
    await sleep(delayMs, undefined, { signal: this.#options.signal }).catch(() => {
      throw cancelled();
    });
  }
}

/** The body, until it ends; rejects when it breaks off or stays silent for too long. */
async function* chunks(response: IncomingMessage): AsyncGenerator<Buffer> {
  const silence = new RollcallError("UNAVAILABLE", `nothing came for ${HTTP_CLIENT.silenceMs} ms`);
  response.setTimeout(HTTP_CLIENT.silenceMs, () => response.destroy(silence));
  try {
    yield* response as AsyncIterable<Buffer>;
  } catch (error) {
    if (error instanceof RollcallError) throw error;
    throw new RollcallError("UNAVAILABLE", "the connection broke off", { cause: error });
  }
}

function sequenceOf(id: string): number {
  const sequence = Number(id);
  if (/^\d+$/.test(id) && Number.isSafeInteger(sequence)) return sequence;
  throw incompatible(`the daemon sent an event with the id "${id}"`);
}

function parseData(data: string): Readonly<Record<string, unknown>> {
  const parsed = parsedRecord(data);
  if (parsed) return parsed;
  throw incompatible("the daemon sent an event that is not a JSON object");
}

function errorOf(data: string): RollcallError {
  const { code = "UNAVAILABLE", message = "the daemon ended the stream" } = decodeError(data);
  return new RollcallError(code, message);
}
