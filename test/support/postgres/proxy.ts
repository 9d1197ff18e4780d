/**
 * A proxy before a Postgres that looks at each message of the server before it passes it on: what
 * the network may do to an answer, at the moment that a test chooses.
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** By the byte of the protocol. */
const READY = "Z";
export const NOTIFICATION = "A";

export type Fate = "pass" | "drop" | "cut";

export class PostgresProxy {
  /** Asked of every message that the server sends. */
  fate: (type: string) => Fate = () => "pass";
  /** Whether every connection is cut as soon as its client says something. */
  isDeaf = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #listening = new Set<Socket>();
  /** Nothing comes through these any more. */
  readonly #forgotten = new WeakSet<Socket>();
  #unlucky: string | undefined;

  private constructor(toPort: number) {
    this.#server = createServer((client) => this.#serve(client, toPort));
  }

  static async start(toPort: number): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(toPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  /** Of the next request that has this text in it, cuts the connection in place of the answer. */
  loseAnswerTo(text: string): void {
    this.#unlucky = text;
  }

  /** From now on nothing comes back, and nobody is told. */
  goSilent(): void {
    this.fate = () => "drop";
  }

  /** Of the connections of now nothing more comes through, and nobody is told; new ones work. */
  forget(which: "all" | "those that listen"): void {
    const forgotten = which === "all" ? this.#sockets : this.#listening;
    for (const client of forgotten) this.#forgotten.add(client);
  }

  #serve(client: Socket, toPort: number): void {
    const server = connect(toPort, "127.0.0.1");
    const end = () => {
      client.destroy();
      server.destroy();
      this.#sockets.delete(client);
      this.#listening.delete(client);
    };
    this.#sockets.add(client);
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
    let isUnlucky = false;
    client.on("data", (bytes) => {
      if (this.isDeaf) return end();
      if (this.#forgotten.has(client)) return;
      if (bytes.includes("LISTEN")) this.#listening.add(client);
      if (this.#unlucky !== undefined && bytes.includes(this.#unlucky)) {
        this.#unlucky = undefined;
        isUnlucky = true;
      }
      server.write(bytes);
    });
    let rest = Buffer.alloc(0);
    server.on("data", (bytes) => {
      if (this.#forgotten.has(client)) return;
      rest = Buffer.concat([rest, bytes]);
      while (rest.length >= 5 && rest.length >= 1 + rest.readUInt32BE(1)) {
        const message = rest.subarray(0, 1 + rest.readUInt32BE(1));
        rest = rest.subarray(message.length);
        const type = String.fromCharCode(message[0] ?? 0);
        const fate = isUnlucky ? (type === READY ? "cut" : "drop") : this.fate(type);
        if (fate === "pass") client.write(message);
        if (fate === "cut") return end();
      }
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
