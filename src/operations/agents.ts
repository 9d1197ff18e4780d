/** Agents of the registry: who is here, who can do what, and how to come, stay and go. */
import { z } from "zod";
import type { Access } from "../core/access.ts";
import type { Order } from "../core/pages.ts";
import { asSeen, type Agent, type AgentEntry } from "../core/agents.ts";
import { key } from "../core/fields.ts";
import { newAgentKey, secretHash } from "../machine/secrets.ts";
import { moment, OWNER, prefix, SEQUENCE, SOME_ID, someOf, text, ttl, whole } from "./fields.ts";
import { FILTERED, listJson, listPage, PAGE } from "./lists.ts";
import { meantBy } from "./meant-by.ts";
import { operation, type Uses } from "./operation.ts";
import { check } from "./parse.ts";

const STATUSES = ["alive", "unreachable", "dead"] as const;

const AGENT_ID = text("The agent's id", SOME_ID);

const NAME = text("Its name; need not be unique", "scraper-1");

const CAPABILITY = { name: z.string().meta({ examples: ["ocr"] }) } as const;

const TOOLS = z.array(z.string().meta({ examples: ["browser"] }));

/** As it comes; what may be left out is empty. */
const GIVEN_CARD = z.strictObject({
  name: NAME,
  description: text("Its strengths in plain words; find looks here").default(""),
  version: text("Of its program").default(""),
  capabilities: z
    .array(z.strictObject({ ...CAPABILITY, description: z.string().default("") }))
    .default([])
    .describe("Its capabilities, each with a name and a sentence"),
  tools: TOOLS.default([]).describe("The tools that it has"),
  metadata: z.record(z.string(), z.string()).default({}).describe("Anything else to know of it"),
});

export const AGENT_SHAPE = z
  .strictObject({
    agentId: AGENT_ID,
    owner: OWNER,
    card: z.strictObject({
      name: NAME,
      description: z.string(),
      version: z.string(),
      capabilities: z.array(z.strictObject({ ...CAPABILITY, description: z.string() })),
      tools: TOOLS,
      metadata: z.record(z.string(), z.string()),
    }),
    status: z.enum(STATUSES).describe("Unreachable after one ttl of silence, dead after two"),
    ttlMs: whole("How long it may be silent", 30_000),
    registeredAtMs: moment("When it came"),
    lastHeartbeatAtMs: moment("When it was last heard"),
    diedAtMs: moment("When it died; 0 for one that has not"),
  })
  .meta({ id: "Agent" });

/** Of a list: it must have every one of these. */
const WITH_TOOL = z
  .array(z.string())
  .default([])
  .describe("Only agents that have it; may be given several times");

/** The first to come first. */
const ORDER: Order<Agent> = {
  atMs: ({ registeredAtMs }) => registeredAtMs,
  key: ({ agentId }) => agentId,
};

const list = operation({
  path: "/v1/agents",
  effect: "reads",
  access: { action: "agent.read", resource: "agent:*" },
  brief: "List the agents of the registry",
  about: "List the agents of the registry, the first to come first; the dead of the last day too.",
  input: z.strictObject({
    ...PAGE,
    status: someOf(STATUSES),
    tool: WITH_TOOL,
    namePrefix: prefix("Only names with this prefix"),
    idPrefix: prefix("Only ids with this prefix"),
  }),
  output: z.strictObject({ ...FILTERED, agents: z.array(AGENT_SHAPE) }),
  async run({ engine }: Uses<"engine">, { status, tool, namePrefix, idPrefix, ...page }) {
    const isWanted = ({ agent: { agentId, card, status: own } }: AgentEntry) =>
      (status.length === 0 || status.includes(own)) &&
      agentId.startsWith(idPrefix) &&
      card.name.startsWith(namePrefix) &&
      tool.every((each) => card.tools.includes(each));
    const isFiltered = status.length + tool.length + namePrefix.length + idPrefix.length > 0;
    const { items, ...facts } = await listPage(
      {
        engine,
        list: ({ agents: all }) => all,
        isWanted: isFiltered ? isWanted : undefined,
        show: asSeen,
      },
      page,
    );
    return { ...facts, agents: items };
  },
  json: listJson("agents", ORDER),
});

const READ: Access = { action: "agent.read", resource: "agent:{agentId}" };

