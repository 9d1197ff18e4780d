/**
 * The terminal as one picture that changes. It is drawn on the alternate screen, so that what was
 * there before comes back; only lines that changed are written, all of them in one synchronized
 * update, so that nothing flickers. `q`, Escape and Ctrl-C end it.
 */
import type { ReadStream, WriteStream } from "node:tty";

/** Without a cursor, and with lines that end where the window does. */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";
const QUIT = new Set(["q", "Q", "\u001b", "\u0003", "\u0004"]);

export interface ScreenOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly quit: () => void;
  /** The terminal has another size: everything must be drawn again. */
  readonly resized: () => void;
}

export class Screen implements Disposable {
  readonly #options: ScreenOptions;
  #shown: readonly string[] = [];
  #isClosed = false;

  constructor(options: ScreenOptions) {
    this.#options = options;
    const { input, output } = options;
    output.write(ENTER);
    output.on("resize", this.#resized);
    process.on("exit", this.#close);
    if (!input.isTTY) return;
    input.setRawMode(true);
    input.setEncoding("utf8").on("data", this.#typed).resume();
  }

  /** As many lines as there is room for; the last line of the screen says what is missing. */
  draw(lines: readonly string[]): void {
    const { rows } = this.#options.output;
    const hidden = lines.length - rows;
    const more = `… ${hidden + 1} more lines: make the window higher`;
    const wanted = hidden > 0 ? [...lines.slice(0, rows - 1), more] : lines;
    const height = Math.max(wanted.length, this.#shown.length);
    const changes = Array.from({ length: height }, (_, i) =>
      wanted[i] === this.#shown[i] ? "" : `\u001b[${i + 1};1H\u001b[2K${wanted[i] ?? ""}`,
    ).join("");
    this.#shown = wanted;
    if (changes !== "") this.#options.output.write(BEGIN + changes + END);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { input, output } = this.#options;
    output.off("resize", this.#resized);
    process.off("exit", this.#close);
    output.write(LEAVE);
    if (!input.isTTY) return;
    input.off("data", this.#typed).pause();
    input.setRawMode(false);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  readonly #close = () => this.close();

  readonly #typed = (keys: string) => {
    if (QUIT.has(keys)) this.#options.quit();
  };

  readonly #resized = () => {
    this.#shown = [];
    this.#options.output.write("\u001b[2J");
    this.#options.resized();
  };
}
