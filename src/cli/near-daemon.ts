/**
 * The daemon of a command that mostly asks once: by the daemon's own socket, and by the client
 * where that gives no good answer, or there is more to do. The client is loaded only then.
 */
import { parsedRecord, type JsonRecord } from "../core/json-object.ts";
import { getBySocket } from "../net/http/socket-get.ts";
import type { Target } from "../net/http/target.ts";
import { parseUrl } from "../net/http/url.ts";
import type { Client, GetOptions } from "../wires/api/client/client.ts";
import type { EventsOptions, StreamItem } from "../wires/api/client/events.ts";

export class NearDaemon implements Pick<Client, "url" | "get" | "events">, AsyncDisposable {
  readonly url: string;
  readonly #target: Target;
  #client: Client | undefined;

  constructor(target: Target) {
    this.url = parseUrl(target.url);
    this.#target = target;
  }

  async get(path: string, options: GetOptions = {}): Promise<JsonRecord> {
    const { socket, token } = this.#target;
    if (!this.#client && !options.signal && socket !== false) {
      const answer = await getBySocket({ socket, url: new URL(this.url + path), token });
      const record = answer === undefined ? undefined : parsedRecord(answer);
      if (record) return record;
    }
    return (await this.#connected()).get(path, options);
  }

  async *events(options: EventsOptions): AsyncGenerator<StreamItem> {
    yield* (await this.#connected()).events(options);
  }

  async #connected(): Promise<Client> {
    const { connect } = await import("../wires/api/client/client.ts");
    return (this.#client ??= connect(this.#target));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client?.close();
  }
}
