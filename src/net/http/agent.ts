/**
 * The connections of a client to a daemon. At the usual address they go by the daemon's own socket
 * where there is one: only this user can have opened it, while a port may be anybody's.
 */
import { existsSync } from "node:fs";
import { Agent, type ClientRequestArgs } from "node:http";
import { connect, type NetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { socketPath } from "../../machine/places.ts";
import type { Environment } from "../../machine/surroundings.ts";
import { CLIENT } from "./limits.ts";
import { DEFAULT_URL } from "./url.ts";

/**
 * Connections are used again, and let go well before a daemon closes them: a request that is sent
 * just then is lost, and nobody knows whether it was done.
 */
const REUSED = { keepAlive: true, timeout: CLIENT.idleMs } as const;

export function daemonAgent(url: string, env: Environment = process.env): Agent {
  const path = url === DEFAULT_URL ? socketPath(env) : "";
  return path !== "" && existsSync(path) ? new SocketAgent(path) : new Agent(REUSED);
}

class SocketAgent extends Agent {
  readonly #path: string;

  constructor(path: string) {
    super(REUSED);
    this.#path = path;
  }

  /** A socket that a killed daemon left behind answers nobody; another may have the address. */
  override createConnection(
    options: ClientRequestArgs,
    made: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const socket = connect(this.#path);
    const fallBack = () => made(null, connect(options as NetConnectOpts));
    socket.once("error", fallBack);
    socket.once("connect", () => {
      socket.off("error", fallBack);
      made(null, socket);
    });
  }
}
