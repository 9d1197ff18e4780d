/** Rows in columns, as wide as the terminal and never wider; and facts below each other. */
import {
  DrawnColumn,
  fitted,
  measured,
  measuredCell,
  naturalWidth,
  type Cell,
  type Column,
} from "./columns.ts";
import type { Style } from "./output.ts";
import { hanging, padEnd, widthOf } from "./width.ts";

export type { Cell, Column } from "./columns.ts";

export interface Look {
  /** How wide a line may be; Infinity for all that is there. */
  readonly width: number;
  paint(style: Style, text: string): string;
}

const GAP = 2;

/** The heading, then a line for each row. */
export function tableLines(
  columns: readonly Column[],
  given: readonly (readonly Cell[])[],
  look: Look,
): string[] {
  const rows = given.map((row) => row.map(measuredCell));
  const total = (widths: readonly number[]) =>
    widths.reduce((sum, width) => sum + (width > 0 ? width + GAP : 0), -GAP);
  const natural = columns.map((column, i) => {
    return naturalWidth(column, Math.max(0, ...rows.map((row) => row[i]?.width ?? 0)));
  });
  const widths = fitted(columns, natural, { room: look.width, total, cut: "widest" });
  const heading = columns.map(({ title }) => measured(title, "dim"));
  const paint = look.paint.bind(look);
  const drawn = clipped(widths, look.width).map((width, i) => {
    return new DrawnColumn(columns[i] ?? { title: "" }, width, paint);
  });
  return [heading, ...rows].map((row) => {
    const cells = drawn.map((column, i) => (column.width > 0 ? [column.draw(row[i])] : []));
    return cells.flat().join(" ".repeat(GAP)).trimEnd();
  });
}

/** The columns cut off at the edge of the terminal. */
function clipped(widths: readonly number[], room: number): readonly number[] {
  let left = room;
  return widths.map((wanted) => {
    const width = Math.max(0, Math.min(wanted, left));
    if (width > 0) left -= width + GAP;
    return width;
  });
}

/** One thing with its facts below each other; what is empty is left out. */
export type FactRow = readonly [name: string, cell: Cell];

export function factLines(facts: readonly FactRow[], look: Look) {
  const there = facts
    .map(([name, cell]) => [name, measuredCell(cell)] as const)
    .filter(([, { text }]) => text !== "");
  const width = Math.max(0, ...there.map(([name]) => widthOf(name)));
  return there.map(([name, { text, style }]) => {
    const value = hanging(text, width + GAP, look.width);
    return `${look.paint("dim", padEnd(name, width))}  ${style ? look.paint(style, value) : value}`;
  });
}
