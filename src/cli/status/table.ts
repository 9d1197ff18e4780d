/**
 * Agents as a table. The first column says what each is about: its goal, where it works, what it
 * does now. It takes the room that the others leave; when they leave too little, ids get shorter,
 * then the lifecycle goes, which the state nearly always implies, then the name.
 */
import { hostname } from "node:os";
import type { DerivedState } from "../../wires/files/derive.ts";
import type { Status } from "../../wires/files/format.ts";
import { HEADLINES } from "../../fleet/headline.ts";
import { HEADLINE_COLOURS, summary } from "../fleet/look.ts";
import { clean, isPlain } from "../terminal/clean.ts";
import { fromHome } from "../terminal/path.ts";
import type { Output, Style } from "../terminal/output.ts";
import { padEnd, truncate, truncateStart, widthOf } from "../terminal/width.ts";
import type { AgentRow, Agents } from "./agents.ts";

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

/** Behind the first column, which is TASK. */
const OTHERS = ["AGENT ID", "NAME", "LIFECYCLE", "STATE", "UPDATED"] as const;

type ColumnName = "TASK" | (typeof OTHERS)[number];

/** Clean, and no wider than anybody needs. */
interface Cell {
  readonly text: string;
  readonly width: number;
  readonly style: Style | undefined;
  /** Where it is cut when there is no room: of a path the end says more. */
  readonly cut: "start" | "end";
}

interface Cells {
  /** A few lines of what it is about. */
  readonly task: readonly Cell[];
  /** One cell of every other column, in their order. */
  readonly others: readonly Cell[];
}

export function table(agents: Agents, options: TableOptions): readonly string[] {
  const { painter } = options;
  const count = agents.rows.length;
  const total = `${count} agent${count === 1 ? "" : "s"}`;
  const facts = [hostname(), total, summary(agents, painter, HEADLINES)].filter(Boolean);
  const title = facts.map((fact, i) => (i < 2 ? painter.paint("bold", fact) : fact)).join("  ·  ");
  if (count === 0) return [title];
  const lines = box(agents.rows.map(cellsOf), options);
  lines.unshift(title);
  return lines;
}

/** Wider cells help nobody, not even in a pipe; longer than any id. */
const WIDEST = 300;
const DISPENSABLE = ["LIFECYCLE", "NAME"] as const;
const LEAST = { TASK: 27, "AGENT ID": 14 } as const;

function box(rows: readonly Cells[], { columns, painter, isAscii }: TableOptions): string[] {
  const lines = isAscii ? PLAIN : ROUND;
  const [task = 0, ...widths] = fit(rows, columns);
  const first = new Column("TASK", task, painter);
  const others = OTHERS.map((name, i) => new Column(name, widths[i] ?? 0, painter));
  const shown = [first, ...others].filter(({ width }) => width > 0);
  const rule = ([left = "", line = "", cross = "", right = ""]: string) => {
    const parts = shown.map(({ width }) => line.repeat(width + 2));
    return painter.paint("dim", left + parts.join(cross) + right);
  };
  const side = painter.paint("dim", lines.side);
  const between = ` ${side} `;
  const joined = (cells: readonly string[]) => `${side} ${cells.join(between)} ${side}`;
  const rest = others.map((column, i) => ({ column, i })).filter(({ column }) => column.width > 0);
  // One line of each kind, filled anew for every agent: there are thousands of them.
  const top = shown.map(({ width }) => " ".repeat(width));
  const below = [...top];
  const drawn = [
    rule(lines.top),
    joined(shown.map(({ name, width }) => painter.paint("bold", padEnd(name, width)))),
    rule(lines.middle),
  ];
  for (const { task: about, others: cells } of rows) {
    top[0] = first.draw(about[0]);
    for (const [at, { column, i }] of rest.entries()) top[at + 1] = column.draw(cells[i]);
    drawn.push(joined(top));
    for (let i = 1; i < about.length; i += 1) {
      below[0] = first.draw(about[i]);
      drawn.push(joined(below));
    }
  }
  drawn.push(rule(lines.bottom));
  return drawn;
}

/** With the cell that it drew last: most of thousands are the same as the one above. */
class Column {
  readonly name: ColumnName;
  readonly width: number;
  readonly #painter: Pick<Output, "paint">;
  #last: Cell | undefined;
  #drawn: string;

  constructor(name: ColumnName, width: number, painter: Pick<Output, "paint">) {
    this.name = name;
    this.width = width;
    this.#painter = painter;
    this.#drawn = " ".repeat(width);
  }

  draw(cell: Cell | undefined): string {
    if (cell === this.#last) return this.#drawn;
    this.#last = cell;
    this.#drawn = cell ? this.#fresh(cell) : " ".repeat(this.width);
    return this.#drawn;
  }

  #fresh(cell: Cell): string {
    const { width } = this;
    const padded =
      cell.width <= width
        ? cell.text + " ".repeat(width - cell.width)
        : padEnd(cut(cell, width), width);
    return cell.style ? this.#painter.paint(cell.style, padded) : padded;
  }
}

function cut(cell: Cell, width: number): string {
  return cell.cut === "start" ? truncateStart(cell.text, width) : truncate(cell.text, width);
}

/** How wide each column is; 0 for one that is not shown. */
function fit(rows: readonly Cells[], columns: number): readonly number[] {
  const [task = 0, ...natural] = naturalWidths(rows);
  const least = Math.min(task, LEAST.TASK);
  let widths = shorten(natural, columns - least);
  for (const name of DISPENSABLE) {
    if (columns - taken(widths) >= least) break;
    natural[OTHERS.indexOf(name)] = 0;
    widths = shorten(natural, columns - least);
  }
  return [Math.max(Math.min(task, columns - taken(widths)), "TASK".length), ...widths];
}

/** With ids as short as they must be for the rest to fit into so many columns. */
function shorten(natural: readonly number[], columns: number): readonly number[] {
  const [id = 0, ...rest] = natural;
  const missing = Math.max(0, taken(natural) - columns);
  const shortest = Math.min(id, LEAST["AGENT ID"]);
  return [Math.max(id - missing, shortest), ...rest];
}

/** What all but the first column take: a space on both sides, a line between and around them. */
function taken(others: readonly number[]): number {
  return others.reduce((sum, width) => sum + (width > 0 ? width + 3 : 0), 1 + 3);
}

function naturalWidths(rows: readonly Cells[]): readonly number[] {
  let task = "TASK".length;
  const others = OTHERS.map((name) => name.length);
  for (const row of rows) {
    for (const { width } of row.task) if (width > task) task = width;
    for (let i = 0; i < others.length; i += 1) {
      const width = row.others[i]?.width ?? 0;
      if (width > (others[i] ?? 0)) others[i] = width;
    }
  }
  return [task, ...others];
}

function cellsOf({ file, state, headline, ageMs, hasEnded }: AgentRow): Cells {
  const { agent_id, agent_name, runtime } = file.status;
  const isGone = hasEnded && runtime.lifecycle !== "stopped";
  const isResting = headline === "IDLE" || headline === "GONE";
  const usual = isResting ? "dim" : undefined;
  const mark = file.oddities.includes("ahead") ? " !" : "";
  return {
    task: aboutOf(file.status, usual),
    others: [
      cellOf(agent_id, usual),
      NAMES.of(agent_name, usual),
      LIFECYCLES.of(runtime.lifecycle, usual),
      STATES.of(isGone ? "gone" : state, HEADLINE_COLOURS[headline]),
      AGES.of(age(ageMs) + mark, usual),
    ],
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
