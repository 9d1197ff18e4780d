/**
 * Where it plays: a folder of its own for home and state, and the list of all that lives in it, so
 * that nothing stays behind, however it ends.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Living {
  close(): Promise<void>;
  /** For an exit that cannot wait. */
  endNow(): void;
}

const GONE = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const;

export class Place implements AsyncDisposable {
  readonly home = mkdtempSync(join(tmpdir(), "rollcall-tour-"));
  readonly state = join(this.home, "state");
  /** The project that everybody works on. */
  readonly shop = join(this.home, "shop");
  readonly #living: Living[] = [];
  #env: NodeJS.ProcessEnv;
  #isClosed = false;

  constructor() {
    mkdirSync(this.shop);
    this.#env = {
      // Nothing of the machine's own settings but what a program cannot do without.
      PATH: process.env["PATH"],
      HOME: this.home,
      XDG_STATE_HOME: this.state,
      ...(process.env["TZ"] !== undefined && { TZ: process.env["TZ"] }),
    };
    process.on("exit", this.#leave);
  }

  get env(): NodeJS.ProcessEnv {
    return this.#env;
  }

  /** For everybody who comes from now on. */
  tellAll(more: NodeJS.ProcessEnv): void {
    this.#env = { ...this.#env, ...more };
  }

  write(name: string, text: string): string {
    const path = join(this.home, name);
    writeFileSync(path, text);
    return path;
  }

  /** Ends with the place; at once, when that has ended already. */
  hold(living: Living): void {
    if (this.#isClosed) living.endNow();
    else this.#living.push(living);
  }

  /** The last who came goes first, and one that does not want to keeps nobody else. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const troubles: unknown[] = [];
    for (let last = this.#living.pop(); last; last = this.#living.pop()) {
      try {
        await last.close();
      } catch (error) {
        last.endNow();
        troubles.push(error);
      }
    }
    process.off("exit", this.#leave);
    rmSync(this.home, GONE);
    if (troubles.length > 0) throw new AggregateError(troubles, "not everybody left by itself");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  readonly #leave = (): void => {
    for (const living of this.#living.toReversed()) living.endNow();
    rmSync(this.home, GONE);
  };
}
