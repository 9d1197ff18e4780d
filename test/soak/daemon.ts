/** The soaked daemon: a real process, on the same ports and the same disk after each kill. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { start, type Running } from "../e2e/programs.ts";

const INSIDE = new URL("inside.mjs", import.meta.url).href;
const TRIM = fileURLToPath(new URL("trim.c", import.meta.url));
const COUNTER = JSON.stringify(fileURLToPath(new URL("counter.mjs", import.meta.url)));

const CONFIG = `
[agents.mortal]
module = ${COUNTER}

[agents.phoenix]
module = ${COUNTER}
restart = "always"
`;

/** It may take as long as the machine is busy. */
const COLLECTION = { timeout: 30_000, interval: 10 } as const;

export class SoakDaemon implements AsyncDisposable {
  readonly folder: string;
  readonly #home: string;
  readonly #trim: string;
  #running: Running | undefined;
  httpPort = 0;
  grpcPort = 0;
  /** Rises whenever it stops answering for a reason of ours, and when it answers again. */
  era = 0;
  isUp = false;
  /** Told of each era. */
  onTurn: (isUp: boolean) => void = () => undefined;

  /** `folder` may be small and full; `home` is not. */
  constructor(folder: string, home: string) {
    this.folder = folder;
    this.#home = home;
    this.#trim = join(home, "trim.node");
    execFileSync("cc", ["-shared", "-fPIC", "-nostdlib", "-o", this.#trim, TRIM]);
  }

  get url(): string {
    return `http://127.0.0.1:${this.httpPort}`;
  }

  get pid(): number {
    return this.#running?.pid ?? 0;
  }

  /** A file that is there once a collection of garbage is over, with what is left. */
  get #collected(): string {
    return join(this.#home, "collected");
  }

  get ports() {
    return { httpPort: this.httpPort, grpcPort: this.grpcPort };
  }

  async start(): Promise<void> {
    const config = join(this.#home, "rollcall.toml");
    writeFileSync(config, CONFIG);
    const data = join(this.folder, "data");
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const doors = ["--addr", `127.0.0.1:${this.grpcPort}`];
    doors.push("--http-addr", `127.0.0.1:${this.httpPort}`);
    const quiet = ["--no-status-files", "--socket", "off", "--rate-limit", "0"];
    const where = ["--data-dir", data, "--config", config, "--node", "soaked"];
    const env = {
      NODE_OPTIONS: `--import=${INSIDE}`,
      SOAK_COLLECTED: this.#collected,
      SOAK_TRIM: this.#trim,
    };
    this.#running = start(["up", ...doors, ...where, ...quiet], { home: this.#home, env });
    const found = await this.#running.says(/HTTP +http:\/\/\S+:(\d+)\n +gRPC +\S+:(\d+)/);
    [this.httpPort = 0, this.grpcPort = 0] = found.slice(1).map(Number);
    this.#turn(true);
  }

  async kill(): Promise<void> {
    this.#turn(false);
    await this.#running?.[Symbol.asyncDispose]();
  }

  stop(): void {
    this.#turn(false);
    this.#running?.signal("SIGSTOP");
  }

  resume(): void {
    this.#running?.signal("SIGCONT");
    this.#turn(true);
  }

  /** Its memory once its garbage is gone. Nobody but we would have it collect all at once. */
  async memory(): Promise<NodeJS.MemoryUsage> {
    this.#turn(false);
    rmSync(this.#collected, { force: true });
    this.#running?.signal("SIGUSR2");
    await vi.waitUntil(() => existsSync(this.#collected), COLLECTION);
    this.#turn(true);
    return JSON.parse(readFileSync(this.#collected, "utf8")) as NodeJS.MemoryUsage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #turn(isUp: boolean): void {
    this.isUp = isUp;
    this.era += 1;
    this.onTurn(isUp);
  }
}
