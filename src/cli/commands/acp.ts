/** `rollcall acp status`, `tail` and `replay`: what agents behind the proxy do, and did. */
import { buildCommand } from "@stricli/core";
import { refusalError } from "../../core/errors.ts";
import { meant } from "../../core/meant.ts";
import { followTimelines } from "../../wires/acp/proxy/follow.ts";
import { isProxyId } from "../../wires/acp/proxy/names.ts";
import { replay } from "../../wires/acp/proxy/replay.ts";
import { timelineFolder, type TimelineLine } from "../../wires/acp/proxy/timeline.ts";
import { statusFolder } from "../../wires/files/folder.ts";
import { proxiedAgents, type ProxiedAgent } from "../acp/agents.ts";
import { changeOf, stateWord } from "../acp/lines.ts";
import type { Context } from "../context.ts";
import { lookOf, note, printJson } from "../print.ts";
import { EXIT } from "../exit.ts";
import { argument, defaultFlag, jsonFlag, parseCount } from "../flags.ts";
import { about } from "../help.ts";
import { clean, cleanJson } from "../terminal/clean.ts";
import { fromHome } from "../terminal/path.ts";
import { tableLines, type Cell, type Column } from "../terminal/table.ts";
import { ago, timeOfDay } from "../terminal/time.ts";
import { padEnd } from "../terminal/width.ts";

interface StatusFlags {
  readonly json?: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: "STATUS" },
  { title: "AGENT", least: 10 },
  { title: "DOES", least: 16 },
  { title: "STEP", least: 12, isExtra: true },
  { title: "SINCE" },
  { title: "WORKSPACE", least: 12, isExtra: true, cut: "start" },
  { title: "EDITOR", least: 6, isExtra: true },
  { title: "PID", isNumber: true, isExtra: true },
];

function cellsOf(agent: ProxiedAgent, nowMs: number): readonly Cell[] {
  const word = agent.isSilent ? "silent" : stateWord(agent);
  const isWaiting = word === "waiting";
  return [
    isWaiting ? { text: word, style: "yellow" } : word,
    agent.name,
    [agent.message ?? "", unreadOf(agent)].filter(Boolean).join(" · "),
    agent.currentTask ?? "",
    agent.since === null ? "" : ago(Date.parse(agent.since), nowMs),
    agent.workspace === null ? "" : fromHome(agent.workspace),
    agent.client ?? "",
    agent.pid === null ? "" : String(agent.pid),
  ];
}

function unreadOf({ unreadFrames }: ProxiedAgent): string {
  return unreadFrames > 0 ? `${unreadFrames} frames not read` : "";
}

/** Agents that wait for a person come first. */
function rankOf({ status }: ProxiedAgent): number {
  return status === "waiting" ? 0 : 1;
}

export const acpStatus = buildCommand<StatusFlags, [], Context>({
  docs: about(
    "Show which agents run through the proxy on this machine, and what each does.\n" +
      "Needs no daemon. `rollcall ls` shows them among all others.",
    { call: "rollcall acp", does: "the same" },
    { call: "rollcall acp status --json", does: "for a program" },
  ),
  parameters: { flags: { json: jsonFlag } },
  async func({ json }) {
    const nowMs = Date.now();
    const agents = proxiedAgents(statusFolder(this.env), nowMs);
    if (json) return printJson(this, { agents });
    if (agents.length === 0) {
      await note(this, "no agent runs through the proxy; `rollcall acp install` says how");
      return this.endWith(EXIT.nothingFound);
    }
    const sorted = agents.toSorted((a, b) => rankOf(a) - rankOf(b) || a.id.localeCompare(b.id));
    const rows = sorted.map((agent) => cellsOf(agent, nowMs));
    for (const line of tableLines(COLUMNS, rows, lookOf(this))) await this.out.line(line);
  },
});

interface TailFlags {
  readonly json?: boolean;
  readonly lines: number;
}

export const acpTail = buildCommand<TailFlags, [string?], Context>({
  docs: about(
    "Follow what agents behind the proxy do: a line for every change, as it happens. What\n" +
      "they did in the last day is there, too.",
    { call: "rollcall acp tail", does: "all of them" },
    { call: "rollcall acp tail qwen-code --lines 100", does: "one, with its last 100 changes" },
  ),
  parameters: {
    flags: {
      json: jsonFlag,
      lines: defaultFlag("10", {
        placeholder: "N",
        brief: "Begin with the last N changes",
        parse: parseCount,
      }),
    },
    positional: {
      kind: "tuple",
      parameters: [
        { ...argument("AGENT", "Only this one: its name, or a part of it"), optional: true },
      ],
    },
  },
  async func({ json, lines: last }, only) {
    const signal = this.untilInterrupted();
    const folder = timelineFolder(this.env);
    const wanted = (there: readonly TimelineLine[]) => {
      const isWanted = only === undefined ? () => true : linesOf(only, there);
      if (!json) void note(this, "following the agents behind proxies; Ctrl-C ends");
      return isWanted;
    };
    for await (const line of followTimelines({ folder, last, wanted, signal })) {
      await this.out.line(json ? cleanJson(line) : tailLine(line, this));
    }
  },
});

/** The lines of all agents of a name, or of one by its id. */
function linesOf(word: string, there: readonly TimelineLine[]): (line: TimelineLine) => boolean {
  if (there.some(({ agent }) => isProxyId(word) && agent.startsWith(word))) {
    return ({ agent }) => agent.startsWith(word);
  }
  const names = new Set(there.map(({ name }) => name));
  const namesOf = (name: string) => ({ id: name, name, isHere: true });
  const found = meant(names, namesOf, { word, noun: "agent", place: " behind the proxy" });
  if (!found.ok) throw refusalError(found);
  return ({ name }) => name === found.item;
}

const NAME_WIDTH = 14;

function tailLine(line: TimelineLine, { out }: Context): string {
  const time = out.paint("dim", timeOfDay(Date.parse(line.at)));
  return `${time}  ${padEnd(clean(line.name), NAME_WIDTH)}  ${changeOf(line, out)}`;
}

export const acpReplay = buildCommand<StatusFlags, [string], Context>({
  docs: about(
    "Show what an agent did, from a recording: the same lines as `tail` showed then, with the\n" +
      "seconds since the beginning.",
    { call: "rollcall acp replay talk.jsonl", does: "a recording of `rollcall acp record`" },
    { call: "rollcall acp replay talk.jsonl --json", does: "for programs" },
  ),
  parameters: {
    flags: { json: jsonFlag },
    positional: { kind: "tuple", parameters: [argument("FILE", "What `record` wrote")] },
  },
  async func({ json }, path) {
    let startMs: number | undefined;
    let count = 0;
    for await (const { atMs, record } of replay(path)) {
      startMs ??= atMs;
      const { questions: _, ...said } = record;
      // Sessions say it; the agent as a whole only where there is none yet.
      if (record.sessionId === null && record.state !== "starting") continue;
      count += 1;
      const seconds = ((atMs - startMs) / 1000).toFixed(3).padStart(9);
      const line = `${this.out.paint("dim", seconds)}  ${changeOf(record, this.out)}`;
      await this.out.line(json ? cleanJson({ at: new Date(atMs).toISOString(), ...said }) : line);
    }
    if (count === 0) await note(this, "nothing happened in it");
  },
});
