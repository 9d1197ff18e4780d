/** The proxy as an editor starts it: a real process with pipes, and small scripts as agents. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { vi } from "vitest";
import type { TimelineLine } from "../../src/wires/acp/proxy/timeline.ts";
import type { Status } from "../../src/wires/files/format.ts";
import { readStatusDir } from "../../src/wires/files/read.ts";
import { environment, programFile, scratch } from "./programs.ts";

export const PROGRAM = programFile("rollcall").replace(/\.js$/, ".cjs");

const SOON = { timeout: 20_000, interval: 10 };

export interface ProxyEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export function sha256(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A home with nothing in it. */
export function proxyHome(extra: NodeJS.ProcessEnv = {}) {
  const folder = scratch();
  const state = join(folder.path, "state");
  const env = environment(folder.path, { XDG_STATE_HOME: state, ...extra });
  return {
    path: folder.path,
    env,
    statuses: (): readonly Status[] =>
      readStatusDir(join(state, "agent-status")).flatMap((each) =>
        each.kind === "status" ? each.status : [],
      ),
    /** What the agent did, as `tail` would show it. */
    timeline: (): readonly TimelineLine[] => timelineIn(join(state, "rollcall", "acp")),
    complaints: (): string => textOf(join(state, "rollcall", "hooks", "errors.log")),
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

export type ProxyHome = ReturnType<typeof proxyHome>;

function timelineIn(directory: string): readonly TimelineLine[] {
  try {
    const texts = readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"));
    const lines = texts.flatMap((text) => text.split("\n").filter(Boolean));
    return lines.map((line) => JSON.parse(line) as TimelineLine);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

export class ProxyRun implements AsyncDisposable {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<ProxyEnd>;
  readonly #taken: Buffer[] = [];
  stderr = "";

  constructor(words: readonly string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, [PROGRAM, "acp", ...words], {
      env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child.stdin.on("error", () => undefined);
    this.child.stdout.on("data", (chunk: Buffer) => this.#taken.push(chunk));
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code, signal) => resolve({ code, signal }));
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get output(): Buffer {
    return Buffer.concat(this.#taken);
  }

  say(...frames: readonly object[]): void {
    for (const frame of frames) {
      this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
    }
  }

  async says(text: string): Promise<void> {
    await vi.waitFor(() => {
      if (!this.output.includes(text)) throw new Error(`no ${text} in ${this.output.toString()}`);
    }, SOON);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}

/** Runs an agent that is a line of shell, or of Node. */
export function proxied(
  home: ProxyHome,
  command: readonly string[],
  flags: readonly string[] = [],
): ProxyRun {
  return new ProxyRun([...flags, "--", ...command], home.env);
}

export const sh = (script: string): readonly string[] => ["sh", "-c", script];
export const node = (script: string): readonly string[] => [process.execPath, "-e", script];
