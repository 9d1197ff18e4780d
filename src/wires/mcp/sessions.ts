/**
 * Sessions of streamable HTTP, as clients of 2025 have them: `initialize` opens one, its id comes
 * back in a header of every request, and a GET opens the stream on which we tell what changes.
 * Clients of 2026 have none: every request stands alone.
 *
 *   initialize ──▶ open ──request, stream──▶ open …
 *                   └── DELETE, nobody there for half an hour, or room is needed ──▶ over (404)
 *
 * Clients rarely say good-bye. When a principal has its share of them, the one that was idle
 * longest makes room, of this principal or of one that has as many. One that holds a lease or a
 * task does not, however long it is idle.
 */
import { randomUUID } from "node:crypto";
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type Transport,
} from "@modelcontextprotocol/server";
import type { By } from "../../core/by.ts";
import { refusalError } from "../../core/errors.ts";
import type { Clock } from "../../core/clock.ts";
import { isSamePrincipal } from "../../core/principals.ts";
import { beyondShare, Holdings, wishOf } from "../../core/shares.ts";
import type { WaitingBytes } from "../../net/waiting.ts";
import { otherKey } from "./caller.ts";
import { MCP } from "./limits.ts";
import { boundedResponse, type NodeAnswer } from "./streams.ts";

export interface SessionsOptions {
  readonly clock: Clock;
  readonly maxSessions?: number;
  /** Counts what clients have not read. */
  readonly answers?: WaitingBytes | undefined;
}

export interface SessionRequest {
  readonly request: Request;
  /** Its parsed body; undefined when it has none. */
  readonly body: unknown;
  readonly by: By;
  /** Absent where a test asks. */
  readonly outgoing?: NodeAnswer;
}

/** The agent that a session is. */
interface SessionAgent {
  readonly isHolding: boolean;
  letExpire(): void;
}

interface SessionServer {
  readonly agent?: SessionAgent | undefined;
  connect(transport: Transport): Promise<void>;
}

/** Makes the server of a session, and learns when the session is over. */
type NewServer = (onClose: () => void) => SessionServer;

interface OpenSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** As it was when the session began: what it may do was decided by that. */
  readonly by: By;
  readonly agent: SessionAgent | undefined;
  /** Answers and streams under way. */
  busy: number;
  stopTimer: () => void;
}

export class McpSessions {
  readonly #options: SessionsOptions;
  /** The one that was used last is last. */
  readonly #open = new Map<string, OpenSession>();
  readonly #holdings = new Holdings();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  async answer(asked: SessionRequest, newServer: NewServer): Promise<Response> {
    const id = asked.request.headers.get("mcp-session-id");
    if (id !== null) {
      const session = this.#open.get(id);
      // As the protocol says: a client that hears 404 initializes anew.
      if (!session || !isSamePrincipal(session.by.principal, asked.by.principal)) {
        return refused(404, "Session not found");
      }
      const wrong = otherKey(session.by, asked.by);
      if (wrong !== undefined) return refused(403, wrong);
      return this.#use(id, session, asked);
    }
    if (!isInitializeRequest(asked.body)) {
      return refused(400, "Bad Request: begin with initialize, then send mcp-session-id");
    }
    return this.#begin(asked, newServer);
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#open.keys(), (id) => this.#end(id)));
  }

  async #begin(asked: SessionRequest, newServer: NewServer): Promise<Response> {
    const { by } = asked;
    const { name } = by.principal;
    this.#makeRoom(name);
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      // Tools answer once; what happens besides is told on the session's own stream.
      enableJsonResponse: true,
      keepAliveMs: MCP.keepAliveMs,
    });
    const server = newServer(() => this.#forget(id));
    const { agent } = server;
    const stopTimer = () => undefined;
    const session: OpenSession = { transport, by, agent, busy: 0, stopTimer };
    this.#open.set(id, session);
    this.#holdings.add(name);
    await server.connect(transport);
    const response = await this.#use(id, session, asked);
    if (response.status >= 400) await this.#end(id);
    return response;
  }

  async #use(
    id: string,
    session: OpenSession,
    { request, body, outgoing }: SessionRequest,
  ): Promise<Response> {
    session.busy += 1;
    session.stopTimer();
    const rest = () => {
      session.busy -= 1;
      this.#rest(id, session);
    };
    try {
      const options = body === undefined ? {} : { parsedBody: body };
      const response = await session.transport.handleRequest(request, options);
      return boundedResponse(response, rest, { answers: this.#options.answers, outgoing });
    } catch (error) {
      rest();
      throw error;
    }
  }

  #rest(id: string, session: OpenSession): void {
    if (session.busy > 0 || this.#open.get(id) !== session) return;
    this.#open.delete(id);
    this.#open.set(id, session);
    session.stopTimer = this.#options.clock.after(MCP.idleMs, () => {
      if (session.agent?.isHolding) this.#rest(id, session);
      else void this.#end(id);
    });
  }

  #makeRoom(principal: string): void {
    const { maxSessions = MCP.sessions } = this.#options;
    const wish = wishOf(this.#holdings, principal);
    const full = beyondShare({ limit: maxSessions, noun: "MCP sessions" }, wish);
    if (!full) return;
    for (const [id, { busy, agent, by }] of this.#open) {
      const { name } = by.principal;
      if (busy > 0 || agent?.isHolding || this.#holdings.of(name) < wish.own) continue;
      agent?.letExpire();
      void this.#end(id);
      return;
    }
    throw refusalError(full);
  }

  async #end(id: string): Promise<void> {
    const session = this.#forget(id);
    await session?.transport.close();
  }

  #forget(id: string): OpenSession | undefined {
    const session = this.#open.get(id);
    if (!session) return undefined;
    session.stopTimer();
    this.#open.delete(id);
    this.#holdings.remove(session.by.principal.name);
    return session;
  }
}

/** A refusal that clients of MCP can read. */
export function refused(status: number, message: string, code = -32_000): Response {
  const body = { jsonrpc: "2.0", error: { code, message }, id: null };
  return Response.json(body, { status });
}
