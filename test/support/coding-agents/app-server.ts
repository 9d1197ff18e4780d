/**
 * Codex's app-server without Codex: a WebSocket on its control socket that answers and tells what a
 * test gives it, such as the frames of a recording.
 */
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { WebSocketServer, type WebSocket } from "ws";
import { field } from "../../../src/core/text.ts";

type Answer = (params: unknown) => unknown;

export class FakeAppServer implements AsyncDisposable {
  readonly path: string;
  /** By method, maybe later. A method without one gets no answer. */
  readonly answers = new Map<string, Answer>([["initialize", () => ({})]]);
  /** What clients asked, in order. */
  readonly asked: string[] = [];
  readonly #http = createServer();
  readonly #sockets = new WebSocketServer({ server: this.#http });

  private constructor(codexHome: string) {
    const folder = join(codexHome, "app-server-control");
    mkdirSync(folder, { recursive: true });
    this.path = join(folder, "app-server-control.sock");
    this.#sockets.on("connection", (socket) => {
      socket.on("message", (data: Buffer) => void this.#hear(socket, JSON.parse(data.toString())));
    });
  }

  /** In the folder that CODEX_HOME names. */
  static async start(codexHome: string): Promise<FakeAppServer> {
    const server = new FakeAppServer(codexHome);
    server.#http.listen(server.path);
    await once(server.#http, "listening");
    return server;
  }

  /** To every client: a frame, or whatever else goes over the wire. */
  tell(frame: object | string): void {
    const text = typeof frame === "string" ? frame : JSON.stringify(frame);
    for (const client of this.#sockets.clients) client.send(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate();
    this.#sockets.close();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #hear(socket: WebSocket, message: unknown): Promise<void> {
    const [id, method] = [field(message, "id"), String(field(message, "method"))];
    this.asked.push(method);
    const answer = this.answers.get(method);
    if (id === undefined || !answer) return;
    const result = await answer(field(message, "params"));
    socket.send(JSON.stringify({ id, result }));
  }
}
