/**
 * A screen that is drawn over and over without flicker: each frame goes over the last one from the
 * top left, line by line, and is shown at once by terminals that can. What was on the screen before
 * comes back when it is closed.
 */
import type { Output } from "./output.ts";

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const [BEGIN, END] = ["\u001b[?2026h", "\u001b[?2026l"];
const HOME = "\u001b[H";
const [REST_OF_LINE, REST_OF_SCREEN] = ["\u001b[K", "\u001b[J"];

export class Screen implements AsyncDisposable {
  readonly #output: Output;
  #isOpen = false;
  #shown = "";

  constructor(output: Output) {
    this.#output = output;
  }

  /** Lines must be narrower than the screen; those below its end are left out. */
  async draw(lines: readonly string[]): Promise<void> {
    const fitting = lines.slice(0, this.#output.rows);
    const frame = HOME + fitting.map((line) => line + REST_OF_LINE).join("\r\n") + REST_OF_SCREEN;
    const opening = this.#isOpen ? "" : ENTER;
    this.#isOpen = true;
    // A terminal of another size no longer shows what was drawn.
    const shownNow = `${this.#output.columns} ${this.#output.rows} ${frame}`;
    if (shownNow === this.#shown) return;
    this.#shown = shownNow;
    await this.#output.write(`${opening}${BEGIN}${frame}${END}`);
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#output.write(LEAVE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
