/** The small pages of the HTTP API: is it up, can it work, what does it count, what is it. */
import { Hono } from "hono";
import { RollcallError } from "../../core/errors.ts";

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

export interface ApiOptions {
  status(): Status;
  /** Why commands cannot be answered now; nothing when they can. */
  notReady(): string | undefined;
  readonly metrics: { readonly contentType: string; page(): Promise<string> };
}

export function apiRoutes(options: ApiOptions): Hono {
  const routes = new Hono();
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
