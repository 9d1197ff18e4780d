/** Policies over HTTP, and the question they answer: may this subject do that, and who says so? */
import { Hono } from "hono";
import { z } from "zod";
import { key } from "../../core/fields.ts";
import { FIELD } from "../../core/limits.ts";
import { accessProblem, checkPolicy, type Policy } from "../../core/policies.ts";
import type { Engine } from "../../engine/engine.ts";
import type { PolicyVerdict } from "./answers.ts";
import { byKey, matching, pageOf, sendPage } from "./pages.ts";
import { bodyOf, check, LIST_QUERY, queryOf } from "./parse.ts";

const LIST = z.strictObject({ ...LIST_QUERY, subjectPrefix: z.string().default("") });

const CHECK = z.strictObject({ subject: z.string(), action: z.string(), resource: z.string() });

const POLICY = z.strictObject({
  id: z.string(),
  subject: z.string(),
  action: z.string(),
  resource: z.string(),
  effect: z.enum(["allow", "deny"]),
});

const DELETE = z.strictObject({ id: z.string() });

const ORDER = byKey<Policy>(({ id }) => id);

export function policyRoutes(engine: Engine): Hono {
  const routes = new Hono();
  routes.get("/policies", async (c) => {
    const { subjectPrefix, ...asked } = queryOf(c, LIST);
    const isWanted = ({ subject }: Policy) => subject.startsWith(subjectPrefix);
    const found = await engine.read(({ policies }, sequence) => ({
      sequence,
      page: pageOf(matching(policies.byId.values(), isWanted), ORDER, asked),
    }));
    return sendPage(c, { name: "policies", order: ORDER, ...found });
  });
  routes.get("/policies/check", async (c) => {
    const request = queryOf(c, CHECK);
    check(accessProblem(request));
    const verdict = await engine.read(({ policies }, sequence): PolicyVerdict => {
      const { allowed, reason, policy = null } = checkPolicy(policies, request);
      return { allowed, reason, policy, sequence };
    });
    return c.json(verdict);
  });
  routes.post("/policies/set", async (c) => {
    const policy = await bodyOf(c, POLICY);
    check(
      key("id", policy.id, FIELD.nameLength),
      key("subject", policy.subject),
      key("action", policy.action),
      key("resource", policy.resource),
    );
    return c.json({ policy: await engine.execute({ type: "policy.set", policy }) });
  });
  routes.post("/policies/delete", async (c) => {
    await engine.execute({ type: "policy.delete", ...(await bodyOf(c, DELETE)) });
    return c.json({});
  });
  return routes;
}
