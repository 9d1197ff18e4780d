/**
 * The columns of a table, whatever it looks like: how wide each is, and its cells at that width.
 * Where there is too little room, columns that may be cut are cut; then those one can do without
 * go, the last first.
 *
 * The text of every cell is cleaned here: no command can forget it. Colour goes on last, so that
 * it counts for no width.
 */
import { clean, isPlain } from "./clean.ts";
import type { Style } from "./output.ts";
import { padEnd, padStart, truncate, truncateStart, widthOf } from "./width.ts";

export interface Column {
  readonly title: string;
  /** Numbers stand under their last digit. */
  readonly isNumber?: boolean;
  /** It may be cut down to so many columns. */
  readonly least?: number;
  /** The side that is cut: of a path the end says more. */
  readonly cut?: "start";
  /** One can do without it, and does when it says nothing. */
  readonly isExtra?: boolean;
}

/** A text, or one with a style. */
export type Cell = string | { readonly text: string; readonly style: Style };

/** A cell that was cleaned and measured. */
export interface MeasuredCell {
  readonly text: string;
  readonly width: number;
  readonly style: Style | undefined;
  /** Where it is cut when there is no room, if not as its column is. */
  readonly cut: "start" | undefined;
}

export function measured(said: string, style?: Style, cut?: "start"): MeasuredCell {
  if (isPlain(said)) return { text: said, width: said.length, style, cut };
  const text = clean(said);
  return { text, width: widthOf(text), style, cut };
}

export function measuredCell(cell: Cell): MeasuredCell {
  return typeof cell === "string" ? measured(cell) : measured(cell.text, cell.style);
}

export interface Fit {
  /** How wide a line may be; Infinity for all that is there. */
  readonly room: number;
  /** The width of a whole line of such columns, with the gaps between them. */
  readonly total: (widths: readonly number[]) => number;
  /** Which columns give way first: the widest of all, or the first of them. */
  readonly cut: "widest" | "first";
}

/** Widths that fit, if there are any; a column that goes is 0 wide. */
export function fitted(columns: readonly Column[], natural: readonly number[], fit: Fit) {
  const leasts = columns.map(({ title, least = Infinity }) => Math.max(widthOf(title), least));
  const there = [...natural];
  for (;;) {
    const cut = fit.cut === "widest" ? cutWidest : cutFirst;
    const widths = cut(there, leasts, fit);
    const extra = columns.findLastIndex(({ isExtra }, i) => isExtra === true && there[i] !== 0);
    if (fit.total(widths) <= fit.room || extra === -1) return widths;
    there[extra] = 0;
  }
}

/** As wide as the widest cell, or its title; 0 for one that says nothing and may go. */
export function naturalWidth({ title, isExtra }: Column, widest: number): number {
  return widest === 0 && isExtra === true ? 0 : Math.max(widest, widthOf(title));
}

/** The widest goes first, down to the least of each. */
function cutWidest(natural: readonly number[], leasts: readonly number[], { room, total }: Fit) {
  const widths = [...natural];
  while (total(widths) > room) {
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

function cutFirst(natural: readonly number[], leasts: readonly number[], { room, total }: Fit) {
  const widths = [...natural];
  for (const [i, width] of widths.entries()) {
    const shorter = Math.max(leasts[i] ?? Infinity, width - Math.max(0, total(widths) - room));
    if (shorter < width) widths[i] = shorter;
  }
  return widths;
}

/** A column at its width. Of thousands of cells many are the one above: that is drawn once. */
export class DrawnColumn {
  readonly width: number;
  readonly #column: Column;
  readonly #paint: (style: Style, text: string) => string;
  readonly #blank: string;
  #last: MeasuredCell | undefined;
  #drawn = "";

  constructor(column: Column, width: number, paint: (style: Style, text: string) => string) {
    this.width = width;
    this.#column = column;
    this.#paint = paint;
    this.#blank = " ".repeat(width);
  }

  draw(cell: MeasuredCell | undefined): string {
    if (!cell) return this.#blank;
    if (cell !== this.#last) this.#drawn = this.#fresh(cell);
    this.#last = cell;
    return this.#drawn;
  }

  #fresh({ text, width, style, cut }: MeasuredCell): string {
    const filled =
      width <= this.width && this.#column.isNumber !== true
        ? text + " ".repeat(this.width - width)
        : this.#fitted(text, cut);
    return style ? this.#paint(style, filled) : filled;
  }

  #fitted(text: string, cut = this.#column.cut): string {
    const short = cut === "start" ? truncateStart(text, this.width) : truncate(text, this.width);
    return this.#column.isNumber === true ? padStart(short, this.width) : padEnd(short, this.width);
  }
}
