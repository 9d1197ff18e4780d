/** A port of its own for ARCP: a server of WebSockets at one path, and of nothing else. */
import { createServer } from "node:http";
import { isIPv6 } from "node:net";
import { RollcallError } from "../../../core/errors.ts";
import type { Transport } from "../server/transport.ts";
import { Upgrades } from "./upgrades.ts";

export interface ServeOptions {
  /** Without it this machine only; a wider bind needs `hosts`, the names of this machine. */
  readonly host?: string;
  /** 0 asks the system for a free one. */
  readonly port?: number;
  readonly path?: string;
  readonly allowedHosts?: readonly string[];
}

export interface WebSocketDoor extends AsyncDisposable {
  /** Where clients connect: `ws://HOST:PORT/arcp`. */
  readonly url: string;
  /** Ends every connection and frees the port. Idempotent. */
  close(): Promise<void>;
}

/** Resolves when it listens. */
export async function serveWebSocket(
  accept: (transport: Transport) => void,
  { host = "127.0.0.1", port = 0, path = "/arcp", allowedHosts }: ServeOptions = {},
): Promise<WebSocketDoor> {
  const names = allowedHosts ?? ["localhost", "127.0.0.1", "[::1]", bracketed(host)];
  const upgrades = new Upgrades({ accept, path, allowedHosts: names });
  const server = createServer((_, response) => {
    response.writeHead(426, { Upgrade: "websocket", Connection: "Upgrade" }).end();
  });
  server.on("upgrade", upgrades.upgrade);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const message = `cannot listen on ${bracketed(host)}:${port}: ${cause.message}`;
      reject(new RollcallError("UNAVAILABLE", message, { cause }));
    });
    server.listen({ host, port }, resolve);
  });
  const address = server.address();
  const bound = typeof address === "object" && address ? address.port : port;
  let closing: Promise<void> | undefined;
  const close = () => {
    upgrades.close();
    closing ??= new Promise((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    return closing;
  };
  return {
    url: `ws://${bracketed(host)}:${bound}${path}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
