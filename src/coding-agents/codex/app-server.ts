/**
 * A connection to Codex's app-server, the daemon that all its terminals share: JSON-RPC over a
 * WebSocket on its control socket. It tells every client of every thread what that does, so nothing
 * is subscribed to: a thread that somebody subscribed to would stay loaded.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { APP_SERVER } from "../hooks/limits.ts";
import { field } from "../../core/text.ts";

export interface Notice {
  readonly method: string;
  readonly params: unknown;
  readonly atMs: number;
}

export interface AppServerOptions {
  readonly path: string;
  readonly onReady: () => void;
  readonly onNotice: (notice: Notice) => void;
  readonly onClose: () => void;
}

export function codexHome(): string {
  return process.env["CODEX_HOME"] || join(homedir(), ".codex");
}

export function controlSocket(): string | undefined {
  const path = join(codexHome(), "app-server-control", "app-server-control.sock");
  return existsSync(path) ? path : undefined;
}

const CLIENT = { name: "rollcall", title: "Rollcall", version: "1" };

export class AppServer {
  readonly #socket: WebSocket;
  readonly #options: AppServerOptions;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #asked = 0;

  constructor(options: AppServerOptions) {
    this.#options = options;
    this.#socket = new WebSocket(`ws+unix:${options.path}:/`, {
      perMessageDeflate: false,
      handshakeTimeout: APP_SERVER.patienceMs,
      maxPayload: APP_SERVER.messageBytes,
    });
    this.#socket.on("open", () => void this.#introduce());
    this.#socket.on("message", (data: Buffer) => this.#hear(data));
    this.#socket.on("error", () => undefined);
    this.#socket.on("close", () => {
      for (const settle of this.#waiting.values()) settle(undefined);
      options.onClose();
    });
  }

  async #introduce(): Promise<void> {
    await this.ask("initialize", { clientInfo: CLIENT, capabilities: { experimentalApi: true } });
    this.#send({ method: "initialized" });
    this.#options.onReady();
  }

  /** Its result; nothing where it refused, or went away. */
  async ask(method: string, params: object): Promise<unknown> {
    if (this.#waiting.size >= APP_SERVER.asked) return undefined;
    this.#asked += 1;
    const id = this.#asked;
    const answer = new Promise<unknown>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    return answer;
  }

  /** Idempotent. */
  close(): void {
    this.#socket.terminate();
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message), () => undefined);
  }

  #hear(data: Buffer): void {
    const message: unknown = JSON.parse(data.toString());
    const [id, method] = [field(message, "id"), field(message, "method")];
    if (typeof method !== "string") {
      this.#waiting.get(Number(id))?.(field(message, "result"));
      this.#waiting.delete(Number(id));
      // What it asks its clients is for terminals to answer.
    } else if (id === undefined) {
      const atMs = field(message, "emittedAtMs");
      const params = field(message, "params");
      this.#options.onNotice({
        method,
        params,
        atMs: typeof atMs === "number" ? atMs : Date.now(),
      });
    }
  }
}
