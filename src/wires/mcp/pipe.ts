/**
 * MCP on stdin and stdout, carried to a daemon and back. It is a pipe and nothing else: a line in
 * is a message to the daemon, a message of the daemon is a line out, and what they mean is known at
 * the other end only. So there is one implementation of the tools, in the daemon, and this one
 * serves every generation of the protocol that the daemon does.
 *
 *   closed ──a line comes──▶ open ──the daemon goes──▶ closed
 *      └── somebody subscribed: from time to time ──▶ open
 *
 * Of what it carries it remembers only what a daemon that was started anew must hear again: the
 * handshake and the subscriptions. Who waited for an answer meanwhile is told that none will come,
 * who subscribed that there may be something new.
 *
 * It uses the daemon's older transport (/mcp/sse) and not the streamable one: that one would have
 * it translate headers, sessions and streams, where this one is a pipe itself.
 */
import type { IncomingMessage } from "node:http";
import { AGENT_KEY } from "../../core/by.ts";
import { codeOf, errorText, RollcallError } from "../../core/errors.ts";
import { isRecord, parsedRecord, type JsonRecord } from "../../core/json-object.ts";
import { systemClock } from "../../machine/clock.ts";
import { pause } from "../../machine/waiting.ts";
import { MCP } from "./limits.ts";
import { daemonAgent, type DaemonPlace } from "../../net/http/agent.ts";
import { HTTP_CLIENT } from "../../net/http/limits.ts";
import { open, readAnswer, type DaemonLink } from "../../net/http/request.ts";
import { SseParser } from "../../net/http/sse.ts";

export interface McpPipeOptions extends DaemonPlace {
  /** The bearer token to present, if any. */
  readonly token?: string | undefined;
  /** The agent that it is started for. */
  readonly agentId?: string | undefined;
  /** And the key of that agent. */
  readonly agentKey?: string | undefined;
  /** Takes one message, without the line break; resolves when there is room for more. */
  write(line: string): Promise<void>;
  readonly signal: AbortSignal;
}

/** Begins the ids of messages that are ours: their answers are nobody's. */
const OURS = "rollcall-again-";

export class McpPipe {
  readonly #options: McpPipeOptions;
  readonly #link: DaemonLink;
  /** Where messages go; nothing while it is closed. */
  #endpoint: URL | undefined;
  #stream: IncomingMessage | undefined;
  readonly #unanswered = new Map<string, unknown>();
  readonly #handshake = new Map<string, JsonRecord>();
  readonly #subscriptions = new Map<string, JsonRecord>();
  readonly #closing = new AbortController();
  #opening: Promise<void> | undefined;
  #replays = 0;
  #settled: () => void = () => undefined;

  constructor(options: McpPipeOptions) {
    this.#options = options;
    this.#link = { agent: daemonAgent(options), token: options.token };
  }

