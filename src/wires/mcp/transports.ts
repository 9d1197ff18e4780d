/**
 * The ways in which clients speak MCP:
 *
 *   /mcp                       streamable HTTP: single requests (2026), or sessions (2025)
 *   /mcp/sse, /mcp/messages    the older transport, and what `rollcall mcp` on stdio talks to
 *
 * All of them end at the same server (server.ts). Who may call at all is for the door to say.
 */
import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  type McpHttpHandler,
  type McpServerFactory,
} from "@modelcontextprotocol/server";
import { onWire, type By } from "../../core/by.ts";
import { RollcallError } from "../../core/errors.ts";
import { key } from "../../core/fields.ts";
import { isRecord } from "../../core/json-object.ts";
import { checkShare, Holdings, wishOf } from "../../core/shares.ts";
import type { WaitingBytes } from "../../net/waiting.ts";
import { servicesFor } from "../../operations/sight.ts";
import type { HttpContext } from "../route.ts";
import type { Ground } from "./caller.ts";
import { ResourceChanges } from "./changes.ts";
import { Connections } from "./connections.ts";
import { MCP } from "./limits.ts";
import { mcpServer, type ServerOptions } from "./server.ts";
import { refused, McpSessions } from "./sessions.ts";
import { boundedResponse } from "./streams.ts";
import { busFor } from "./subscriptions.ts";

/** How many are there: with a session, on a connection, or listening to changes. */
export interface Clients {
  readonly sessions: number;
  readonly connections: number;
  readonly listeners: number;
}

export interface McpOptions extends Ground {
  readonly version: string;
  readonly maxSessions?: number;
  /** Counts what clients have not read. */
  readonly answers?: WaitingBytes | undefined;
  /** Something failed and is being dealt with: for the operator. */
  readonly onTrouble: (what: string, error: unknown) => void;
}

/** `rollcall mcp` says in it which agent it was started for. */
const OWN_ID_HEADER = "rollcall-agent-id";

const LISTENERS = { limit: MCP.listeners, noun: "streams of MCP" } as const;

export class Transports {
  readonly #options: McpOptions;
  readonly #changes: ResourceChanges;
  readonly #sessions: McpSessions;
  readonly #connections: Connections;
  /** Of single requests, until their answers are over. */
  readonly #handlers = new Set<McpHttpHandler>();
  readonly #listeners = new Holdings();

  constructor(options: McpOptions) {
    this.#options = options;
    this.#changes = new ResourceChanges(options);
    this.#sessions = new McpSessions(options);
    this.#connections = new Connections(options);
  }

  get clients(): Clients {
    return {
      sessions: this.#sessions.size,
      connections: this.#connections.size,
      listeners: this.#changes.size,
    };
  }

  async answer(c: HttpContext): Promise<Response> {
    const { method, path } = c.req;
    switch (`${method} ${path}`) {
      case "POST /mcp":
        return this.#request(c);
      case "GET /mcp":
      case "DELETE /mcp":
        return this.#inSession(c, undefined);
      case "GET /mcp/sse":
        return this.#connect(c);
      case "POST /mcp/messages":
        return this.#message(c);
      default:
        throw new RollcallError("NOT_FOUND", `no ${method} ${path}`);
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const single = Array.from(this.#handlers, (handler) => handler.close());
    await Promise.all([...single, this.#sessions.close(), this.#connections.close()]);
    this.#changes.close();
  }

  async #request(c: HttpContext): Promise<Response> {
    const body = await bodyOf(c);
    if (body instanceof Response) return body;
    if (await isLegacyRequest(c.req.raw, body)) return this.#inSession(c, body);
    return this.#single(c, body);
  }

  /** A request that stands alone; one that listens to changes is answered by a stream. */
  async #single(c: HttpContext, body: unknown): Promise<Response> {
    const by = onWire(c.env.by, "mcp");
    const { name } = by.principal;
    const isListener = isRecord(body) && body["method"] === "subscriptions/listen";
    if (isListener) checkShare(LISTENERS, wishOf(this.#listeners, name));
    const ground = servicesFor(this.#options, by);
    const handler = createMcpHandler(() => this.#server(by), {
      legacy: "reject",
      bus: busFor({ changes: this.#changes, ground, by }),
      keepAliveMs: MCP.keepAliveMs,
    });
    this.#handlers.add(handler);
    if (isListener) this.#listeners.add(name);
    const over = () => {
      if (this.#handlers.delete(handler) && isListener) this.#listeners.remove(name);
    };
    try {
      const response = await handler.fetch(c.req.raw, { parsedBody: body });
      const { answers } = this.#options;
      return boundedResponse(response, over, { answers, outgoing: c.env.outgoing });
    } catch (error) {
      over();
      throw error;
    }
  }

  #inSession(c: HttpContext, body: unknown): Promise<Response> {
    const by = onWire(c.env.by, "mcp");
    const asked = { request: c.req.raw, body, by, outgoing: c.env.outgoing };
    return this.#sessions.answer(asked, (onClose) => this.#server(by, { era: "legacy", onClose }));
  }

  #connect(c: HttpContext): Response {
    const ownId = idOf(c.req.header(OWN_ID_HEADER));
    const by = onWire(c.env.by, "mcp");
    const factory: McpServerFactory = ({ era }) => this.#server(by, { era, ownId });
    return this.#connections.open(by, factory, c.env.outgoing);
  }

  async #message(c: HttpContext): Promise<Response> {
    const body = await bodyOf(c);
    if (body instanceof Response) return body;
    this.#connections.take(c.req.query("session_id") ?? "", c.env.by, body);
    return c.text("Accepted", 202);
  }

  #server(by: By, connection?: ServerOptions["connection"]) {
    const { version } = this.#options;
    const shared = { ground: this.#options, by, version, changes: this.#changes };
    return mcpServer({ ...shared, ...(connection && { connection }) });
  }
}

/** One that cannot be an id is as good as none. */
function idOf(given: string | undefined): string | undefined {
  return given === undefined || key("agent_id", given) !== undefined ? undefined : given;
}

/** The JSON that was sent, or why it is refused. */
async function bodyOf(c: HttpContext): Promise<unknown> {
  if (!isJsonContentType(c.req.header("content-type"))) {
    return refused(415, "Unsupported Media Type: send application/json");
  }
  const text = await c.req.text();
  try {
    const body: unknown = JSON.parse(text);
    if (!Array.isArray(body) || body.length <= MCP.batch) return body;
    return refused(400, `at most ${MCP.batch} messages may be sent together`, -32_600);
  } catch {
    return refused(400, "Parse error: the body is not JSON", -32_700);
  }
}
