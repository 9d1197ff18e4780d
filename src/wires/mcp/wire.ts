/**
 * MCP, so that a model finds agents, shares work with them and tells people what it does. Most
 * daemons never hear of it, and the SDK takes 8 MB and a few hundred milliseconds: what speaks the
 * protocol (transports.ts) is loaded when the first client comes.
 */
import { RollcallError } from "../../core/errors.ts";
import { ACCESS } from "../../operations/access.ts";
import type { HttpContext, Route } from "../route.ts";
import type { Clients, McpOptions, Transports } from "./transports.ts";

export class McpWire {
  readonly #options: McpOptions;
  #loading: Promise<Transports> | undefined;
  #transports: Transports | undefined;
  #isClosed = false;

  constructor(options: McpOptions) {
    this.#options = options;
  }

  get clients(): Clients {
    return this.#transports?.clients ?? { sessions: 0, connections: 0, listeners: 0 };
  }

  /** The access to a tool or a resource is asked for when it is called (server.ts). */
  routes(): readonly Route[] {
    const handle = (c: HttpContext) => this.#answer(c);
    return [{ method: "ALL", path: "/mcp/*", access: ACCESS.mcp, handle }];
  }

  /** Idempotent; every client is told by the end of its stream. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#loading)?.close();
  }

  async #answer(c: HttpContext): Promise<Response> {
    this.#loading ??= this.#load();
    const transports = await this.#loading;
    if (this.#isClosed) throw new RollcallError("UNAVAILABLE", "this node is closing");
    return transports.answer(c);
  }

  async #load(): Promise<Transports> {
    const { Transports } = await import("./transports.ts");
    this.#transports = new Transports(this.#options);
    return this.#transports;
  }
}
