/**
 * The older transport, of 2024: one stream of events from us, and a POST for every message to us.
 * The A2A registry's clients use it, and so does `rollcall mcp`: it is a plain pipe in both
 * directions, which lives exactly as long as its socket. So what is at the other end of the pipe is
 * the SDK's server for pipes, which speaks every generation of the protocol.
 *
 *   GET /mcp/sse ──▶ event: endpoint ──▶ event: message …            the socket closes: over
 *   POST /mcp/messages?session_id=… ──▶ 202, its answer comes on the stream
 */
import { randomUUID } from "node:crypto";
import {
  parseJSONRPCMessage,
  type JSONRPCMessage,
  type McpServerFactory,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { By } from "../../core/by.ts";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import type { Clock } from "../../core/clock.ts";
import { isSamePrincipal } from "../../core/principals.ts";
import { checkShare, Holdings, wishOf } from "../../core/shares.ts";
import type { WaitingBytes } from "../../net/waiting.ts";
import { otherKey } from "./caller.ts";
import { MCP } from "./limits.ts";
import { EventStream, type NodeAnswer, type StreamRoom } from "./streams.ts";

export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly maxConnections?: number;
  /** Counts what clients have not read. */
  readonly answers?: WaitingBytes | undefined;
}

interface OpenConnection {
  readonly pipe: Pipe;
  /** As it was when the stream was opened. */
  readonly by: By;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<string, OpenConnection>();
  readonly #holdings = new Holdings();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The stream of a new one. */
  open(by: By, factory: McpServerFactory, outgoing?: NodeAnswer): Response {
    const { name } = by.principal;
    const { clock, answers, maxConnections = MCP.connections } = this.#options;
    const shared = { limit: maxConnections, noun: "MCP connections" };
    checkShare(shared, wishOf(this.#holdings, name));
    const id = randomUUID();
    const onEnd = () => {
      if (this.#open.delete(id)) this.#holdings.remove(name);
    };
    const pipe = new Pipe(clock, onEnd, { answers, outgoing });
    this.#open.set(id, { pipe, by });
    this.#holdings.add(name);
    serveStdio(factory, { transport: pipe, maxSubscriptions: MCP.subscriptions });
    pipe.say("endpoint", `/mcp/messages?session_id=${id}`);
    return pipe.response;
  }

  /** The connection of another principal is not found, as if it did not exist. */
  take(id: string, by: By, body: unknown): void {
    const open = this.#open.get(id);
    if (!open || !isSamePrincipal(open.by.principal, by.principal)) {
      throw new RollcallError("NOT_FOUND", "no such session: open /mcp/sse again");
    }
    const wrong = otherKey(open.by, by);
    if (wrong !== undefined) throw new RollcallError("PERMISSION_DENIED", wrong);
    open.pipe.take(messageOf(body));
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#open.values(), ({ pipe }) => pipe.close()));
  }
}

function messageOf(body: unknown): JSONRPCMessage {
  try {
    return parseJSONRPCMessage(body);
  } catch (cause) {
    throw invalidArgument("the body is not one message of JSON-RPC 2.0", cause);
  }
}

class Pipe implements Transport {
  readonly #clock: Clock;
  readonly #stream: EventStream;
  #stopBeat: () => void = () => undefined;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];

  constructor(clock: Clock, onEnd: () => void, room: StreamRoom) {
    this.#clock = clock;
    this.#stream = new EventStream(() => {
      this.#stopBeat();
      onEnd();
      this.onclose?.();
    }, room);
    this.#beatLater();
  }

  get response(): Response {
    return this.#stream.response;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.say("message", JSON.stringify(message))) return;
    throw new RollcallError("CANCELLED", "the client went away");
  }

  /** `data` has no line breaks: it is JSON, or ours. */
  say(event: string, data: string): boolean {
    return this.#stream.write(`event: ${event}\ndata: ${data}\n\n`);
  }

  take(message: JSONRPCMessage): void {
    this.onmessage?.(message);
  }

  async close(): Promise<void> {
    this.#stream.end();
  }

  #beatLater(): void {
    this.#stopBeat = this.#clock.after(MCP.keepAliveMs, () => {
      if (this.#stream.write(": still here\n\n")) this.#beatLater();
    });
  }
}
