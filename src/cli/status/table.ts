/**
 * Agents as a table. The first column says what each is about: its goal, where it works, what it
 * does now. It takes the room that the others leave; when they leave too little, ids get shorter,
 * then the lifecycle goes, which the state nearly always implies, then the name.
 */
import { hostname } from "node:os";
import type { DerivedState } from "../../wires/files/derive.ts";
import type { Status } from "../../wires/files/format.ts";
import { clean, isPlain } from "../terminal/clean.ts";
import { fromHome } from "../terminal/path.ts";
import type { Output, Style } from "../terminal/output.ts";
import { padEnd, truncate, truncateStart, widthOf } from "../terminal/width.ts";
import type { AgentRow, Agents } from "./agents.ts";
import { HEADLINE_STYLES, summary } from "./summary.ts";

export interface TableOptions {
  readonly columns: number;
  readonly painter: Pick<Output, "paint">;
  /** Lines of the box as ASCII has them. */
  readonly isAscii: boolean;
}

/** Also of one whose process is gone: that its state was another is history. */
const STATE_ICONS: Readonly<Record<DerivedState | "gone", string>> = {
  "auth-required": "?",
  "input-required": "?",
  canceled: "–",
  completed: "✓",
  failed: "✗",
  gone: "■",
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

/** Clean, and no wider than anybody needs. */
interface Cell {
  readonly text: string;
  readonly width: number;
  readonly style: Style | undefined;
  /** Where it is cut when there is no room: of a path the end says more. */
  readonly cut: "start" | "end";
}

/** One row: a few lines of what it is about, one cell of everything else. */
interface Cells extends Readonly<Record<Exclude<ColumnName, "TASK">, Cell>> {
  readonly TASK: readonly Cell[];
}

export function table(agents: Agents, options: TableOptions): readonly string[] {
  const { painter } = options;
  const count = agents.rows.length;
  const total = `${count} agent${count === 1 ? "" : "s"}`;
  const facts = [hostname(), total, summary(agents, painter)].filter(Boolean);
  const title = facts.map((fact, i) => (i < 2 ? painter.paint("bold", fact) : fact)).join("  ·  ");
  if (count === 0) return [title];
  return [title, ...box(agents.rows.map(cellsOf), options)];
}

/** Wider cells help nobody, not even in a pipe; longer than any id. */
const WIDEST = 300;
const DISPENSABLE = ["LIFECYCLE", "NAME"] as const;
const LEAST = { TASK: 27, "AGENT ID": 14 } as const;

function box(rows: readonly Cells[], { columns, painter, isAscii }: TableOptions): string[] {
  const lines = isAscii ? PLAIN : ROUND;
  const shown = [...fit(rows, columns)].map(([name, width]) => ({ name, width }));
  const rule = ([left = "", line = "", cross = "", right = ""]: string) => {
    const parts = shown.map(({ width }) => line.repeat(width + 2));
    return painter.paint("dim", left + parts.join(cross) + right);
  };
  const side = painter.paint("dim", lines.side);
  const between = ` ${side} `;
  const joined = (cells: readonly string[]) => `${side} ${cells.join(between)} ${side}`;
  const drawn = [
    rule(lines.top),
    joined(shown.map(({ name, width }) => painter.paint("bold", padEnd(name, width)))),
    rule(lines.middle),
  ];
  // Every line is joined at once: thousands of half-made strings cost more than drawing them.
  for (const cells of rows) {
    const height = cells.TASK.length;
    for (let i = 0; i < height; i += 1) {
      drawn.push(
        joined(shown.map(({ name, width }) => draw(cellAt(cells, name, i), width, painter))),
      );
    }
  }
  drawn.push(rule(lines.bottom));
  return drawn;
}

function cellAt(cells: Cells, name: ColumnName, line: number): Cell | undefined {
  if (name === "TASK") return cells.TASK[line];
  return line === 0 ? cells[name] : undefined;
}

function draw(cell: Cell | undefined, width: number, painter: Pick<Output, "paint">): string {
  if (!cell) return " ".repeat(width);
  const padded =
    cell.width <= width
      ? cell.text + " ".repeat(width - cell.width)
      : padEnd(cut(cell, width), width);
  return cell.style ? painter.paint(cell.style, padded) : padded;
}

function cut(cell: Cell, width: number): string {
  return cell.cut === "start" ? truncateStart(cell.text, width) : truncate(cell.text, width);
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
  let widest = name.length;
  for (const row of rows) {
    if (name !== "TASK") widest = Math.max(widest, row[name].width);
    else for (const cell of row.TASK) widest = Math.max(widest, cell.width);
  }
  return widest;
}

function cellsOf({ file, state, headline, ageMs, hasEnded }: AgentRow): Cells {
  const { agent_id, agent_name, runtime } = file.status;
  const isGone = hasEnded && runtime.lifecycle !== "stopped";
  const isResting = headline === "IDLE" || headline === "GONE";
  const usual = isResting ? "dim" : undefined;
  const mark = file.oddities.includes("ahead") ? " !" : "";
  return {
    TASK: aboutOf(file.status, usual),
    "AGENT ID": cellOf(agent_id, usual),
    NAME: NAMES.of(agent_name, usual),
    LIFECYCLE: LIFECYCLES.of(runtime.lifecycle, usual),
    STATE: STATES.of(isGone ? "gone" : state, HEADLINE_STYLES[headline]),
    UPDATED: AGES.of(age(ageMs) + mark, usual),
  };
}

/** What thousands of rows say in the same words is made once, for each column. */
class CommonCells {
  static readonly #most = 1_000;
  readonly #icons: Readonly<Record<string, string>>;
  readonly #byStyle = new Map<Style | undefined, Map<string, Cell>>();

  constructor(icons: Readonly<Record<string, string>> = {}) {
    this.#icons = icons;
  }

  of(word: string, style: Style | undefined): Cell {
    let cells = this.#byStyle.get(style);
    if (!cells) this.#byStyle.set(style, (cells = new Map<string, Cell>()));
    const known = cells.get(word);
    if (known) return known;
    const icon = this.#icons[word];
    const cell = cellOf(icon === undefined ? word : `${icon} ${word}`, style);
    if (cells.size < CommonCells.#most) cells.set(word, cell);
    return cell;
  }
}

const NAMES = new CommonCells();
const LIFECYCLES = new CommonCells(LIFECYCLE_ICONS);
const STATES = new CommonCells(STATE_ICONS);
const AGES = new CommonCells();

function aboutOf({ goal, task, runtime }: Status, usual: Style | undefined): readonly Cell[] {
  const lines: Cell[] = [];
  if (goal?.summary) lines.push(cellOf(goal.summary, usual ?? "bold"));
  if (runtime.workspace) lines.push(cellOf(fromHome(runtime.workspace), "dim", "start"));
  if (task?.summary) lines.push(cellOf(`▸ ${task.summary}`, usual));
  return lines.length > 0 ? lines : [cellOf("–", "dim")];
}

function cellOf(said: string, style: Style | undefined, cutAt: Cell["cut"] = "end"): Cell {
  if (said.length * 2 <= WIDEST && isPlain(said)) {
    return { text: said, width: said.length, style, cut: cutAt };
  }
  const cleaned = clean(said);
  const text = cleaned.length * 2 > WIDEST ? truncate(cleaned, WIDEST) : cleaned;
  return { text, width: widthOf(text), style, cut: cutAt };
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
