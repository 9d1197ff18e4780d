/** `rollcall agents`: who is here, and what an agent without a program of its own needs. */
import { buildCommand } from "@stricli/core";
import type { Agent, AgentStatus } from "../../core/agents.ts";
import { shortDuration } from "../../core/words.ts";
import type { Context } from "../context.ts";
import { agentId, daemonOf, itemPath, lookOf, note, printJson, read } from "../daemon.ts";
import { durationFlag } from "../durations.ts";
import { answerFlags, argument, listFlags, textFlag, textsFlag, wordsFlag } from "../flags.ts";
import type { AnswerFlags, ListFlags } from "../flags.ts";
import { about } from "../help.ts";
import { list, type Listing } from "../listing.ts";
import { clean } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { factLines, type Cell } from "../terminal/table.ts";
import { ago, moment } from "../terminal/time.ts";

const STATUSES = ["alive", "unreachable", "dead"] as const;

const COLOURS: Readonly<Record<AgentStatus, Style>> = {
  alive: "green",
  unreachable: "yellow",
  dead: "red",
};

const AGENT = argument("AGENT", "An agent's id, or enough of its beginning");

interface Filters extends ListFlags {
  readonly all?: boolean;
  readonly status?: readonly AgentStatus[];
  readonly tool?: readonly string[];
  readonly name?: string;
}

function listing({ all = false, status, tool, name }: Filters): Listing<Agent> {
  const living = all ? undefined : (["alive", "unreachable"] as const);
  return {
    noun: "agents",
    params: { status: status ?? living, tool, namePrefix: name },
    topics: ["agent."],
    columns: [
      { title: "ID" },
      { title: "NAME", least: 12 },
      { title: "STATUS" },
      { title: "SEEN" },
      { title: "HERE SINCE", isExtra: true },
      { title: "TOOLS", least: 10 },
      { title: "DESCRIPTION", least: 20, isExtra: true },
    ],
    cells: (agent, { nowMs, id }) => [
      id(agent.agentId),
      agent.card.name,
      statusOf(agent),
      ago(agent.lastHeartbeatAtMs, nowMs),
      ago(agent.registeredAtMs, nowMs),
      agent.card.tools.join(", "),
      agent.card.description,
    ],
    key: (agent) => agent.agentId,
    nothing:
      status || tool || name !== undefined
        ? "no agent fits; `rollcall agents --all` shows all, the dead too"
        : "no agents; `rollcall agents register NAME` makes one; --all shows the dead",
  };
}

function statusOf({ status }: Agent): Cell {
  return { text: status, style: COLOURS[status] };
}

export const agentsList = buildCommand<Filters, [], Context>({
  docs: {
    brief: "List the agents that are here",
    fullDescription: about(
      "List the agents that are here, the first to come first; with --all those gone as well.",
      { call: "rollcall agents", does: "who is here" },
      { call: "rollcall agents --watch", does: "the same, live" },
      { call: "rollcall agents --status unreachable", does: "who missed a heartbeat" },
      { call: "rollcall agents --tool browser --json", does: "for programs" },
    ),
  },
  parameters: {
    flags: {
      all: { kind: "boolean", optional: true, withNegated: false, brief: "The dead as well" },
      status: wordsFlag(STATUSES),
      tool: textsFlag("TOOL", "Only those that have it; may be given several times"),
      name: textFlag("PREFIX", "Only those whose name begins so"),
      ...listFlags,
    },
  },
  async func(flags) {
    await list(this, flags, () => listing(flags));
  },
});

export const agentsGet = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Show one agent with its card",
    fullDescription: about("Show one agent with its whole card.", {
      call: "rollcall agents get 3f2a9c1b",
      does: "the beginning of an id is enough",
    }),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [AGENT] } },
  async func(flags, given) {
    await using daemon = daemonOf(this, flags);
    const path = itemPath("/v1/agents", await agentId(daemon, given));
    const answer = await read<{ readonly agent: Agent }>(daemon, path);
    if (flags.json === true) return await printJson(this, answer);
    for (const line of factLines(factsOf(answer.agent), lookOf(this))) await this.out.line(line);
  },
});

