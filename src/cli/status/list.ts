/** `list`: the agents of a folder as a table, one line, or JSON. */
import { readStatusDir } from "../../wires/files/read.ts";
import { HEADLINES } from "../../fleet/headline.ts";
import type { Context } from "../context.ts";
import { summary } from "../fleet/look.ts";
import { cleanJson } from "../terminal/clean.ts";
import type { BoxLook } from "../terminal/box.ts";
import { Output } from "../terminal/output.ts";
import { agentsOf, type AgentRow, type StatusAgents } from "./agents.ts";
import { table } from "./table.ts";

export interface StatusListOptions {
  readonly folder: string;
  readonly staleAfterMs: number;
  /** Whether to paint, whatever the reader is. */
  readonly color: boolean | undefined;
  readonly needsMe: boolean;
  readonly form: "table" | "oneline" | "json";
}

export async function list(context: Context, options: StatusListOptions): Promise<void> {
  const nowMs = Date.now();
  const agents = agentsOf(readStatusDir(options.folder, { nowMs }), options, nowMs);
  for (const warning of agents.warnings) await context.err.line(warning);
  await context.out.write(`${linesOf(agents, context, options).join("\n")}\n`);
}

export function linesOf(
  agents: StatusAgents,
  { out }: Context,
  { form, color }: StatusListOptions,
): readonly string[] {
  const look = lookFor(out, color);
  switch (form) {
    case "table":
      return table(agents, look);
    case "oneline":
      // A person at a terminal wants an answer; a status bar shows nothing.
      return [summary(agents, look, HEADLINES) || (out.isTerminal ? "no agents" : "")];
    case "json":
      return [cleanJson(jsonOf(agents))];
  }
}

/** Paints for everybody: a reader that asked for colours gets them. */
const PAINTER = new Output({ isTTY: true, write: () => true, getColorDepth: () => 8 }, {});
const NO_PAINTER = new Output({ write: () => true }, {});

function lookFor(out: Output, color: boolean | undefined): BoxLook {
  const painter = color === undefined ? out : color ? PAINTER : NO_PAINTER;
  return {
    width: out.columns,
    isAscii: !(color ?? out.isTerminal),
    paint: (style, text) => painter.paint(style, text),
  };
}

function jsonOf({ rows, counts }: StatusAgents): unknown {
  return { agents: rows.map(jsonOfRow), counts };
}

function jsonOfRow({ file, state, headline, ageMs }: AgentRow): unknown {
  const { path, status, oddities } = file;
  const { agent_id, agent_name } = status;
  const age_seconds = Math.floor(ageMs / 1000);
  return { agent_id, agent_name, state, headline, age_seconds, oddities, path, status };
}
