/** The daemon that is measured: the built program, a process of its own, its state on disk. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export class Daemon {
  readonly #child: ChildProcess;
  readonly port: number;
  readonly url: string;
  /** From the start of its process until it said where it is. */
  readonly readyMs: number;

  /** Resolves when it is up; `nodeFlags` are for who wants to look inside. */
  static async start(
    folder: string,
    {
      flags = [],
      nodeFlags = [],
      env: given = process.env,
    }: {
      flags?: readonly string[];
      nodeFlags?: readonly string[];
      env?: NodeJS.ProcessEnv;
    } = {},
  ): Promise<Daemon> {
    const { status } = spawnSync(process.execPath, ["scripts/build.mjs"]);
    if (status !== 0) throw new Error("dist/ could not be built");
    const where = ["--addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--data-dir", folder];
    const args = [
      ...nodeFlags,
      "dist/bin/rollcall.js",
      "up",
      ...where,
      "--rate-limit",
      "0",
      ...flags,
    ];
    const { NODE_EXTRA_CA_CERTS: _, ...env } = given;
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const startMs = performance.now();
    const child = spawn(process.execPath, args, { env, stdio: [...stdio] });
    let said = "";
    for await (const line of createInterface(child.stdout)) {
      said += `${line}\n`;
      const [, url, port] = /HTTP +(http:\S+)[^]*gRPC +\S+:(\d+)/.exec(said) ?? [];
      if (url !== undefined) {
        return new Daemon(child, { port: Number(port), url, readyMs: performance.now() - startMs });
      }
    }
    throw new Error(`the daemon did not come up: ${said}`);
  }

  private constructor(child: ChildProcess, up: Pick<Daemon, "port" | "url" | "readyMs">) {
    this.#child = child;
    this.port = up.port;
    this.url = up.url;
    this.readyMs = up.readyMs;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The time that its main thread, which decides, was on a processor; NaN where nobody tells. */
  cpuMs(): number {
    return this.#threadMs(this.pid);
  }

  /** The same of all its threads. */
  allCpuMs(): number {
    const threads = readdirSync(`/proc/${this.pid}/task`);
    return threads.reduce((sum, thread) => sum + this.#threadMs(thread), 0);
  }

  #threadMs(thread: number | string): number {
    try {
      const [ns = ""] = readFileSync(`/proc/${this.pid}/task/${thread}/schedstat`, "utf8").split(
        " ",
      );
      return Number(ns) / 1e6;
    } catch {
      return NaN;
    }
  }

  /** What the metrics page says, by the names with their labels. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    return new Map(
      lines.map((line) => {
        const space = line.lastIndexOf(" ");
        return [line.slice(0, space), Number(line.slice(space + 1))];
      }),
    );
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }
}