function factsOf(agent: Agent): readonly (readonly [string, Cell])[] {
  const { card } = agent;
  const nowMs = Date.now();
  return [
    ["id", agent.agentId],
    ["name", card.name],
    ["status", statusOf(agent)],
    ["seen", moment(agent.lastHeartbeatAtMs, nowMs)],
    ["here since", moment(agent.registeredAtMs, nowMs)],
    ["died", agent.diedAtMs === 0 ? "" : moment(agent.diedAtMs, nowMs)],
    ["ttl", shortDuration(agent.ttlMs)],
    ["version", card.version],
    ["description", card.description],
    ["tools", card.tools.join(", ")],
    ...card.capabilities.map(
      ({ name, description }) => ["can", [name, description].join(": ")] as const,
    ),
    ...Object.entries(card.metadata).map(([name, value]) => ["meta", `${name}=${value}`] as const),
  ];
}

interface Registration extends AnswerFlags {
  readonly description?: string;
  readonly version?: string;
  readonly tool?: readonly string[];
  readonly can?: readonly string[];
  readonly meta?: readonly (readonly [string, string])[];
  readonly ttl?: number;
}

export const agentsRegister = buildCommand<Registration, [string], Context>({
  docs: {
    brief: "Register an agent, and print its id",
    fullDescription: about(
      "Register an agent, and print its id. It stays alive as long as somebody sends its " +
        "heartbeats: this command does not.",
      { call: "rollcall agents register web-1 --tool browser", does: "for 30 s" },
      { call: "rollcall agents register ocr --can 'ocr: reads scans' --ttl 1h", does: "for long" },
      { call: "ID=$(rollcall agents register x)", does: "in a script" },
    ),
  },
  parameters: {
    flags: {
      description: textFlag("TEXT", "What it is good at; find looks here"),
      version: textFlag("VERSION", "Of its program"),
      tool: textsFlag("TOOL", "A tool that it has; may be given several times"),
      can: textsFlag("NAME: TEXT", "A capability; may be given several times"),
      meta: { ...textsFlag("NAME=VALUE", "Anything else to know of it"), parse: parsePair },
      ttl: durationFlag("Unreachable after so much silence, dead after twice that [30s]"),
      ...answerFlags,
    },
    positional: {
      kind: "tuple",
      parameters: [argument("NAME", "What it is called; need not be unique")],
    },
  },
  async func(flags, name) {
    await using daemon = daemonOf(this, flags);
    const { description = "", version = "", tool: tools = [], can = [], meta = [] } = flags;
    const capabilities = can.map((text) => {
      const [, title = text, words = ""] = /^([^:]*): *(.*)$/s.exec(text) ?? [];
      return { name: title, description: words };
    });
    const metadata = Object.fromEntries(meta);
    const card = { name, description, version, tools, capabilities, metadata };
    const answer = await daemon.post("/v1/agents/register", { card, ttlMs: flags.ttl ?? 0 });
    if (flags.json === true) return await printJson(this, answer);
    const agent = answer["agent"] as Agent;
    await this.out.line(clean(agent.agentId));
    await note(this, `${name} is here; it wants a heartbeat every ${shortDuration(agent.ttlMs)}`);
  },
});

function parsePair(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new Error("not NAME=VALUE");
}

export const agentsHeartbeat = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Say that an agent is alive",
    fullDescription: about("Say that an agent is alive, once.", {
      call: "rollcall agents heartbeat 3f2a9c1b",
      does: "good for one ttl more",
    }),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [AGENT] } },
  async func(flags, given) {
    await using daemon = daemonOf(this, flags);
    const id = await agentId(daemon, given);
    const answer = await daemon.post("/v1/agents/heartbeat", { agentId: id });
    if (flags.json === true) await printJson(this, answer);
  },
});

export const agentsDeregister = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Let an agent go, with all it holds",
    fullDescription: about(
      "Let an agent go: its leases are free at once, its tasks go back to the queue, and " +
        "groups it led get another leader.",
      { call: "rollcall agents deregister 3f2a9c1b", does: "no wait for its ttl" },
    ),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [AGENT] } },
  async func(flags, given) {
    await using daemon = daemonOf(this, flags);
    const id = await agentId(daemon, given);
    const answer = await daemon.post("/v1/agents/deregister", { agentId: id });
    if (flags.json === true) await printJson(this, answer);
  },
});
