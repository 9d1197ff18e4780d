/**
 * The gRPC door: HTTP/2 without TLS, as gRPC clients on one machine speak it. Wires add services;
 * every call passes the authenticator before its handler sees it.
 *
 * The listening socket is ours and connections are handed in, so that a taken port, the number of
 * connections and closing are the same as on the HTTP door.
 */
import { createServer, type Server as NetServer } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { definitionOf } from "../wires/keeper/definition.ts";
import { grpcStatusOf } from "../grpc/status.ts";
import { REFLECTION, reflectionOf } from "../wires/keeper/reflection.ts";
import type { Address } from "./address.ts";
import type { Authenticator } from "./auth.ts";
import { GRPC_LIMITS } from "./limits.ts";
import { listen } from "./listen.ts";
import { Sockets } from "./sockets.ts";

export interface GrpcDoorOptions {
  readonly authenticator: Authenticator;
  /** The other end of the connection; a test puts a stranger in its place. */
  readonly peerOf?: (call: grpc.ServerInterceptingCallInterface) => string | undefined;
}

export class GrpcDoor {
  readonly #grpc: grpc.Server;
  readonly #listener: NetServer;
  readonly #sockets: Sockets;
  readonly #services: DescService[] = [];

  constructor(options: GrpcDoorOptions) {
    this.#grpc = new grpc.Server({
      "grpc.max_receive_message_length": GRPC_LIMITS.messageBytes,
      "grpc.max_concurrent_streams": GRPC_LIMITS.streams,
      "grpc.keepalive_time_ms": GRPC_LIMITS.keepaliveMs,
      "grpc.keepalive_timeout_ms": GRPC_LIMITS.keepaliveTimeoutMs,
      "grpc.enable_channelz": 0,
      interceptors: [guard(options)],
    });
    const injector = this.#grpc.createConnectionInjector(grpc.ServerCredentials.createInsecure());
    this.#listener = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.setNoDelay(true);
      injector.injectConnection(socket);
    });
    this.#sockets = new Sockets(this.#listener, GRPC_LIMITS.connections);
  }

  add(service: DescService, implementation: grpc.UntypedServiceImplementation): void {
    this.#services.push(service);
    this.#grpc.addService(definitionOf(service), implementation);
  }

  /** Lets clients ask what was added: to be called last. Older ones ask under another name. */
  addReflection(): void {
    const [current] = REFLECTION;
    this.#services.push(...REFLECTION);
    const implementation = reflectionOf(this.#services);
    for (const { typeName } of REFLECTION) {
      this.#grpc.addService(definitionOf(current, typeName), implementation);
    }
  }

  get services(): readonly DescService[] {
    return this.#services;
  }

  get failed(): Promise<Error> {
    return this.#sockets.failed;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  listen(address: Address): Promise<Address> {
    return listen(this.#listener, address);
  }

  /** No new connections, no new calls; those under way may finish. */
  stopAccepting(): void {
    this.#listener.close();
    this.#grpc.tryShutdown(() => undefined);
  }

  async close(graceMs: number): Promise<void> {
    this.stopAccepting();
    await this.#sockets.drain(graceMs, () => undefined);
    this.#grpc.forceShutdown();
  }
}

function guard({ authenticator, peerOf }: GrpcDoorOptions): grpc.ServerInterceptor {
  const peer = peerOf ?? ((call) => call.getConnectionInfo().remoteAddress);
  return (_method, call) =>
    new grpc.ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const refuse = (error: unknown) => call.sendStatus(grpcStatusOf(error));
            try {
              const header = (name: string) => metadata.get(name)[0]?.toString();
              const admitted = authenticator.authenticate({ peer: peer(call), header });
              if (admitted instanceof Promise) admitted.then(() => pass(metadata), refuse);
              else pass(metadata);
            } catch (error) {
              refuse(error);
            }
          },
        }),
    });
}
