/** Agents over HTTP: who is here, who can do what, and what agents without gRPC need to be here. */
import { Hono, type Context } from "hono";
import { z } from "zod";
import { asSeen, unknownAgent, type Agent, type AgentEntry } from "../../core/agents.ts";
import { RollcallError } from "../../core/errors.ts";
import { key, ttl } from "../../core/fields.ts";
import type { Engine } from "../../engine/engine.ts";
import type { AgentSearch } from "../../search/agent-search.ts";
import { matching, pageOf, sendPage, type Order } from "./pages.ts";
import { bodyOf, check, LIST_QUERY, queryOf, ttlMs, wholeText } from "./parse.ts";

/** Who finds agents; a test brings its own. */
export type Finder = Pick<AgentSearch, "find">;

const LIST = z.strictObject({
  ...LIST_QUERY,
  status: z.array(z.enum(["alive", "unreachable", "dead"])),
  /** It must have every one of these. */
  tool: z.array(z.string()),
  namePrefix: z.string().default(""),
  idPrefix: z.string().default(""),
});

const FIND = z.strictObject({
  query: z.string().default(""),
  tool: z.array(z.string()),
  limit: wholeText.default(0),
});

const REGISTER = z.strictObject({
  card: z.strictObject({
    name: z.string(),
    description: z.string().default(""),
    version: z.string().default(""),
    capabilities: z
      .array(z.strictObject({ name: z.string(), description: z.string().default("") }))
      .default([]),
    tools: z.array(z.string()).default([]),
    metadata: z.record(z.string(), z.string()).default({}),
  }),
  ttlMs,
});

const AGENT = z.strictObject({ agentId: z.string() });

/** The first to come first. */
const ORDER: Order<Agent> = {
  atMs: ({ registeredAtMs }) => registeredAtMs,
  key: ({ agentId }) => agentId,
};

export function agentRoutes(engine: Engine, finder: Finder): Hono {
  const routes = new Hono();
  routes.get("/agents", (c) => list(c, engine));
  routes.get("/agents/:agentId", async (c) => {
    queryOf(c, z.strictObject({}));
    const agentId = c.req.param("agentId");
    const found = await engine.read(({ agents }, sequence) => {
      const entry = agents.byId.get(agentId);
      return entry ? { agent: asSeen(entry), sequence } : unknownAgent(agentId);
    });
    if ("ok" in found) throw new RollcallError(found.code, found.reason);
    return c.json(found);
  });
  routes.get("/find", async (c) => {
    const { query, tool, limit } = queryOf(c, FIND);
    // Before it looks: what happens meanwhile is told again rather than missed.
    const sequence = engine.head;
    const agents = await finder.find({ query, tools: tool, limit });
    return c.json({ sequence, agents });
  });
  routes.post("/agents/register", async (c) => {
    const body = await bodyOf(c, REGISTER);
    check(ttl("ttlMs", body.ttlMs));
    return c.json({ agent: await engine.execute({ type: "agent.register", ...body }) });
  });
  routes.post("/agents/heartbeat", async (c) => {
    await engine.heartbeat(await agentIdOf(c));
    return c.json({});
  });
  routes.post("/agents/deregister", async (c) => {
    await engine.execute({ type: "agent.deregister", agentId: await agentIdOf(c) });
    return c.json({});
  });
  return routes;
}

async function list(c: Context, engine: Engine): Promise<Response> {
  const { status, tool, namePrefix, idPrefix, ...asked } = queryOf(c, LIST);
  const isWanted = ({ agent }: AgentEntry) =>
    (status.length === 0 || status.includes(agent.status)) &&
    agent.agentId.startsWith(idPrefix) &&
    agent.card.name.startsWith(namePrefix) &&
    tool.every((each) => agent.card.tools.includes(each));
  const found = await engine.read(({ agents }, sequence) => {
    const entries = matching(agents.byId.values(), isWanted);
    const page = pageOf(entries, ENTRY_ORDER, asked);
    return { sequence, page: { ...page, items: page.items.map(asSeen) } };
  });
  return sendPage(c, { name: "agents", order: ORDER, ...found });
}

const ENTRY_ORDER: Order<AgentEntry> = {
  atMs: ({ agent }) => ORDER.atMs(agent),
  key: ({ agent }) => ORDER.key(agent),
};

async function agentIdOf(c: Context): Promise<string> {
  const { agentId } = await bodyOf(c, AGENT);
  check(key("agentId", agentId));
  return agentId;
}
