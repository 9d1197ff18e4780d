/**
 * Agents as a table. The first column says what each is about: its goal, where it works, what it
 * does now. It takes the room that the others leave; when they leave too little, ids get shorter,
 * then the lifecycle goes, which the state nearly always implies, then the name.
 */
import { hostname } from "node:os";
import type { DerivedState } from "../../wires/files/derive.ts";
import type { Status } from "../../wires/files/format.ts";
import { clean } from "../terminal/clean.ts";
import { fromHome } from "../terminal/path.ts";
import type { Output, Style } from "../terminal/output.ts";
import { padEnd, truncate, truncateStart, widthOf } from "../terminal/width.ts";
import type { AgentRow, Agents } from "./agents.ts";
import { HEADLINE_STYLES, summary } from "./summary.ts";

export interface TableOptions {
  readonly columns: number;
  readonly painter: Pick<Output, "paint">;
  /** Lines of the box as ASCII has them. */
  readonly isPlain: boolean;
}

const STATE_ICONS: Readonly<Record<DerivedState, string>> = {
  "auth-required": "?",
  "input-required": "?",
  canceled: "–",
  completed: "✓",
  failed: "✗",
  idle: "○",
  rejected: "✗",
  running: "●",
  stale: "◌",
  stopped: "■",
  submitted: "→",
  unknown: "·",
  working: "●",
};

const LIFECYCLE_ICONS = { running: "▶", stopped: "■", unknown: "·" } as const;

const ROUND = { top: "╭─┬╮", middle: "├─┼┤", bottom: "╰─┴╯", side: "│" } as const;
const PLAIN = { top: "+-++", middle: "|-+|", bottom: "+-++", side: "|" } as const;

const COLUMNS = ["TASK", "AGENT ID", "NAME", "LIFECYCLE", "STATE", "UPDATED"] as const;

type ColumnName = (typeof COLUMNS)[number];

interface Cell {
  readonly text: string;
  readonly style?: Style;
  /** What is cut when there is no room: of a path the end says more. */
  readonly cut?: "start";
}

type Cells = Readonly<Record<ColumnName, readonly Cell[]>>;

export function table(agents: Agents, options: TableOptions): readonly string[] {
  const { painter } = options;
  const count = agents.rows.length;
  const total = `${count} agent${count === 1 ? "" : "s"}`;
  const facts = [hostname(), total, summary(agents, painter)].filter(Boolean);
  const title = facts.map((fact, i) => (i < 2 ? painter.paint("bold", fact) : fact)).join("  ·  ");
  if (count === 0) return [title];
  return [title, ...box(agents.rows.map(cellsOf), options)];
}

/** Wider cells help nobody, not even in a pipe. */
const WIDEST = 200;
const MOST = { "AGENT ID": 48, NAME: 24 } as const;
const DISPENSABLE = ["LIFECYCLE", "NAME"] as const;
const LEAST = { TASK: 27, "AGENT ID": 14 } as const;

function box(rows: readonly Cells[], { columns, painter, isPlain }: TableOptions): string[] {
  const lines = isPlain ? PLAIN : ROUND;
  const widths = fit(rows, columns);
  const rule = ([left = "", line = "", cross = "", right = ""]: string) => {
    const parts = [...widths.values()].map((width) => line.repeat(width + 2));
    return painter.paint("dim", left + parts.join(cross) + right);
  };
  const side = painter.paint("dim", lines.side);
  const joined = (cells: readonly string[]) => `${side} ${cells.join(` ${side} `)} ${side}`;
  const heading = [...widths].map(([name, width]) => painter.paint("bold", padEnd(name, width)));
  return [
    rule(lines.top),
    joined(heading),
    rule(lines.middle),
    ...rows.flatMap((cells) => {
      const height = Math.max(...[...widths.keys()].map((name) => cells[name].length));
      return Array.from({ length: height }, (_, i) =>
        joined([...widths].map(([name, width]) => draw(cells[name][i], width, painter))),
      );
    }),
    rule(lines.bottom),
  ];
}

