/**
 * A runtime inside a server that is there already: ARCP is a WebSocket, and in Node every framework
 * leaves those to the one `http.Server` below it. So one function serves them all:
 *
 *   node:http   mount(createServer(handler), runtime)
 *   Express     mount(app.listen(8080), runtime)
 *   Hono        mount(serve({ fetch: app.fetch }), runtime)
 *   Fastify     mount(fastify.server, runtime)
 *
 * Path, Host and Origin are looked at before the upgrade. Requests to other paths get a 404, unless
 * somebody else on the same server takes upgrades as well.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Duplex } from "node:stream";
import type { ArcpRuntime } from "./runtime.ts";
import { Upgrades, type UpgradeOptions } from "../transports/upgrades.ts";

export interface Mounted extends Disposable {
  /** Ends its connections and leaves the server as it was. Idempotent. */
  readonly close: () => void;
}

export function mount(
  server: Server | SecureServer,
  runtime: Pick<ArcpRuntime, "accept">,
  options: Omit<UpgradeOptions, "accept"> = {},
): Mounted {
  const { path = "/arcp" } = options;
  const upgrades = new Upgrades({ ...options, path, accept: (peer) => runtime.accept(peer) });
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const isOurs = request.url?.split("?", 1)[0] === path;
    if (isOurs || server.listenerCount("upgrade") === 1) upgrades.upgrade(request, socket, head);
  };
  server.on("upgrade", onUpgrade);
  const close = () => {
    server.off("upgrade", onUpgrade);
    upgrades.close();
  };
  return { close, [Symbol.dispose]: close };
}
