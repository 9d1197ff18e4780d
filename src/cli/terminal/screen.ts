/**
 * The terminal as one picture that changes. It is drawn on the alternate screen, so that what was
 * there before comes back; only lines that changed are written, all of them in one synchronized
 * update, so that nothing flickers.
 */
import type { Output } from "./output.ts";

/** Without a cursor, and with lines that end where the window does. */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const CLEAR = "\u001b[2J";
const [BEGIN, END] = ["\u001b[?2026h", "\u001b[?2026l"];

/** The keys that end it: q, Escape and Ctrl-D; Ctrl-C interrupts. */
export function isQuit(key: string): boolean {
  return ["q", "Q", "\u001b", "\u0004"].includes(key);
}

export class Screen implements AsyncDisposable {
  readonly #output: Output;
  #isOpen = false;
  #size = "";
  #shown: readonly string[] = [];

  constructor(output: Output) {
    this.#output = output;
  }

  /** As many lines as there is room for; the last line of the screen says what is missing. */
  async draw(lines: readonly string[]): Promise<void> {
    const { rows, columns } = this.#output;
    const opening = this.#isOpen ? "" : ENTER;
    if (!this.#isOpen) process.on("exit", this.#restore);
    this.#isOpen = true;
    // A terminal of another size no longer shows what was drawn.
    const size = `${columns} ${rows}`;
    const clearing = size === this.#size ? "" : CLEAR;
    if (clearing !== "") this.#shown = [];
    this.#size = size;
    const hidden = lines.length - rows;
    const more = `… ${hidden + 1} more lines: make the window higher`;
    const wanted = hidden > 0 ? [...lines.slice(0, rows - 1), more] : lines;
    const height = Math.max(wanted.length, this.#shown.length);
    const changes = Array.from({ length: height }, (_, i) =>
      wanted[i] === this.#shown[i] ? "" : `\u001b[${i + 1};1H\u001b[2K${wanted[i] ?? ""}`,
    ).join("");
    this.#shown = wanted;
    const frame = changes === "" ? "" : BEGIN + changes + END;
    if (opening + clearing + frame !== "") await this.#output.write(opening + clearing + frame);
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.off("exit", this.#restore);
    await this.#output.write(LEAVE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  readonly #restore = () => void this.close();
}
