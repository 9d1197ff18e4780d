/** The daemon of the scene: started, killed without a warning, and started again where it was. */
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";
import { Actor, type ActorOptions } from "./actor.ts";
import { until } from "./until.ts";

export const ROLLCALL = [process.execPath, join(root, "dist/bin/rollcall.cjs")];

export class Daemon implements AsyncDisposable {
  readonly #options: ActorOptions;
  #actor: Actor;
  readonly url: string;
  readonly grpcAddress: string;

  private constructor(actor: Actor, options: ActorOptions, [url, grpc]: readonly string[]) {
    this.#actor = actor;
    this.#options = options;
    this.url = url ?? "";
    this.grpcAddress = grpc ?? "";
  }

  /** On ports that are free. */
  static async start({ env, cwd }: ActorOptions): Promise<Daemon> {
    const free = { ROLLCALL_ADDR: "127.0.0.1:0", ROLLCALL_HTTP_ADDR: "127.0.0.1:0" };
    const actor = new Actor([...ROLLCALL, "up"], { env: { ...env, ...free }, cwd });
    try {
      const [, ...doors] = await actor.says(/HTTP +(http:\S+)[^]*gRPC +(\S+)[^]*only this machine/);
      return new Daemon(actor, { env, cwd }, doors);
    } catch (error) {
      actor.endNow();
      throw error;
    }
  }

  get pid(): number {
    return this.#actor.pid;
  }

  /** What it said when it was up. */
  get announcement(): string {
    return this.#actor.output;
  }

  /** What it logged. */
  get log(): string {
    return this.#actor.errors;
  }

  async kill(): Promise<void> {
    await this.#actor.kill();
  }

  /**
   * At the same doors: whoever waits for it finds it there. While nobody listens there, the system
   * may give a port to another program for a moment.
   */
  async restart(): Promise<void> {
    const { env, cwd } = this.#options;
    const doors = { ROLLCALL_ADDR: this.grpcAddress, ROLLCALL_HTTP_ADDR: new URL(this.url).host };
    await until("the daemon at its doors again", () => {
      this.#actor = new Actor([...ROLLCALL, "up"], { env: { ...env, ...doors }, cwd });
      return this.#actor.says(/only this machine/);
    });
  }

  endNow(): void {
    this.#actor.endNow();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#actor.endNow();
    await this.#actor.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
