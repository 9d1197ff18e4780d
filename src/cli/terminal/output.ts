/**
 * Where a command writes: a stream, with what is known about who reads it. Colours only for a
 * terminal that has them, and never when NO_COLOR is set. A reader who went away (`… | head`) is no
 * error: it is told to the command, which stops.
 */
import type { WriteStream } from "node:tty";
import type { Environment } from "../../machine/surroundings.ts";

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  underline: [4, 24],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof STYLES;

/** The part of a stream that commands use; a test gives its own. */
export interface Sink {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string, done?: (error?: Error | null) => void): boolean;
  getColorDepth?(env?: object): number;
  on?(event: "resize", call: () => void): unknown;
  off?(event: "resize", call: () => void): unknown;
}

export class Output {
  readonly #sink: Sink;
  readonly isTerminal: boolean;
  readonly hasColour: boolean;

  constructor(sink: Sink, env: Environment) {
    this.#sink = sink;
    this.isTerminal = sink.isTTY === true;
    this.hasColour = this.isTerminal && !env["NO_COLOR"] && (sink.getColorDepth?.(env) ?? 1) >= 4;
  }

  /** How wide lines may be; without a terminal as wide as they are. Some terminals say 0. */
  get columns(): number {
    return this.isTerminal ? this.#sink.columns || 80 : Infinity;
  }

  /** How many lines fit on the screen. */
  get rows(): number {
    return this.isTerminal ? this.#sink.rows || 24 : Infinity;
  }

  /** Calls back whenever the terminal gets another size, until the returned function is called. */
  whenResized(call: () => void): () => void {
    this.#sink.on?.("resize", call);
    return () => this.#sink.off?.("resize", call);
  }

  /** Resolves when there is room for more: a caller that awaits it never fills the memory. */
  async line(text = ""): Promise<void> {
    await this.write(`${text}\n`);
  }

  async write(text: string): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.#sink.write(text, () => resolve())) resolve();
    });
  }

  paint(style: Style, text: string): string {
    if (!this.hasColour) return text;
    const [on, off] = STYLES[style];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  }
}

/** Calls back once when the reader of a stream is gone; every other error of it is thrown. */
export function whenReaderLeaves(stream: WriteStream, left: () => void): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    left();
  });
}
