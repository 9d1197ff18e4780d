/**
 * For tests: a TCP proxy on this machine that can be cut, as a plug is pulled, or made to swallow
 * everything without ending a connection, as a router does that forgot it.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class Cable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: "whole" | "cut" | "swallowing" = "whole";

  /** The port that it leads to. */
  port = 0;
  /** Both ways. */
  carriedBytes = 0;

  static async open(): Promise<Cable> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const cable = new Cable(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return cable;
  }

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (near) => {
      if (this.#state === "cut") {
        near.resetAndDestroy();
        return;
      }
      const far = connect({ port: this.port, host: "127.0.0.1", noDelay: true });
      this.#carry(near, far);
      this.#carry(far, near);
    });
  }

  /** As callers know it. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Every connection ends, and new ones are refused. */
  cut(): void {
    this.#state = "cut";
    this.#end();
  }

  /** Connections stay open, new ones are taken, and nothing arrives. */
  swallow(): void {
    this.#state = "swallowing";
  }

  mend(): void {
    // What a connection lost on its way does not come again.
    this.#end();
    this.#state = "whole";
  }

  close(): void {
    this.#server.close();
    this.#end();
  }

  #carry(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on("data", (bytes) => {
      if (this.#state !== "whole" || !to.writable) return;
      this.carriedBytes += bytes.length;
      to.write(bytes);
    });
    from.on("end", () => {
      if (this.#state === "whole") to.end();
    });
    from.on("error", () => to.destroy());
    from.on("close", () => {
      this.#sockets.delete(from);
      if (this.#state === "whole") to.destroy();
    });
  }

  #end(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }
}
