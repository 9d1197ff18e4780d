/**
 * Codex runs the first hook of a session with its first prompt. A daemon that listens to the
 * app-server knows of the session when its terminal opens; from then on its sidecar looks after it.
 * Only where our hooks are installed: else nobody asked for it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../core/clock.ts";
import { field } from "../../core/text.ts";
import { SIDECAR } from "../hooks/limits.ts";
import { AppServer, codexHome, controlSocket } from "./app-server.ts";
import { welcome } from "./begun.ts";

const BESIDE = { host: "codex" } as const;

export class CodexDiscovery {
  readonly #clock: Clock;
  #server: AppServer | undefined;
  #stop: () => void;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#stop = () => undefined;
    this.#look();
  }

  #look(): void {
    const path = this.#server ? undefined : controlSocket();
    if (path !== undefined && isInstalled()) this.#connect(path);
    this.#stop = this.#clock.after(SIDECAR.lookMs, () => this.#look());
  }

  #connect(path: string): void {
    const server = new AppServer({
      path,
      onReady: () => this.#readAll(server),
      async onNotice({ method, params, atMs }) {
        if (method !== "thread/started") return;
        await welcome(server, { thread: field(params, "thread"), atMs, beside: BESIDE });
      },
      onClose: () => {
        this.#server = undefined;
      },
    });
    this.#server = server;
  }

  async #readAll(server: AppServer): Promise<void> {
    const loaded = field(await server.ask("thread/loaded/list", {}), "data");
    const ids: readonly unknown[] = Array.isArray(loaded) ? loaded : [];
    for (const threadId of ids) {
      const thread = field(await server.ask("thread/read", { threadId }), "thread");
      await welcome(server, { thread, atMs: Date.now(), beside: BESIDE });
    }
  }

  /** Idempotent. */
  close(): void {
    this.#stop();
    this.#server?.close();
  }
}

function isInstalled(): boolean {
  try {
    const text = readFileSync(join(codexHome(), "hooks.json"), "utf8");
    return /\brollcall\b[^"]*\bhook codex\b/u.test(text);
  } catch {
    return false;
  }
}
