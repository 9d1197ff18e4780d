/**
 * Rows in columns, as wide as the terminal and never wider. Where there is too little room, first
 * the columns that may be cut are cut, the widest first; then those one can do without go, the last
 * first; at last the line ends where the terminal does.
 *
 * Texts must be clean (see clean.ts). Colour goes on last, so that it counts for no width.
 */
import type { Style } from "./output.ts";
import { padEnd, padStart, truncate, widthOf } from "./width.ts";

export interface Column {
  readonly title: string;
  /** Numbers stand under their last digit. */
  readonly isNumber?: boolean;
  /** It may be cut down to so many columns. */
  readonly least?: number;
  /** One can do without it. */
  readonly isExtra?: boolean;
}

/** A text, or one with a style. */
export type Cell = string | { readonly text: string; readonly style: Style };

export interface Look {
  /** How wide a line may be; Infinity for all that is there. */
  readonly width: number;
  paint(style: Style, text: string): string;
}

const GAP = 2;

/** The heading, then a line for each row. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  look: Look,
): string[] {
  const widths = columns.map(({ title }, i) =>
    rows.reduce((most, row) => Math.max(most, widthOf(textOf(row[i]))), widthOf(title)),
  );
  fit(columns, widths, look.width);
  const heading = columns.map(({ title }): Cell => ({ text: title, style: "dim" }));
  return [heading, ...rows].map((row) => lineOf(row, { columns, widths, look }));
}

/** Cuts widths until they fit; a column that goes is 0 wide. */
function fit(columns: readonly Column[], widths: number[], room: number): void {
  const leastOf = (i: number) => {
    const { title = "", least = Infinity } = columns[i] ?? {};
    return Math.max(widthOf(title), least);
  };
  const extras = columns.flatMap(({ isExtra }, i) => (isExtra === true ? [i] : []));
  while (totalOf(widths) > room) {
    const widest = widths
      .map((width, i) => ({ width, i }))
      .filter(({ width, i }) => width > leastOf(i))
      .reduce((a, b) => (b.width > a.width ? b : a), { width: 0, i: -1 });
    if (widest.width > 0) widths[widest.i] = widest.width - 1;
    else if (extras.length > 0) widths[extras.pop() ?? 0] = 0;
    else return;
  }
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + (width > 0 ? width + GAP : 0), -GAP);
}

interface Layout {
  readonly columns: readonly Column[];
  readonly widths: readonly number[];
  readonly look: Look;
}

function lineOf(row: readonly Cell[], { columns, widths, look }: Layout): string {
  let line = "";
  let room = look.width;
  for (const [i, width] of widths.entries()) {
    if (width === 0 || room <= 0) continue;
    const cell = row[i] ?? "";
    const text = truncate(textOf(cell), Math.min(width, room));
    const filled = columns[i]?.isNumber === true ? padStart(text, width) : padEnd(text, width);
    const painted = typeof cell === "string" ? filled : look.paint(cell.style, filled);
    line += `${painted}${" ".repeat(GAP)}`;
    room -= width + GAP;
  }
  return line.trimEnd();
}

function textOf(cell: Cell | undefined): string {
  if (cell === undefined) return "";
  return typeof cell === "string" ? cell : cell.text;
}

/** One thing with its facts below each other; what is empty is left out. */
export function factLines(facts: readonly (readonly [name: string, cell: Cell])[], look: Look) {
  const there = facts.filter(([, cell]) => textOf(cell) !== "");
  const width = Math.max(0, ...there.map(([name]) => widthOf(name)));
  return there.map(([name, cell]) => {
    const text = typeof cell === "string" ? cell : look.paint(cell.style, cell.text);
    return `${look.paint("dim", padEnd(name, width))}  ${text}`;
  });
}
