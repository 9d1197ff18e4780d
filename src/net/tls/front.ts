/**
 * The one place where a server gets its connections from a port: plain ones, or, where there is a
 * key pair, TLS and plain ones by the same port.
 *
 *   port ──▶ first byte ──22, a TLS handshake──▶ TLS ──▶ server
 *                       └─all else───────────────────▶ server
 *
 * Plain connections are for callers on this machine and in trusted networks, whose programs may
 * know nothing of TLS. That all others are refused is for whoever asks who is calling.
 */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { sortByFirstBytes } from "../first-bytes.ts";
import type { KeyPair } from "./pair.ts";

/** By ALPN, the best first. */
export type Protocol = "h2" | "http/1.1";

export interface FrontOptions {
  /** Absent: all connections are plain. */
  readonly pair: KeyPair | undefined;
  readonly protocols: readonly Protocol[];
}

/** The first byte of every TLS connection; neither HTTP/1.1 nor HTTP/2 begins with it. */
const TLS_HANDSHAKE = 22;
/** How long a client may take to shake hands. */
const HANDSHAKE_MS = 10_000;

/** The server to listen with. `behind` takes the connections, and is never bound itself. */
export function frontOf(behind: Server, { pair, protocols }: FrontOptions): Server {
  if (!pair) return behind;
  const tls = createTlsServer({
    ALPNProtocols: [...protocols],
    requestCert: pair.asksClients,
    // A wrong certificate is refused with a reason, by the one who asks who is calling.
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
  });
  pair.follow((texts) => tls.setSecureContext(texts));
  const begun = new Set<Socket>();
  const give = (socket: Socket | TLSSocket) => behind.emit("connection", socket);
  tls.on("secureConnection", give);
  // The other end gave up, or does not know us: it has its answer, and there is nobody to tell.
  tls.on("tlsClientError", (_error, socket) => socket.destroy());
  const front = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    begun.add(socket);
    socket.once("close", () => begun.delete(socket));
    sortByFirstBytes(socket, ([first]) =>
      first === TLS_HANDSHAKE ? { server: tls, isReading: true } : { server: behind },
    );
  });
  front.on("listening", () => {
    front.maxConnections = behind.maxConnections;
    // A server of HTTP begins to look for slow clients by this.
    behind.emit("listening");
    front.on("error", (error) => behind.emit("error", error));
  });
  return front;
}