  /** Rejects when no daemon answers. */
  async open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #open(): Promise<void> {
    const { url, agentId, agentKey, signal } = this.#options;
    const base = new URL(`${url}/mcp/sse`);
    const headers = {
      accept: "text/event-stream",
      ...(agentId !== undefined && { "rollcall-agent-id": agentId }),
      ...(agentKey !== undefined && { [AGENT_KEY]: agentKey }),
    };
    const stream = await open(base, { ...this.#link, signal, headers });
    this.#stream = stream;
    const parser = new SseParser();
    await new Promise<void>((resolve, reject) => {
      stream.on("data", (bytes: Buffer) => {
        try {
          for (const { event, data } of parser.push(bytes)) {
            if (event !== "endpoint") void this.#hear(data);
            else if (this.#stream === stream) {
              this.#endpoint = new URL(data, base);
              resolve();
            }
          }
        } catch {
          stream.destroy();
        }
      });
      stream.on("error", () => undefined);
      // A daemon that is there says so every few seconds.
      stream.socket.setTimeout(HTTP_CLIENT.silenceMs, () => stream.destroy());
      stream.on("close", () => {
        this.#lose(stream);
        reject(unavailable(url));
      });
    });
    await this.#replay();
  }

  /** One message of the client. Never rejects: what goes wrong is the answer. */
  async take(line: string): Promise<void> {
    const message = parsedRecord(line);
    if (!message) {
      await this.#refuse(
        null,
        -32_700,
        `a line is one message of JSON-RPC 2.0, at most ${HTTP_CLIENT.messageLength} long`,
      );
      return;
    }
    let isSent = false;
    try {
      if (!this.#endpoint) await this.open();
      this.#remember(message);
      isSent = true;
      await this.#post(line);
    } catch (error) {
      if (this.#options.signal.aborted) return;
      const { id, method } = message;
      if (id === undefined || method === undefined) return;
      // A request that was already refused because the daemon went away is not refused twice.
      if (!this.#unanswered.delete(JSON.stringify(id)) && isSent) return;
      await this.#refuse(id, -32_000, told(error));
    }
  }

  /** Resolves when nobody waits for an answer any more, or has waited long enough. */
  async settle(): Promise<void> {
    if (this.#unanswered.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, HTTP_CLIENT.farewellMs);
      this.#settled = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#stream?.destroy();
    this.#link.agent.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #post(body: string): Promise<void> {
    const endpoint = this.#endpoint;
    if (!endpoint) throw unavailable(this.#options.url);
    const { signal } = this.#options;
    const response = await open(endpoint, { ...this.#link, signal, body });
    await readAnswer(endpoint, response);
  }

  async #hear(data: string): Promise<void> {
    const id = parsedRecord(data)?.["id"];
    if (typeof id === "string" && id.startsWith(OURS)) return;
    if (id !== undefined) this.#unanswered.delete(JSON.stringify(id));
    await this.#options.write(data);
    if (this.#unanswered.size === 0) this.#settled();
  }

  #remember(message: JsonRecord): void {
    const { method, id, params } = message;
    if (typeof method !== "string") return;
    if (id !== undefined) this.#unanswered.set(JSON.stringify(id), id);
    if (method === "initialize" || method === "notifications/initialized") {
      this.#handshake.set(method, message);
    }
    const uri = isRecord(params) ? params["uri"] : undefined;
    if (typeof uri !== "string") return;
    const hasRoom = this.#subscriptions.size < MCP.subscriptions;
    if (method === "resources/subscribe" && hasRoom) this.#subscriptions.set(uri, message);
    if (method === "resources/unsubscribe") this.#subscriptions.delete(uri);
  }

  async #replay(): Promise<void> {
    for (const message of [...this.#handshake.values(), ...this.#subscriptions.values()]) {
      this.#replays += 1;
      const id = message["id"] === undefined ? {} : { id: `${OURS}${this.#replays}` };
      await this.#post(JSON.stringify({ ...message, ...id }));
    }
    for (const uri of this.#subscriptions.keys()) {
      const method = "notifications/resources/updated";
      await this.#options.write(JSON.stringify({ jsonrpc: "2.0", method, params: { uri } }));
    }
  }

  /** A client that only listens has nothing to say that would open it again. */
  async #comeBack(): Promise<void> {
    const signal = AbortSignal.any([this.#options.signal, this.#closing.signal]);
    for (
      let waitMs: number = HTTP_CLIENT.firstRetryMs;
      ;
      waitMs = Math.min(2 * waitMs, HTTP_CLIENT.lastRetryMs)
    ) {
      await pause(systemClock, waitMs, signal).catch(() => undefined);
      if (this.#endpoint || signal.aborted) return;
      await this.open().catch(() => undefined);
    }
  }

  #lose(stream: IncomingMessage): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.#endpoint = undefined;
    if (this.#options.signal.aborted || this.#closing.signal.aborted) return;
    const lost = "UNAVAILABLE: the daemon went away; whether this was done is not known";
    for (const id of this.#unanswered.values()) void this.#refuse(id, -32_000, lost);
    this.#unanswered.clear();
    this.#settled();
    if (this.#subscriptions.size > 0) void this.#comeBack();
  }

  async #refuse(id: unknown, code: number, message: string): Promise<void> {
    await this.#options.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
  }
}

function told(error: unknown): string {
  const why = errorText(error);
  const advice = why.startsWith("no daemon") ? "; start one with `rollcall up`" : "";
  return `${codeOf(error)}: ${why}${advice}`;
}

function unavailable(url: string): RollcallError {
  return new RollcallError("UNAVAILABLE", `no daemon answers at ${url} (connection lost)`);
}
