/** `rollcall agents`: who is here, and what an agent without a program of its own needs. */
import type { Agent, AgentStatus } from "../../core/agents.ts";
import { shortDuration } from "../../core/words.ts";
import { note, printFacts } from "../print.ts";
import { switchFlag, textsFlag } from "../flags.ts";
import { listOperation } from "../list-command.ts";
import { operation } from "../operation.ts";
import { clean } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import type { Cell, FactRow } from "../terminal/table.ts";
import { ago, momentText } from "../terminal/time.ts";

const COLOURS: Readonly<Record<AgentStatus, Style>> = {
  alive: "green",
  unreachable: "yellow",
  dead: "red",
};

const LIVING: readonly AgentStatus[] = ["alive", "unreachable"];

function statusOf({ status }: Pick<Agent, "status">): Cell {
  return { text: status, style: COLOURS[status] };
}

interface ListFilters {
  readonly all?: boolean;
  readonly status?: readonly AgentStatus[];
}

const list = listOperation<"agents.list", ListFilters>("agents.list", {
  words: { status: "--status", tool: "--tool TOOL", namePrefix: "--name PREFIX" },
  flags: { all: switchFlag("Dead agents as well") },
  fill: ({ all = false, status }) => (all || status ? {} : { status: LIVING }),
  more: "Without --all only living agents.",
  examples: [
    { call: "rollcall agents", does: "all that are alive" },
    { call: "rollcall agents --watch", does: "the same, live" },
    { call: "rollcall agents --status unreachable", does: "agents that missed a heartbeat" },
    { call: "rollcall agents --tool browser --json", does: "for programs" },
  ],
  topics: ["agent."],
  columns: [
    { title: "ID", cell: ({ agentId }, { id }) => id(agentId) },
    { title: "NAME", least: 12, cell: ({ card }) => card.name },
    { title: "STATUS", cell: statusOf },
    { title: "SEEN", cell: ({ lastHeartbeatAtMs }, { nowMs }) => ago(lastHeartbeatAtMs, nowMs) },
    {
      title: "HERE SINCE",
      isExtra: true,
      cell: (agent, { nowMs }) => ago(agent.registeredAtMs, nowMs),
    },
    { title: "TOOLS", least: 10, cell: ({ card }) => card.tools.join(", ") },
    { title: "DESCRIPTION", least: 20, isExtra: true, cell: ({ card }) => card.description },
  ],
  key: (agent) => agent.agentId,
  nothing: [
    "no agent is registered; `rollcall ls` shows the agents of all kinds, --all the dead, too",
    "no agent fits; `rollcall agents --all` shows all, the dead too",
  ],
});

const get = operation("agents.get", {
  words: { agentId: "AGENT" },
  examples: [{ call: "rollcall agents get web-1", does: "by its name, its id, or a part of one" }],
  show: ({ agent }, { context }) => printFacts(context, factsOf(agent)),
});

function factsOf(agent: Agent): readonly FactRow[] {
  const { card } = agent;
  const nowMs = Date.now();
  return [
    ["id", agent.agentId],
    ["name", card.name],
    ["status", statusOf(agent)],
    ["seen", momentText(agent.lastHeartbeatAtMs, nowMs)],
    ["here since", momentText(agent.registeredAtMs, nowMs)],
    ["died", agent.diedAtMs === 0 ? "" : momentText(agent.diedAtMs, nowMs)],
    ["ttl", shortDuration(agent.ttlMs)],
    ["version", card.version],
    ["description", card.description],
    ["tools", card.tools.join(", ")],
    ...card.capabilities.map(({ name, description }): FactRow => [
      "can",
      `${name}: ${description}`,
    ]),
    ...Object.entries(card.metadata).map(([name, value]): FactRow => ["meta", `${name}=${value}`]),
  ];
}

interface CardFlags {
  readonly can?: readonly string[];
  readonly meta?: readonly (readonly [string, string])[];
}

const register = operation<"agents.register", CardFlags>("agents.register", {
  words: {
    "card.name": "NAME",
    "card.description": "--description TEXT",
    "card.version": "--version VERSION",
    "card.tools": "--tool TOOL",
    ttlMs: "--ttl TIME",
  },
  flags: {
    can: textsFlag("NAME: TEXT", "A capability; may be given several times"),
    meta: { ...textsFlag("NAME=VALUE", "Anything else to know of it"), parse: parsePair },
  },
  fill: ({ can = [], meta = [] }) => ({
    "card.capabilities": can.map((text) => {
      const [, name = text, description = ""] = /^([^:]*): *(.*)$/s.exec(text) ?? [];
      return { name, description };
    }),
    "card.metadata": Object.fromEntries(meta),
  }),
  more: "It prints the id, and sends no heartbeats itself.",
  examples: [
    { call: "rollcall agents register web-1 --tool browser", does: "for 30 s" },
    { call: "rollcall agents register ocr --can 'ocr: reads scans' --ttl 1h", does: "for long" },
    { call: "ID=$(rollcall agents register x)", does: "in a script" },
  ],
  async show({ agent: { agentId, card, ttlMs } }, { context }) {
    await context.out.line(clean(agentId));
    await note(
      context,
      `${card.name} is here; it is unreachable after ${shortDuration(ttlMs)} without a heartbeat`,
    );
  },
});

function parsePair(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new Error("not NAME=VALUE");
}

const heartbeat = operation("agents.heartbeat", {
  words: { agentId: "AGENT" },
  examples: [{ call: "rollcall agents heartbeat web-1", does: "good for one ttl more" }],
});

const deregister = operation("agents.deregister", {
  words: { agentId: "AGENT" },
  examples: [{ call: "rollcall agents deregister web-1", does: "no wait for its ttl" }],
});

export const agents = { list, get, register, heartbeat, deregister } as const;