const get = operation({
  path: "/v1/agents/{agentId}",
  effect: "reads",
  access: READ,
  brief: "Show one agent of the registry",
  about: "Show one agent with its whole card.",
  input: z.strictObject({
    agentId: text("An agent by its id, its name, or a part of one that no other has", SOME_ID),
  }),
  output: z.strictObject({ agent: AGENT_SHAPE, sequence: SEQUENCE }),
  async run({ engine, permit }: Uses<"engine" | "permit">, { agentId }, { by }) {
    check(key("agentId", agentId));
    const search = { word: agentId, noun: "agent" };
    return meantBy(
      {
        engine,
        search,
        items: ({ agents: { byId } }) => byId,
        namesOf,
        byName: ({ agentNames }) => agentNames,
        permit: (id) => permit(by, READ, { agentId: id }),
      },
      (entry) => ({ agent: asSeen(entry) }),
    );
  },
});

function namesOf({ agent: { agentId, card, status } }: AgentEntry) {
  return { id: agentId, name: card.name, isHere: status !== "dead" };
}

const find = operation({
  path: "/v1/find",
  effect: "reads",
  access: { action: "agent.read", resource: "agent:*" },
  brief: "Find agents by what they are good at",
  about:
    "Find agents that are alive by what they are good at, best first: by meaning, not only by " +
    "word. Without a query it lists those with the tools, last seen first.",
  input: z.strictObject({
    query: text("The need, in plain words", "read scanned invoices").default(""),
    tool: WITH_TOOL,
    limit: z.int().min(0).default(0).describe("How many at most; 0 stands for 10"),
  }),
  output: z.strictObject({ sequence: SEQUENCE, agents: z.array(AGENT_SHAPE) }),
  async run({ engine, search }: Uses<"engine" | "search">, { query, tool, limit }) {
    // Before it looks: what happens meanwhile is told again rather than missed.
    const sequence = engine.head;
    return { sequence, agents: await search.find({ query, tools: tool, limit }) };
  },
});

const register = operation({
  path: "/v1/agents/register",
  effect: "adds",
  access: { action: "agent.register", resource: "agent:*" },
  brief: "Register an agent",
  about:
    "Register an agent. It gets an id, and stays as long as its heartbeats come: it is " +
    "unreachable after one ttl of silence, and dead after two, with all that it holds.",
  input: z.strictObject({
    card: GIVEN_CARD,
    ttlMs: ttl("How long it may be silent, up to a day; 30 s unless set"),
  }),
  output: z.strictObject({
    agent: AGENT_SHAPE,
    agentKey: text(
      "Its key, told this once: the first call for the agent with the header rollcall-agent-key " +
        "binds it to the key, and from then on every call for it needs the header",
      "rollcall_agent_kX2v…",
    ),
  }),
  async run({ engine }: Uses<"engine">, input, { by }) {
    const agentKey = newAgentKey();
    const keyHash = secretHash(agentKey);
    const agent = await engine.execute({ type: "agent.register", ...input, keyHash }, by);
    return { agent, agentKey };
  },
});

const heartbeat = operation({
  path: "/v1/agents/heartbeat",
  effect: "sets",
  access: { action: "agent.heartbeat", resource: "agent:{agentId}" },
  brief: "Say that an agent is alive",
  about: "Say that an agent is alive, which is good for one ttl more.",
  input: z.strictObject({ agentId: AGENT_ID }),
  output: z.strictObject({}),
  async run({ engine }: Uses<"engine">, { agentId }, { by }) {
    await engine.heartbeat(agentId, by);
    return {};
  },
});

const deregister = operation({
  path: "/v1/agents/deregister",
  effect: "ends",
  access: { action: "agent.deregister", resource: "agent:{agentId}" },
  brief: "Let an agent go",
  about:
    "Let an agent go: its leases are free at once, its tasks go back to the queue, and groups it " +
    "led get another leader.",
  input: z.strictObject({ agentId: AGENT_ID }),
  output: z.strictObject({}),
  async run({ engine }: Uses<"engine">, { agentId }, { by }) {
    await engine.execute({ type: "agent.deregister", agentId }, by);
    return {};
  },
});

export const agents = { list, get, find, register, heartbeat, deregister } as const;
