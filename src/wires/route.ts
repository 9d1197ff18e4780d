/**
 * The routes that a wire hands to an HTTP door: handlers by their paths, each with the access that
 * its callers need. The door asks before it calls, so a wire cannot forget to, and a handler
 * without an access does not compile.
 */
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { Access } from "../core/access.ts";
import type { By } from "../core/by.ts";

/** Open to every caller that the door let in: it says nothing about any agent. */
export const ADMITTED = "admitted";

export interface GuardedHandler<Handler> {
  readonly access: Access | typeof ADMITTED;
  readonly handle: Handler;
}

export interface Bindings extends HttpBindings {
  readonly by: By;
}

export type HttpContext = Context<{ Bindings: Bindings }>;

export interface Route extends GuardedHandler<(c: HttpContext) => Response | Promise<Response>> {
  readonly method: "GET" | "POST" | "ALL";
  /** As hono has it: `:name` for a field. */
  readonly path: string;
}

/** An answer that is there as a whole. */
export interface WholeAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}
