/**
 * A connection to Codex's app-server, the daemon that all its terminals share: JSON-RPC over a
 * WebSocket on its control socket. It tells every client of every thread what that does, so nothing
 * is subscribed to: a thread that somebody subscribed to would stay loaded.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { complain } from "../hooks/complaints.ts";
import { APP_SERVER } from "../hooks/limits.ts";
import { field, parseJson } from "../../core/text.ts";

export interface AppServerNotice {
  readonly method: string;
  readonly params: unknown;
  readonly atMs: number;
}

/** An error that a listener throws is logged: its process has other things to look after. */
export interface AppServerOptions {
  readonly path: string;
  readonly onReady: () => Promise<void> | void;
  readonly onNotice: (notice: AppServerNotice) => Promise<void> | void;
  readonly onClose: () => void;
  /** How long an answer may take. */
  readonly patienceMs?: number;
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
      for (const id of this.#waiting.keys()) this.#settle(id, undefined);
      options.onClose();
    });
  }

  async #introduce(): Promise<void> {
    const introduction = { clientInfo: CLIENT, capabilities: { experimentalApi: true } };
    const answer = await this.ask("initialize", introduction);
    if (answer === undefined || answer === null) return this.close();
    this.#send({ method: "initialized" });
    await guarded(this.#options.onReady);
  }

  /** Its result; null where it refused, nothing where it did not answer in time, or went away. */
  async ask(method: string, params: object): Promise<unknown> {
    const isOpen = this.#socket.readyState === WebSocket.OPEN;
    if (!isOpen || this.#waiting.size >= APP_SERVER.asked) return undefined;
    this.#asked += 1;
    const id = this.#asked;
    const { patienceMs = APP_SERVER.patienceMs } = this.#options;
    const answer = new Promise<unknown>((resolve) => this.#waiting.set(id, resolve));
    const timer = setTimeout(() => this.#settle(id, undefined), patienceMs);
    this.#send({ id, method, params });
    return answer.finally(() => clearTimeout(timer));
  }

  /** Idempotent. */
  close(): void {
    this.#socket.terminate();
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message), () => undefined);
  }

  #settle(id: number, result: unknown): void {
    this.#waiting.get(id)?.(result);
    this.#waiting.delete(id);
  }

  #hear(data: Buffer): void {
    const message = parseJson(data.toString());
    const [id, method] = [field(message, "id"), field(message, "method")];
    // Requests of the app-server are for its terminals to answer.
    if (typeof method !== "string")
      return this.#settle(Number(id), field(message, "result") ?? null);
    if (id !== undefined) return;
    const emittedAtMs = field(message, "emittedAtMs");
    const atMs = typeof emittedAtMs === "number" ? emittedAtMs : Date.now();
    const notice = { method, params: field(message, "params"), atMs };
    void guarded(() => this.#options.onNotice(notice));
  }
}

async function guarded(listener: () => Promise<void> | void): Promise<void> {
  try {
    await listener();
  } catch (error) {
    complain(error);
  }
}
