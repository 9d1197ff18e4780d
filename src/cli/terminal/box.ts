/**
 * A table with lines around it. The first column says what each row is about, in a few lines, and
 * takes the room that the others leave. It may have thousands of rows, so little is made for each.
 */
import { DrawnColumn, fitted, naturalWidth, type Column, type MeasuredCell } from "./columns.ts";
import type { Look } from "./table.ts";
import { padEnd } from "./width.ts";

export interface BoxLook extends Look {
  /** Lines as ASCII has them. */
  readonly isAscii: boolean;
}

export interface BoxRow {
  /** The lines of the first column, one at least. */
  readonly about: readonly MeasuredCell[];
  /** One cell of every other column, beside the first line. */
  readonly others: readonly MeasuredCell[];
}

const ROUND = { top: "╭─┬╮", middle: "├─┼┤", bottom: "╰─┴╯", side: "│" } as const;
const PLAIN = { top: "+-++", middle: "|-+|", bottom: "+-++", side: "|" } as const;

export function boxLines(
  columns: readonly Column[],
  rows: readonly BoxRow[],
  look: BoxLook,
): string[] {
  const lines = look.isAscii ? PLAIN : ROUND;
  const paint = look.paint.bind(look);
  const shown = widthsOf(columns, rows, look.width)
    .map((width, i) => ({ column: columns[i] ?? { title: "" }, width, i }))
    .filter(({ width }) => width > 0);
  const rule = ([left = "", line = "", cross = "", right = ""]: string) => {
    const parts = shown.map(({ width }) => line.repeat(width + 2));
    return paint("dim", left + parts.join(cross) + right);
  };
  const side = paint("dim", lines.side);
  const between = ` ${side} `;
  const joined = (cells: readonly string[]) => `${side} ${cells.join(between)} ${side}`;
  const titles = shown.map(({ column, width }) => paint("bold", padEnd(column.title, width)));
  const boxed = [rule(lines.top), joined(titles), rule(lines.middle)];
  const drawn = shown.map(({ column, width }) => new DrawnColumn(column, width, paint));
  const [first, ...others] = drawn;
  const places = shown.slice(1).map(({ i }) => i - 1);
  const below = drawn.map((column) => column.draw(undefined));
  for (const row of rows) {
    const beside = others.map((column, at) => column.draw(row.others[places[at] ?? 0]));
    boxed.push(joined([first?.draw(row.about[0]) ?? "", ...beside]));
    for (let i = 1; i < row.about.length; i += 1) {
      below[0] = first?.draw(row.about[i]) ?? "";
      boxed.push(joined(below));
    }
  }
  boxed.push(rule(lines.bottom));
  return boxed;
}

/** Where nothing else helps, the first column gets what is left. */
function widthsOf(columns: readonly Column[], rows: readonly BoxRow[], room: number) {
  const widest = columns.map(() => 0);
  for (const { about, others } of rows) {
    for (const { width } of about) if (width > (widest[0] ?? 0)) widest[0] = width;
    for (let i = 0; i < others.length; i += 1) {
      const width = others[i]?.width ?? 0;
      if (width > (widest[i + 1] ?? 0)) widest[i + 1] = width;
    }
  }
  const natural = columns.map((column, i) => naturalWidth(column, widest[i] ?? 0));
  const [first = 0, ...others] = fitted(columns, natural, { room, total, cut: "first" });
  const missing = Math.max(0, total([first, ...others]) - room);
  const title = columns[0]?.title ?? "";
  return [Math.max(Math.min(first, title.length), first - missing), ...others];
}

/** A space on both sides of each, a line between and around them. */
function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + (width > 0 ? width + 3 : 0), 1);
}
