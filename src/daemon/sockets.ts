/** The connections of a door: counted, and cut when it closes, upgraded and streaming ones too. */
import type { IncomingMessage } from "node:http";
import type { Server, Socket } from "node:net";

/** How often a closing door looks whether connections have become idle. */
const LOOK_MS = 20;

export class Sockets {
  readonly #open = new Set<Socket>();
  /** Resolves when the server breaks after it was open. */
  readonly failed: Promise<Error>;
  #whenEmpty: (() => void) | undefined;

  constructor(server: Server, max: number) {
    server.maxConnections = max;
    this.failed = new Promise((resolve) => {
      server.once("listening", () => server.on("error", resolve));
    });
    server.on("connection", (socket) => {
      this.#open.add(socket);
      socket.once("close", () => {
        this.#open.delete(socket);
        if (this.#open.size === 0) this.#whenEmpty?.();
      });
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Resolves when all are closed, by themselves or cut after the grace. */
  async drain(graceMs: number, closeIdle: () => void): Promise<void> {
    if (this.#open.size === 0) return;
    closeIdle();
    const looking = setInterval(closeIdle, LOOK_MS);
    const cutting = setTimeout(() => {
      for (const socket of this.#open) socket.destroy();
    }, graceMs);
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
    });
    clearInterval(looking);
    clearTimeout(cutting);
  }

  /**
   * Reads on and drops what comes for a moment: a sender that is cut while it sends never looks at
   * the answer.
   */
  linger(request: IncomingMessage, lingerMs: number): void {
    const { socket } = request;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    timer.unref();
    socket.once("close", () => clearTimeout(timer));
    request.resume();
  }
}
