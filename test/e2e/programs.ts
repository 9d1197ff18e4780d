/**
 * The built programs as a user runs them: real processes, signals and ports on loopback. What a
 * test waits for is text on their output or their end, always with a deadline.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DEADLINE_MS = 20_000;
const GONE = { recursive: true, force: true, maxRetries: 3, retryDelay: 50 } as const;
const REMOVALS = 30;

export function programFile(name: string): string {
  const ending = ["agent-status", "rollcall"].includes(name) ? "cjs" : "js";
  return join(ROOT, "dist/bin", `${name}.${ending}`);
}

/** A folder that is gone after the test, even if a program still writes there. */
export function scratch(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "rollcall-e2e-"));
  return { path, [Symbol.dispose]: () => remove(path) };
}

/** Node looks once what is in a folder: what a program adds behind its back stays. */
function remove(path: string, triesLeft = REMOVALS): void {
  try {
    rmSync(path, GONE);
  } catch (error) {
    if (triesLeft === 0) throw error;
    remove(path, triesLeft - 1);
  }
}

/** Nothing of the machine's own settings but what a program cannot do without. */
export function environment(home: string, extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: home, TZ: "UTC", ...extra };
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Running implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  stdout = "";
  stderr = "";

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.on("close", (code, signal) => {
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The first match of what it printed, once it is there. */
  async says(pattern: RegExp, where: "stdout" | "stderr" = "stdout"): Promise<RegExpExecArray> {
    return vi.waitFor(
      () => {
        const found = pattern.exec(this[where]);
        if (found) return found;
        throw new Error(`no ${String(pattern)} in ${this.stdout}\n---\n${this.stderr}`);
      },
      { timeout: DEADLINE_MS, interval: 10 },
    );
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async end(deadlineMs = DEADLINE_MS): Promise<Ended> {
    const late = AbortSignal.timeout(deadlineMs);
    return new Promise((resolve, reject) => {
      late.addEventListener("abort", () => {
        reject(new Error(`still running: ${this.stdout}\n---\n${this.stderr}`));
      });
      void this.#ended.then(resolve);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}

export interface Options {
  readonly program?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly home?: string;
}

export function start(args: readonly string[], options: Options = {}): Running {
  const { program = "rollcall", home = tmpdir(), env } = options;
  return new Running(process.execPath, [programFile(program), ...args], environment(home, env));
}

export async function run(args: readonly string[], options: Options = {}): Promise<Ended> {
  await using running = start(args, options);
  return await running.end();
}

/** A daemon on free ports, once it is up. */
export async function daemon(...args: readonly string[]): Promise<{ up: Running; url: string }> {
  const up = start(["up", "--addr", ":0", "--http-addr", ":0", "--cluster-addr", ":0", ...args]);
  const [, url = ""] = await up.says(/HTTP +(http:\S+)[^]*only this machine/);
  return { up, url };
}
