/**
 * The one place where a server gets its connections from a port: plain ones, or, where there is a
 * key pair, TLS and plain ones by the same port.
 *
 *   port ──▶ first byte ──22, a TLS handshake──▶ TLS ──▶ server
 *                       └─all else───────────────────▶ server
 *
 * Plain connections are for callers on this machine and in trusted networks, whose programs may
 * know nothing of TLS. All other callers are refused by the identity chain (identity/chain.ts).
 */
import type { EventEmitter } from "node:events";
import { Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { sortByFirstBytes } from "../first-bytes.ts";
import type { KeyPair } from "./pair.ts";

/** By ALPN, the best first. */
export type Protocol = "h2" | "http/1.1";

export interface FrontOptions {
  /** Absent: all connections are plain. */
  readonly pair: KeyPair | undefined;
  readonly protocols: readonly Protocol[];
  /** Takes the connections that chose h2, where the server behind does not. */
  readonly h2?: EventEmitter;
}

/** The first byte of every TLS connection; neither HTTP/1.1 nor HTTP/2 begins with it. */
const TLS_HANDSHAKE = 22;
/** How long a client may take to shake hands. */
const HANDSHAKE_MS = 10_000;

/** A port with TLS has a connection that has not said enough yet; and no longer has it. */
export const BEGUN = "begun";
export const HANDED = "handed";

/** The server to listen with. `behind` takes the connections, and is never bound itself. */
export function frontOf(behind: Server, { pair, protocols, h2 }: FrontOptions): Server {
  if (!pair) return behind;
  const tls = createTlsServer({
    ALPNProtocols: [...protocols],
    requestCert: pair.asksClients,
    // A wrong certificate is refused with a reason, by the one who asks who is calling.
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
  });
  pair.follow((texts) => tls.setSecureContext(texts));
  // The other end gave up, or does not know us: it has its answer, and there is nobody to tell.
  tls.on("tlsClientError", (_error, socket) => socket.destroy());
  return new Front(behind, tls, h2);
}

class Front extends Server {
  /** Connections that nobody behind has yet, by the address and the port of their other end. */
  readonly #begun = new Map<string, Socket>();

  constructor(behind: Server, tls: Server, h2: EventEmitter = behind) {
    super({ noDelay: true, allowHalfOpen: true }, (socket) => {
      const name = nameOf(socket);
      this.#begun.set(name, socket);
      socket.once("close", () => this.#begun.delete(name));
      this.emit(BEGUN, socket);
      sortByFirstBytes(socket, ([first]) => {
        if (first === TLS_HANDSHAKE) return { server: tls, isReading: true };
        this.#hand(name);
        return { server: behind };
      });
    });
    tls.on("secureConnection", (socket: TLSSocket) => {
      this.#hand(nameOf(socket));
      (socket.alpnProtocol === "h2" ? h2 : behind).emit("connection", socket);
    });
    this.on("listening", () => {
      this.maxConnections = behind.maxConnections;
      // A server of HTTP begins to look for slow clients by this.
      behind.emit("listening");
      this.on("error", (error) => behind.emit("error", error));
      this.on("drop", (dropped) => behind.emit("drop", dropped));
    });
  }

  #hand(name: string): void {
    const socket = this.#begun.get(name);
    this.#begun.delete(name);
    if (socket) this.emit(HANDED, socket);
  }

  /** Connections that were handed on are for their server to end. */
  override close(done?: (error?: Error) => void): this {
    for (const socket of this.#begun.values()) socket.destroy();
    return super.close(done);
  }
}

function nameOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
