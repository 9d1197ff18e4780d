/**
 * The connection to the team's daemon: calls, and one stream down, all opened from here. Plain HTTP
 * over TLS, so that whatever passes a browser passes it: a reverse proxy, an SSH tunnel.
 */
import { RollcallError } from "../../core/errors.ts";
import { parsedRecord, type JsonRecord } from "../../core/json-object.ts";
import { daemonAgent } from "../../net/http/agent.ts";
import { decodeError, incompatible } from "../../net/http/refusal.ts";
import { open, readAnswer, type DaemonLink } from "../../net/http/request.ts";
import { SseParser } from "../../net/http/sse.ts";
import type { ServerTrust } from "../../net/tls/trust.ts";
import { UPLINK } from "./limits.ts";

export interface TeamPlace {
  readonly url: string;
  readonly token: string;
  readonly trust?: ServerTrust | undefined;
}

/** The team's daemon, as an uplink uses it. */
export interface Team {
  post(path: string, body: object, signal: AbortSignal): Promise<JsonRecord>;
  requests(session: string, signal: AbortSignal): AsyncGenerator<string>;
  close(): void;
}

export class TeamLink implements Team {
  readonly #url: string;
  readonly #link: DaemonLink;

  constructor({ url, token, trust }: TeamPlace) {
    this.#url = url;
    this.#link = { agent: daemonAgent({ url, socket: false, trust }), token };
  }

  async post(path: string, body: object, signal: AbortSignal): Promise<JsonRecord> {
    const url = new URL(this.#url + path);
    const response = await open(url, { ...this.#link, signal, body: JSON.stringify(body) });
    const answer = parsedRecord(await readAnswer(url, response));
    if (answer) return answer;
    throw incompatible(`${url.href} does not answer with a JSON object`);
  }

  /** The data of each request; throws when the stream ends, breaks off or is silent too long. */
  async *requests(session: string, signal: AbortSignal): AsyncGenerator<string> {
    const url = new URL(`${this.#url}/v1/outposts/requests`);
    url.searchParams.set("session", session);
    const headers = { accept: "text/event-stream" };
    const response = await open(url, { ...this.#link, signal, headers });
    const silence = new RollcallError("UNAVAILABLE", `nothing came for ${UPLINK.silenceMs} ms`);
    response.setTimeout(UPLINK.silenceMs, () => response.destroy(silence));
    const parser = new SseParser();
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        for (const { event, data } of parser.push(chunk)) {
          if (event === "request") yield data;
          if (event === "error") throw ended(data);
        }
      }
      throw new RollcallError("UNAVAILABLE", "the team's daemon ended the stream");
    } catch (error) {
      if (error instanceof RollcallError) throw error;
      throw new RollcallError("UNAVAILABLE", "the stream broke off", { cause: error });
    } finally {
      response.destroy();
    }
  }

  close(): void {
    this.#link.agent.destroy();
  }
}

function ended(data: string): RollcallError {
  const { code = "UNAVAILABLE", message = "the team's daemon ended the stream" } =
    decodeError(data);
  return new RollcallError(code, message);
}
