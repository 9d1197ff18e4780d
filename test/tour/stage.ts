/**
 * Where the tour is seen: a page per step on a terminal, one after the other elsewhere. What
 * commands print is shown as they print it for this width, and never more than a page of it.
 */
import { Output, type Sink, type Style } from "../../src/cli/terminal/output.ts";
import type { Environment } from "../../src/machine/surroundings.ts";
import { clean } from "../../src/cli/terminal/clean.ts";
import { truncate } from "../../src/cli/terminal/width.ts";
import type { Actor } from "./actor.ts";
import type { Look } from "./command.ts";
import type { Scene } from "./scene.ts";
import { until } from "./until.ts";

/** Wider is no easier to read. */
const WIDEST = 100;
const INDENT = "  ";
/** Of one command; a page has thirty in all. */
const MAX_LINES = 20;

export class Stage {
  readonly scene: Scene;
  readonly #out: Output;
  readonly #isPaged: boolean;

  constructor(sink: Sink, { scene, env, isPaged }: StageOptions) {
    this.scene = scene;
    this.#out = new Output(sink, env);
    this.#isPaged = isPaged && this.#out.isTerminal;
  }

  /** What commands should take the terminal for. */
  get look(): Look {
    return { columns: this.#width - INDENT.length, colours: this.#out.hasColour ? 4 : 1 };
  }

  get #width(): number {
    return Math.min(this.#out.columns, WIDEST);
  }

  async open(title: string, place: string): Promise<void> {
    // What was there goes up into the scrollback, and the page begins on top.
    if (this.#isPaged) await this.#out.write(`${"\n".repeat(this.#out.rows)}\u001b[H`);
    else await this.#out.line();
    await this.#out.line(`${this.#paint("bold", title)}  ${this.#paint("dim", place)}`);
    await this.#out.line();
  }

  /** A paragraph, broken where the window ends. */
  async say(text: string): Promise<void> {
    for (const line of wrapped(text, this.#width - INDENT.length)) {
      await this.#out.line(INDENT + line);
    }
    await this.#out.line();
  }

  /** One of our commands: as it is typed, and what it prints, which is also returned. */
  async command(words: string): Promise<string> {
    await this.prompt(`rollcall ${words}`);
    const { text, code } = await this.scene.run(split(words), this.look);
    const lines = text.trimEnd().split("\n");
    await this.print(lines);
    if (code !== 0) throw new Error(`rollcall ${words} ended with ${code}`);
    return lines.map(clean).join("\n");
  }

  /** Something that happens, as one would type it. */
  async prompt(words: string): Promise<void> {
    const fits = truncate(clean(words), this.#width - INDENT.length - 2);
    await this.#out.line(`${INDENT}${this.#paint("dim", "$")} ${this.#paint("cyan", fits)}`);
  }

  /** What somebody else printed for this terminal, our own commands or what was cleaned. */
  async print(lines: readonly string[]): Promise<void> {
    for (const line of lines.slice(0, MAX_LINES)) await this.#out.line(INDENT + line);
    const more = lines.length - MAX_LINES;
    if (more > 0) await this.note(`… ${more} more lines`);
    await this.#out.line();
  }

  /** What somebody goes on printing, each line as it comes, from the first to the last. */
  async stream(actor: Actor, isFirst: RegExp, isLast: RegExp): Promise<string> {
    let shown = 0;
    const ours = () => {
      const lines = actor.output.split("\n").slice(0, -1);
      const first = lines.findIndex((line) => isFirst.test(clean(line)));
      return first === -1 ? [] : lines.slice(first);
    };
    await until(String(isLast), async () => {
      for (const line of ours().slice(shown, MAX_LINES)) {
        await this.#out.line(INDENT + line);
        shown += 1;
      }
      return ours().some((line) => isLast.test(clean(line))) || undefined;
    });
    await this.#out.line();
    return ours().map(clean).join("\n");
  }

  async note(text: string): Promise<void> {
    await this.#out.line(INDENT + this.#paint("dim", `· ${clean(text)}`));
  }

  /** What the step says must be so. */
  async claim(text: string, isSo: boolean): Promise<void> {
    if (!isSo) throw new Error(`it is not so: ${text}`);
    await this.#out.line(`${INDENT}${this.#paint("green", "✓")} ${clean(text)}`);
  }

  async fail(text: string): Promise<void> {
    await this.#out.line(`${INDENT}${this.#paint("red", "✗")} ${clean(text)}`);
  }

  async invite(text: string): Promise<void> {
    if (this.#isPaged) await this.#out.write(`\n${INDENT}${this.#paint("dim", text)}`);
  }

  #paint(style: Style, text: string): string {
    return this.#out.paint(style, text);
  }
}

export interface StageOptions {
  readonly scene: Scene;
  readonly env: Environment;
  /** Whether each step has a page of its own. */
  readonly isPaged: boolean;
}

/** Words as a shell would have them; quotes keep them together. */
function split(words: string): string[] {
  return Array.from(
    words.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, a, b, c]) => a ?? b ?? c ?? "",
  );
}

export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line];
}
