/**
 * MCP, so that a model finds agents, shares work with them and tells people what it does:
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
import { Hono, type Context } from "hono";
import { RollcallError } from "../../core/errors.ts";
import { key } from "../../core/fields.ts";
import type { Ground } from "./caller.ts";
import { Changes } from "./changes.ts";
import { Connections } from "./connections.ts";
import { MCP } from "./limits.ts";
import { Presence } from "./presence.ts";
import { mcpServer, type ServerOptions } from "./server.ts";
import { refused, Sessions } from "./sessions.ts";
import { bounded } from "./streams.ts";

export interface McpOptions extends Omit<Ground, "presence"> {
  readonly version: string;
  /** Something failed and is being dealt with: for the operator. */
  readonly onTrouble: (what: string, error: unknown) => void;
}

interface Bindings {
  readonly principal: { readonly name: string };
}

type Asked = Context<{ Bindings: Bindings }>;

/** `rollcall mcp` says in it which agent it was started for. */
const OWN_ID_HEADER = "rollcall-agent-id";

export class McpWire {
  readonly #ground: Ground;
  readonly #version: string;
  readonly #presence: Presence;
  readonly #changes: Changes;
  readonly #single: McpHttpHandler;
  readonly #sessions: Sessions;
  readonly #connections: Connections;
  #isClosed = false;

  constructor({ version, onTrouble, ...ground }: McpOptions) {
    const { engine, fleet, clock } = ground;
    this.#version = version;
    this.#presence = new Presence({ fleet, clock, nowMs: () => engine.nowMs, onTrouble });
    this.#ground = { ...ground, presence: this.#presence };
    this.#changes = new Changes({ ...ground, onTrouble });
    this.#sessions = new Sessions({ clock });
    this.#connections = new Connections({ clock });
    this.#single = createMcpHandler(() => this.#server(), {
      legacy: "reject",
      bus: this.#changes,
      maxSubscriptions: MCP.listeners,
      keepAliveMs: MCP.keepAliveMs,
    });
  }

  /** How many clients are there: with a session, on a connection, or listening to changes. */
  get clients(): { readonly sessions: number; readonly connections: number; listeners: number } {
    const listeners = this.#changes.size;
    return { sessions: this.#sessions.size, connections: this.#connections.size, listeners };
  }

  routes(): Hono<{ Bindings: Bindings }> {
    const routes = new Hono<{ Bindings: Bindings }>();
    routes.use("/mcp/*", (_c, next) => {
      if (this.#isClosed) throw new RollcallError("UNAVAILABLE", "this node is closing");
      return next();
    });
    routes.get("/mcp/sse", (c) => {
      const ownId = c.req.header(OWN_ID_HEADER);
      const factory: McpServerFactory = ({ era }) => this.#server({ era, ownId: idOf(ownId) });
      return this.#connections.open(c.env.principal.name, factory);
    });
    routes.post("/mcp/messages", async (c) => {
      const body = await bodyOf(c);
      if (body instanceof Response) return body;
      this.#connections.take(c.req.query("session_id") ?? "", c.env.principal.name, body);
      return c.text("Accepted", 202);
    });
    routes.post("/mcp", async (c) => {
      const body = await bodyOf(c);
      if (body instanceof Response) return body;
      if (await isLegacyRequest(c.req.raw, body)) return this.#inSession(c, body);
      return bounded(await this.#single.fetch(c.req.raw, { parsedBody: body }), () => undefined);
    });
    for (const method of ["get", "delete"] as const) {
      routes[method]("/mcp", (c) => this.#inSession(c, undefined));
    }
    return routes;
  }

  /** Idempotent; every client is told by the end of its stream. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#presence.close();
    await Promise.all([this.#single.close(), this.#sessions.close(), this.#connections.close()]);
    this.#changes.close();
  }

  #inSession(c: Asked, body: unknown): Promise<Response> {
    const asked = { request: c.req.raw, body, principal: c.env.principal.name };
    return this.#sessions.answer(asked, (onClose) => this.#server({ era: "legacy", onClose }));
  }

  #server(connection?: ServerOptions["connection"]) {
    return mcpServer({
      ground: this.#ground,
      version: this.#version,
      changes: this.#changes,
      ...(connection && { connection }),
    });
  }
}

/** One that cannot be an id is as good as none. */
function idOf(given: string | undefined): string | undefined {
  return given === undefined || key("agent_id", given) !== undefined ? undefined : given;
}

/** The JSON that was sent, or why it is refused. */
async function bodyOf(c: Asked): Promise<unknown> {
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
