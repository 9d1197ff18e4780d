/**
 * The connections of a client to a daemon. At the usual address they go by the daemon's own socket
 * where there is one: only this user can have opened it, while a port may be anybody's. An https
 * address is called over TLS, and only if the server is the right one.
 */
import { existsSync } from "node:fs";
import { Agent, type ClientRequestArgs } from "node:http";
import { connect, type NetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { socketPath } from "../../machine/places.ts";
import { connectTls, type ServerTrust } from "../tls/trust.ts";
import { HTTP_CLIENT } from "./limits.ts";
import { DEFAULT_URL } from "./url.ts";

/**
 * Connections are used again, and let go well before a daemon closes them: a request that is sent
 * just then is lost, and nobody knows whether it was done.
 */
const REUSED = { keepAlive: true, timeout: HTTP_CLIENT.idleMs } as const;

export interface DaemonPlace {
  readonly url: string;
  /** The daemon's own socket; unless set that of this user, where the URL is the usual one. */
  readonly socket?: string | false;
  /** Of a daemon with TLS. */
  readonly trust?: ServerTrust | undefined;
}

export function daemonAgent({ url, trust, ...place }: DaemonPlace): Agent {
  if (url.startsWith("https:")) return new TlsAgent(trust ?? {});
  const { socket = url === DEFAULT_URL && socketPath() } = place;
  return socket !== false && existsSync(socket) ? new SocketAgent(socket) : new Agent(REUSED);
}

type ConnectionCallback = (error: Error | null, stream: Duplex) => void;

class SocketAgent extends Agent {
  readonly #path: string;

  constructor(path: string) {
    super(REUSED);
    this.#path = path;
  }

  /** A socket that a killed daemon left behind answers nobody; another may have the address. */
  override createConnection(options: ClientRequestArgs, made: ConnectionCallback): undefined {
    const socket = connect(this.#path);
    const fallBack = () => made(null, connect(options as NetConnectOpts));
    socket.once("error", fallBack);
    socket.once("connect", () => {
      socket.off("error", fallBack);
      made(null, socket);
    });
  }
}

/** Node's own agent for https cannot pin a certificate that no authority signed. */
class TlsAgent extends Agent {
  readonly #trust: ServerTrust;
  /** Node's requests compare it with that of their URL, and lack a port where the URL does. */
  readonly protocol = "https:";
  readonly defaultPort = 443;

  constructor(trust: ServerTrust) {
    super(REUSED);
    this.#trust = trust;
  }

  override createConnection(
    { host, port }: ClientRequestArgs,
    made: ConnectionCallback,
  ): undefined {
    const target = { host: host ?? "", port: Number(port), protocol: "http/1.1" } as const;
    connectTls(target, this.#trust, made);
  }
}
