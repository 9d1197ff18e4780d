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
import { boxLines, type BoxLook, type BoxRow } from "../terminal/box.ts";
import { clean } from "../terminal/clean.ts";
import { measured, type Column, type MeasuredCell } from "../terminal/columns.ts";
import { fromHome } from "../terminal/path.ts";
import type { Style } from "../terminal/output.ts";
import { truncate } from "../terminal/width.ts";
import type { AgentRow, StatusAgents } from "./agents.ts";

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

const COLUMNS: readonly Column[] = [
  { title: "TASK", least: 27 },
  { title: "AGENT ID", least: 14 },
  { title: "NAME", isExtra: true },
  { title: "LIFECYCLE", isExtra: true },
  { title: "STATE" },
  { title: "UPDATED" },
];

export function table(agents: StatusAgents, look: BoxLook): readonly string[] {
  const count = agents.rows.length;
  const total = `${count} agent${count === 1 ? "" : "s"}`;
  const facts = [hostname(), total, summary(agents, look, HEADLINES)].filter(Boolean);
  const title = facts.map((fact, i) => (i < 2 ? look.paint("bold", fact) : fact)).join("  ·  ");
  if (count === 0) return [title];
  const lines = boxLines(COLUMNS, agents.rows.map(rowOf), look);
  lines.unshift(title);
  return lines;
}

function rowOf({ file, state, headline, ageMs, hasEnded }: AgentRow): BoxRow {
  const { agent_id, agent_name, runtime } = file.status;
  const isGone = hasEnded && runtime.lifecycle !== "stopped";
  const isResting = headline === "IDLE" || headline === "GONE";
  const usual = isResting ? "dim" : undefined;
  const mark = file.oddities.includes("ahead") ? " !" : "";
  return {
    about: aboutOf(file.status, usual),
    others: [
      cellOf(agent_id, usual),
      NAMES.of(agent_name, usual),
      LIFECYCLES.of(runtime.lifecycle, usual),
      STATES.of(isGone ? "gone" : state, HEADLINE_COLOURS[headline]),
      AGES.of(age(ageMs) + mark, usual),
    ],
  };
}

/** A cache of cells: a text that thousands of rows share is measured once. */
class CommonCells {
  static readonly #most = 1_000;
  readonly #icons: Readonly<Record<string, string>>;
  readonly #byStyle = new Map<Style | undefined, Map<string, MeasuredCell>>();

  constructor(icons: Readonly<Record<string, string>> = {}) {
    this.#icons = icons;
  }

  of(word: string, style: Style | undefined): MeasuredCell {
    let cells = this.#byStyle.get(style);
    if (!cells) this.#byStyle.set(style, (cells = new Map<string, MeasuredCell>()));
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

function aboutOf(
  { goal, task, runtime }: Status,
  usual: Style | undefined,
): readonly MeasuredCell[] {
  const lines: MeasuredCell[] = [];
  if (goal?.summary) lines.push(cellOf(goal.summary, usual ?? "bold"));
  if (runtime.workspace) lines.push(cellOf(fromHome(runtime.workspace), "dim", "start"));
  if (task?.summary) lines.push(cellOf(`▸ ${task.summary}`, usual));
  return lines.length > 0 ? lines : [cellOf("–", "dim")];
}

/** Wider cells help nobody, not even in a pipe; longer than any id. */
const WIDEST = 300;

function cellOf(text: string, style: Style | undefined, cut?: "start"): MeasuredCell {
  const shown = text.length * 2 <= WIDEST ? text : truncate(clean(text), WIDEST);
  return measured(shown, style, cut);
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
