/** Leases over HTTP. A key may be any text, so commands carry it in their body. */
import { Hono } from "hono";
import { z } from "zod";
import { RollcallError } from "../../core/errors.ts";
import { key, ttl } from "../../core/fields.ts";
import { leasesOf, type Lease } from "../../core/leases.ts";
import type { State } from "../../core/state.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LeaseRow } from "./answers.ts";
import { nameOf } from "./names.ts";
import { byKey, matching, pageOf, sendPage } from "./pages.ts";
import { bodyOf, check, LIST_QUERY, queryOf, ttlMs } from "./parse.ts";

const LIST = z.strictObject({
  ...LIST_QUERY,
  holder: z.string().optional(),
  taskIdPrefix: z.string().default(""),
});

const ACQUIRE = z.strictObject({ taskId: z.string(), agentId: z.string(), ttlMs });
const RELEASE = z.strictObject({ taskId: z.string(), agentId: z.string(), token: z.int().min(0) });
const RENEW = RELEASE.extend({ ttlMs });

const ORDER = byKey<Lease>(({ taskId }) => taskId);

export function leaseRoutes(engine: Engine): Hono {
  const routes = new Hono();
  routes.get("/leases", async (c) => {
    const { holder, taskIdPrefix, ...asked } = queryOf(c, LIST);
    const isWanted = ({ taskId }: Lease) => taskId.startsWith(taskIdPrefix);
    const found = await engine.read((state, sequence) => {
      const leases = holder === undefined ? allLeases(state) : leasesOf(state, holder);
      const page = pageOf(matching(leases, isWanted), ORDER, asked);
      return { sequence, page: { ...page, items: page.items.map((each) => rowOf(state, each)) } };
    });
    return sendPage(c, { name: "leases", order: ORDER, ...found });
  });
  routes.get("/leases/:taskId", async (c) => {
    queryOf(c, z.strictObject({}));
    const taskId = c.req.param("taskId");
    check(key("taskId", taskId));
    const found = await engine.read((state, sequence) => {
      const lease = state.leases.byTask.get(taskId)?.lease;
      return lease && { lease: rowOf(state, lease), sequence };
    });
    if (!found) throw new RollcallError("NOT_FOUND", `no lease on ${taskId}`);
    return c.json(found);
  });
  routes.post("/leases/acquire", async (c) => {
    const body = await bodyOf(c, ACQUIRE);
    checkLease(body);
    const { acquired, lease } = await engine.execute({ type: "lease.acquire", ...body });
    return c.json({ acquired, lease: engine.peek((state) => rowOf(state, lease)) });
  });
  routes.post("/leases/renew", async (c) => {
    const body = await bodyOf(c, RENEW);
    checkLease(body);
    const lease = await engine.execute({ type: "lease.renew", ...body });
    return c.json({ lease: engine.peek((state) => rowOf(state, lease)) });
  });
  routes.post("/leases/release", async (c) => {
    const body = await bodyOf(c, RELEASE);
    checkLease({ ...body, ttlMs: 0 });
    await engine.execute({ type: "lease.release", ...body });
    return c.json({});
  });
  return routes;
}

function rowOf(state: State, lease: Lease): LeaseRow {
  return { ...lease, holderName: nameOf(state, lease.holder) };
}

function checkLease(body: z.output<typeof ACQUIRE>): void {
  check(key("taskId", body.taskId), key("agentId", body.agentId), ttl("ttlMs", body.ttlMs));
}

function* allLeases({ leases }: State): Generator<Lease> {
  for (const { lease } of leases.byTask.values()) yield lease;
}
