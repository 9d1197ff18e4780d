/**
 * Rows in columns, as wide as the terminal and never wider. Where there is too little room, first
 * the columns that may be cut are cut, the widest first; then those one can do without go, the last
 * first; at last the line ends where the terminal does.
 *
 * Whatever the cells hold is cleaned here: no command can forget it. Colour goes on last, so that
 * it counts for no width.
 */
import { clean } from "./clean.ts";
import type { Style } from "./output.ts";
import { padEnd, padStart, truncate, truncateStart, widthOf } from "./width.ts";

export interface Column {
  readonly title: string;
  /** Numbers stand under their last digit. */
  readonly isNumber?: boolean;
  /** It may be cut down to so many columns. */
  readonly least?: number;
  /** What goes when it is cut: of a path the end says more. */
  readonly cut?: "start";
  /** One can do without it, and does when it says nothing. */
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
  dirty: readonly (readonly Cell[])[],
  look: Look,
): string[] {
  const rows = dirty.map((row) => row.map(cleaned));
  const natural = columns.map(({ title, isExtra }, i) => {
    const widest = rows.reduce((most, row) => Math.max(most, widthOf(textOf(row[i]))), 0);
    return widest === 0 && isExtra === true ? 0 : Math.max(widest, widthOf(title));
  });
  const widths = fitted(columns, natural, look.width);
  const heading = columns.map(({ title }): Cell => ({ text: title, style: "dim" }));
  return [heading, ...rows].map((row) => lineOf(row, { columns, widths, look }));
}

/** Widths that fit, if there are any; a column that goes is 0 wide. */
function fitted(columns: readonly Column[], natural: readonly number[], room: number): number[] {
  const leasts = columns.map(({ title, least = Infinity }) => Math.max(widthOf(title), least));
  const there = [...natural];
  for (;;) {
    const widths = cut(there, leasts, room);
    const extra = columns.findLastIndex(({ isExtra }, i) => isExtra === true && there[i] !== 0);
    if (totalOf(widths) <= room || extra === -1) return widths;
    there[extra] = 0;
  }
}

/** The widest goes first, down to the least of each. */
function cut(natural: readonly number[], leasts: readonly number[], room: number): number[] {
  const widths = [...natural];
  while (totalOf(widths) > room) {
    let widest = -1;
    for (const [i, width] of widths.entries()) {
      const mayShrink = width > (leasts[i] ?? Infinity);
      if (mayShrink && width > (widths[widest] ?? 0)) widest = i;
    }
    if (widest === -1) return widths;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
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
  for (const [i, wanted] of widths.entries()) {
    const width = Math.min(wanted, room);
    if (width <= 0) continue;
    const cell = row[i] ?? "";
    const fit = columns[i]?.cut === "start" ? truncateStart : truncate;
    const text = fit(textOf(cell), width);
    const filled = columns[i]?.isNumber === true ? padStart(text, width) : padEnd(text, width);
    const painted = typeof cell === "string" ? filled : look.paint(cell.style, filled);
    line += `${painted}${" ".repeat(GAP)}`;
    room -= width + GAP;
  }
  return line.trimEnd();
}

function cleaned(cell: Cell): Cell {
  return typeof cell === "string" ? clean(cell) : { ...cell, text: clean(cell.text) };
}

function textOf(cell: Cell | undefined): string {
  if (cell === undefined) return "";
  return typeof cell === "string" ? cell : cell.text;
}

/** One thing with its facts below each other; what is empty is left out. */
export type Fact = readonly [name: string, cell: Cell];

export function factLines(facts: readonly Fact[], look: Look) {
  const there = facts
    .map(([name, cell]) => [name, cleaned(cell)] as const)
    .filter(([, cell]) => textOf(cell) !== "");
  const width = Math.max(0, ...there.map(([name]) => widthOf(name)));
  return there.map(([name, cell]) => {
    const text = typeof cell === "string" ? cell : look.paint(cell.style, cell.text);
    return `${look.paint("dim", padEnd(name, width))}  ${text}`;
  });
}