function draw(cell: Cell | undefined, width: number, painter: Pick<Output, "paint">): string {
  const { text = "", style, cut } = cell ?? {};
  const fitting = cut === "start" ? truncateStart(text, width) : truncate(text, width);
  const padded = padEnd(fitting, width);
  return style ? painter.paint(style, padded) : padded;
}

/** How wide each column is that is shown. */
function fit(rows: readonly Cells[], columns: number): ReadonlyMap<ColumnName, number> {
  const natural = new Map(COLUMNS.map((name) => [name, naturalWidth(rows, name)]));
  const task = natural.get("TASK") ?? 0;
  const least = Math.min(task, LEAST.TASK);
  let widths = shorten(natural, columns - least);
  for (const name of DISPENSABLE) {
    if (columns - taken(widths) >= least) break;
    natural.delete(name);
    widths = shorten(natural, columns - least);
  }
  return widths.set("TASK", Math.max(Math.min(task, columns - taken(widths)), "TASK".length));
}

/** With ids as short as they must be for the rest to fit into so many columns. */
function shorten(natural: ReadonlyMap<ColumnName, number>, columns: number) {
  const id = natural.get("AGENT ID") ?? 0;
  const missing = Math.max(0, taken(natural) - columns);
  const shortest = Math.min(id, LEAST["AGENT ID"]);
  return new Map(natural).set("AGENT ID", Math.max(id - missing, shortest));
}

/** What all but the first column take: a space on both sides, a line between and around them. */
function taken(widths: ReadonlyMap<ColumnName, number>): number {
  const cells = [...widths].map(([name, width]) => (name === "TASK" ? 0 : width) + 3);
  return cells.reduce((sum, each) => sum + each, 1);
}

function naturalWidth(rows: readonly Cells[], name: ColumnName): number {
  const most = name === "AGENT ID" || name === "NAME" ? MOST[name] : WIDEST;
  const widest = rows.reduce(
    (found, cells) => cells[name].reduce((each, { text }) => Math.max(each, widthOf(text)), found),
    name.length,
  );
  return Math.min(widest, most);
}

function cellsOf({ file, state, headline, ageMs }: AgentRow): Cells {
  const { agent_id, agent_name, runtime } = file.status;
  const isResting = headline === "idle" || headline === "gone";
  const one = (text: string, style?: Style): readonly Cell[] => {
    const shown = isResting ? "dim" : style;
    return [{ text: truncate(clean(text), WIDEST), ...(shown && { style: shown }) }];
  };
  return {
    TASK: aboutOf(file.status, isResting),
    "AGENT ID": one(agent_id),
    NAME: one(agent_name),
    LIFECYCLE: one(`${LIFECYCLE_ICONS[runtime.lifecycle]} ${runtime.lifecycle}`),
    STATE: one(`${STATE_ICONS[state]} ${state}`, HEADLINE_STYLES[headline]),
    UPDATED: one(file.oddities.includes("ahead") ? `${age(ageMs)} !` : age(ageMs)),
  };
}

function aboutOf({ goal, task, runtime }: Status, isResting: boolean): readonly Cell[] {
  const bright = isResting ? "dim" : "bold";
  const lines: (Cell | undefined)[] = [
    said(goal?.summary, { style: bright }),
    said(runtime.workspace && fromHome(runtime.workspace), { style: "dim", cut: "start" }),
    said(task?.summary && `▸ ${task.summary}`, isResting ? { style: "dim" } : {}),
  ];
  const there = lines.filter((line) => line !== undefined);
  return there.length > 0 ? there : [{ text: "–", style: "dim" }];
}

function said(text: string | undefined, cell: Omit<Cell, "text">): Cell | undefined {
  return text ? { ...cell, text: truncate(clean(text), WIDEST) } : undefined;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** "12s ago", in whole units. */
function age(ageMs: number): string {
  const [unit, sizeMs] = UNITS.find(([, each]) => ageMs >= each) ?? ["s", 1000];
  return `${Math.floor(ageMs / sizeMs)}${unit} ago`;
}
