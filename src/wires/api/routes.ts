/**
 * All routes of the HTTP API. Reads are GET; commands are POST /v1/NOUN/VERB with a JSON object, so
 * that keys, which may be any text, are never part of a path that something on the way rewrites.
 */
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { RollcallError } from "../../core/errors.ts";
import { agentRoutes, type Finder } from "./agent-routes.ts";
import { directoryRoutes, type DirectoryRoutesOptions } from "./directory-routes.ts";
import { fleetRoutes, type FleetRoutesOptions } from "./fleet-routes.ts";
import { electionRoutes } from "./election-routes.ts";
import { jobRoutes } from "./job-routes.ts";
import { leaseRoutes } from "./lease-routes.ts";
import { policyRoutes } from "./policy-routes.ts";
import { taskRoutes, type TaskRoutesOptions } from "./task-routes.ts";

/** What `GET /v1/status` tells, and `rollcall doctor` reads. */
export interface Status {
  readonly version: string;
  readonly node: string;
  readonly mode: string;
  readonly head: number;
  readonly pid: number;
  readonly startedAt: string;
  readonly grpcAddress: string;
  readonly httpAddress: string;
  /** What the state is kept in, and where. */
  readonly state: string;
  readonly loopbackOnly: boolean;
}

export interface ApiOptions extends TaskRoutesOptions, FleetRoutesOptions, DirectoryRoutesOptions {
  readonly finder: Finder;
  status(): Status;
  /** Why commands cannot be answered now; nothing when they can. */
  notReady(): string | undefined;
  readonly metrics: { readonly contentType: string; page(): Promise<string> };
}

export function apiRoutes(options: ApiOptions): Hono<{ Bindings: HttpBindings }> {
  const { engine, finder } = options;
  const routes = new Hono<{ Bindings: HttpBindings }>();
  routes.route("/v1", agentRoutes(engine, finder));
  routes.route("/v1", leaseRoutes(engine));
  routes.route("/v1", electionRoutes(engine));
  routes.route("/v1", policyRoutes(engine));
  routes.route("/v1", taskRoutes(options));
  routes.route("/v1", fleetRoutes(options));
  routes.route("/v1", jobRoutes(options));
  routes.route("/v1", directoryRoutes(options));
  routes.get("/healthz", (c) => c.text("ok"));
  routes.get("/readyz", (c) => {
    const reason = options.notReady();
    if (reason !== undefined) throw new RollcallError("UNAVAILABLE", reason);
    return c.text("ready");
  });
  routes.get("/metrics", async (c) => {
    const page = await options.metrics.page();
    return c.body(page, 200, { "Content-Type": options.metrics.contentType });
  });
  routes.get("/v1/status", (c) => c.json(options.status()));
  return routes;
}
