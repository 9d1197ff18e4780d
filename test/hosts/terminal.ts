/** Terminals of a tmux of our own: a person's screen and keys. */
import { spawnSync } from "node:child_process";
import { findProcess } from "../../src/machine/processes.ts";
import { until } from "../tour/until.ts";

export class Tmux implements Disposable {
  readonly #socket: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #opened: Terminal[] = [];

  constructor(socket: string, env: NodeJS.ProcessEnv) {
    this.#socket = socket;
    this.#env = env;
  }

  /** A new terminal that runs the command, which is a line for the shell. */
  open(command: string, cwd: string): Terminal {
    const where = ["-d", "-P", "-F", "#{pane_id} #{pane_pid}", "-c", cwd, "-x", "130", "-y", "45"];
    const [pane = "", pid] = this.run(["new-session", ...where, `exec ${command}`])
      .trim()
      .split(" ");
    const terminal = new Terminal(this, pane, Number(pid));
    this.#opened.push(terminal);
    return terminal;
  }

  /** Of all that are still open. */
  screens(): readonly string[] {
    const open = this.run(["list-panes", "-a", "-F", "#{pane_id}"]).split("\n");
    return this.#opened.filter(({ pane }) => open.includes(pane)).map(({ screen }) => screen);
  }

  run(words: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync("tmux", ["-S", this.#socket, ...words], {
      env: this.#env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`tmux ${words[0]}: ${stderr.trim()}`);
    return stdout;
  }

  [Symbol.dispose](): void {
    if (this.#opened.length > 0) spawnSync("tmux", ["-S", this.#socket, "kill-server"]);
  }
}

/** A program on a busy machine takes its time to draw. */
const CALM_MS = 1_500;
const PATIENCE_MS = 60_000;
/** Longer than a program takes to draw its screen anew. */
const REDRAW_MS = 200;
/** A program shows that it has heard a key. */
const MOVE_MS = 1_500;
/** When a person presses Enter once more. */
const AGAIN_MS = 10_000;

export class Terminal {
  readonly #tmux: Tmux;
  readonly pane: string;
  /** Of the program in it. */
  readonly pid: number;

  constructor(tmux: Tmux, pane: string, pid: number) {
    this.#tmux = tmux;
    this.pane = pane;
    this.pid = pid;
  }

  get screen(): string {
    return this.#tmux.run(["capture-pane", "-p", "-t", this.pane]);
  }

  /** Keys by their names: Enter, Escape, C-c. */
  press(...keys: readonly string[]): void {
    this.#tmux.run(["send-keys", "-t", this.pane, ...keys]);
  }

  /** A person looks before the next key; where only a color moves there is nothing to wait for. */
  async move(key: string): Promise<void> {
    const { screen } = this;
    this.press(key);
    const moved = () => this.screen !== screen || undefined;
    await until("another screen", moved, { withinMs: MOVE_MS }).catch(() => undefined);
  }

  /**
   * Enter, until something shows. Pressed again where nothing moves for long, as a person would:
   * a program that still cancels a turn may not listen.
   */
  async submit(wanted: string | RegExp): Promise<void> {
    this.press("Enter");
    let stillMs = this.#stillness();
    await this.#becomes(`${wanted} on the screen`, () => {
      if (this.#has(wanted)) return true;
      if (stillMs() > AGAIN_MS) {
        this.press("Enter");
        stillMs = this.#stillness();
      }
      return false;
    });
  }

  /** Without Enter; until the program has drawn it. */
  async type(text: string): Promise<void> {
    this.#tmux.run(["send-keys", "-l", "-t", this.pane, text]);
    await this.shows(text.slice(-40));
  }

  async shows(wanted: string | RegExp, withinMs = PATIENCE_MS): Promise<void> {
    await this.#becomes(`${wanted} on the screen`, () => this.#has(wanted), withinMs);
  }

  /** Also in the next looks: a program that draws its screen anew clears it first. */
  async hides(unwanted: string | RegExp): Promise<void> {
    let goneAt: number | undefined;
    await this.#becomes(`a screen without ${unwanted}`, () => {
      if (this.#has(unwanted)) goneAt = undefined;
      else goneAt ??= performance.now();
      return goneAt !== undefined && performance.now() - goneAt >= REDRAW_MS;
    });
  }

  /** Until nothing has moved on it for a while. */
  async calms(): Promise<void> {
    const stillMs = this.#stillness();
    await until("a screen that rests", () => stillMs() > CALM_MS || undefined);
  }

  /** How long nothing has moved on it, for those who keep looking. */
  #stillness(): () => number {
    let [seen, sinceAt] = [this.screen, performance.now()];
    return () => {
      const { screen } = this;
      if (screen !== seen) [seen, sinceAt] = [screen, performance.now()];
      return performance.now() - sinceAt;
    };
  }

  /** Until its program has ended. */
  async ends(): Promise<void> {
    await until("the end of the program", () => !findProcess(this.pid) || undefined);
  }

  async #becomes(what: string, isSo: () => boolean, withinMs = PATIENCE_MS): Promise<void> {
    try {
      await until(what, () => isSo() || undefined, { withinMs });
    } catch (error) {
      throw new Error(`no ${what}:\n${this.screen.trimEnd()}`, { cause: error });
    }
  }

  #has(wanted: string | RegExp): boolean {
    const { screen } = this;
    return typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen);
  }

  kill(): void {
    process.kill(this.pid, "SIGKILL");
  }
}
