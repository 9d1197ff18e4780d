/**
 * A process that plays a part. Each has a process group of its own, so that a Ctrl-C in the
 * terminal reaches only whoever directs, and so that nothing it started outlives it.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { until } from "./until.ts";

export interface ActorOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What is kept of what one says: its part is short. */
const MAX_OUTPUT = 1024 * 1024;
/** For last words, after its input has ended. */
const GRACE_MS = 3_000;

export class Actor implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ending>;
  readonly pid: number;
  #isOver = false;
  output = "";
  errors = "";

  constructor([program = "", ...args]: readonly string[], options: ActorOptions) {
    const child = spawn(program, args, {
      ...options,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    this.pid = child.pid ?? 0;
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.output = (this.output + text).slice(-MAX_OUTPUT);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.errors = (this.errors + text).slice(-MAX_OUTPUT);
    });
    this.ended = new Promise((resolve) => {
      child.on("error", (error) => {
        this.errors += error.message;
        resolve({ code: null, signal: null });
      });
      child.on("close", (code, signal) => resolve({ code, signal }));
    });
    void this.ended.then(() => (this.#isOver = true));
  }

  /** A line for its standard input. */
  tell(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** The first match of what it printed, once it is there. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#hear(pattern, () => this.output);
  }

  /** The same of its standard error. */
  async notes(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#hear(pattern, () => this.errors);
  }

  async #hear(pattern: RegExp, from: () => string): Promise<RegExpExecArray> {
    const look = () => {
      const found = pattern.exec(from());
      if (found) return found;
      throw new Error(`it said: ${this.output}\n${this.errors}`);
    };
    const what = `${String(pattern)} of ${this.#child.spawnargs.join(" ")}`;
    return until(what, look, { isOver: () => this.#isOver });
  }

  /** As `kill -9` does: no last words. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  /** Its input ends, then it does; idempotent. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    AbortSignal.timeout(GRACE_MS).addEventListener("abort", () => this.#child.kill("SIGKILL"));
    await this.ended;
    this.#endGroup();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** For an exit that cannot wait. */
  endNow(): void {
    this.#child.kill("SIGKILL");
    this.#endGroup();
  }

  #endGroup(): void {
    try {
      if (this.pid > 0) process.kill(-this.pid, "SIGKILL");
    } catch {
      // Nobody is left in it.
    }
  }
}
