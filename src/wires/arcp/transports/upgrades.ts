/**
 * The server's end of WebSockets: which requests become one. Path, Host and Origin are looked at
 * before the upgrade, so that what is refused gets a plain HTTP answer: a web page whose name was
 * made to point here shows in Host, one of another origin in Origin.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Transport } from "../server/transport.ts";
import { CLOSE_CODE } from "./limits.ts";
import { Vigil, type VigilOptions } from "./vigil.ts";
import { SOCKET_OPTIONS, webSocketTransport } from "./websocket.ts";

export interface UpgradeOptions extends VigilOptions {
  /** Gets every connection that was let in, with the request it began as. */
  readonly accept: (transport: Transport, request: IncomingMessage) => void;
  /** Where it is; what comes after `?` is not looked at. */
  readonly path?: string;
  /** Values of Host, with or without a port; absent for those of loopback. `*` lets in all. */
  readonly allowedHosts?: readonly string[];
}

const PATH = "/arcp";
const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
/** The subprotocol we prefer; a client that does not offer it gets its first. */
const PROTOCOL = "arcp.v1.1";

export class Upgrades {
  readonly #server: WebSocketServer;
  readonly #vigil: Vigil;
  readonly #accept: UpgradeOptions["accept"];
  readonly #path: string;
  readonly #hosts: readonly string[];

  constructor({ accept, path = PATH, allowedHosts = LOOPBACK, ...vigil }: UpgradeOptions) {
    this.#vigil = new Vigil(vigil);
    this.#accept = accept;
    this.#path = path;
    this.#hosts = allowedHosts.map((host) => host.toLowerCase());
    this.#server = new WebSocketServer({
      ...SOCKET_OPTIONS,
      noServer: true,
      // The vigil answers pings.
      autoPong: false,
      handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : ([...offered][0] ?? false)),
    });
  }

  /** For `server.on("upgrade", …)`. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const refusal = this.#refusalOf(request);
    if (refusal) {
      refuse(socket, refusal);
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      // Nothing is read before somebody listens to the transport.
      opened.pause();
      const onWritten = this.#vigil.add(opened, socket);
      this.#accept(webSocketTransport(opened, socket, onWritten), request);
    });
  };

  /** Ends every connection. Idempotent. */
  close(): void {
    for (const socket of this.#server.clients)
      socket.close(CLOSE_CODE.leaving, "the runtime stops");
    this.#server.close();
    this.#vigil.close();
  }

  #refusalOf({ url = "/", headers }: IncomingMessage): string | undefined {
    if (url.split("?", 1)[0] !== this.#path) return "404 Not Found";
    const host = headers.host?.toLowerCase() ?? "";
    if (!this.#isOurs(host)) return "403 Forbidden";
    const { origin } = headers;
    const isOwn = origin === undefined || /^https?:\/\/(.+)$/.exec(origin)?.[1] === host;
    return isOwn ? undefined : "403 Forbidden";
  }

  #isOurs(host: string): boolean {
    const name = host.replace(/:\d+$/, "");
    return this.#hosts.some((each) => each === "*" || each === host || each === name);
  }
}

function refuse(socket: Duplex, status: string): void {
  socket.on("error", () => undefined);
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
