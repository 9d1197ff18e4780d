/**
 * The gRPC door: HTTP/2, over TLS where there is a key pair. Wires add services; every call passes
 * the authenticator before its handler sees it.
 */
import type { Server, Socket } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import { SERVER_LIMITS } from "../net/grpc/limits.ts";
import { GrpcServer, type Accesses, type AddOptions, type GrpcCaller } from "../net/grpc/server.ts";
import type { GrpcCall, Handlers, Meter } from "../net/grpc/service.ts";
import { REFLECTION, reflectionOf } from "../net/grpc/reflection.ts";
import type { Address } from "./address.ts";
import {
  byOfCall,
  peerOf as peerOfSocket,
  type Authenticator,
  type Caller,
  type Peer,
} from "../identity/caller.ts";
import type { Access } from "../core/access.ts";
import { LOCAL, type Principal } from "../core/principals.ts";
import type { Permit } from "../operations/access.ts";
import { ADMITTED } from "../wires/route.ts";
import type { CallRate } from "./call-rate.ts";
import { GRPC_CONNECTIONS } from "./limits.ts";
import { listen } from "./listen.ts";
import { Sockets } from "./sockets.ts";
import { frontOf } from "../net/tls/front.ts";
import type { KeyPair } from "../net/tls/pair.ts";
import { newWaiting, type WaitingCounters } from "../net/waiting.ts";

export interface GrpcDoorOptions {
  readonly authenticator: Authenticator;
  readonly permit: Permit;
  /** Both are shared by all doors of the process. */
  readonly calls: CallRate;
  readonly waiting?: WaitingCounters;
  readonly meterOf?: (path: string) => Meter;
  /** A call met a fault of this program. */
  readonly onFault?: (path: string, error: unknown) => void;
  /** The other end of a connection; a test puts a stranger there. */
  readonly peerOf?: (socket: Socket) => Peer;
  /** Absent: all connections are plain. */
  readonly pair?: KeyPair | undefined;
  /** At a time. */
  readonly connections?: number;
  /** A connection was closed without a word: there are too many. */
  readonly onRefused?: () => void;
}

/** The right that each method needs, or that every caller that was let in may call it. */
type GuardedService<Service extends DescService> = Omit<AddOptions<Service>, "accesses"> & {
  readonly accesses: Accesses<Service> | typeof ADMITTED;
};

/** One is made for every call. */
class CallerOfGrpc implements Caller {
  readonly wire = "grpc";
  readonly peer: Peer;
  readonly #caller: GrpcCaller;
  forwardedFor?: string;

  constructor(caller: GrpcCaller, peer: Peer) {
    this.#caller = caller;
    this.peer = peer;
  }

  header(name: string): string | undefined {
    return this.#caller.header(name);
  }

  headerNames(): Iterable<string> {
    return this.#caller.headerNames();
  }
}

export class GrpcDoor {
  readonly #grpc: GrpcServer;
  readonly #front: Server;
  readonly #sockets: Sockets;
  readonly #services: DescService[] = [];
  readonly #permit: Permit;

  constructor(given: GrpcDoorOptions) {
    const { authenticator, permit, peerOf = peerOfSocket, pair, ...options } = given;
    const { calls, waiting = newWaiting(), connections: max = GRPC_CONNECTIONS, onRefused } = given;
    this.#permit = permit;
    this.#grpc = new GrpcServer({
      ...options,
      limits: SERVER_LIMITS,
      waiting,
      admit: (caller, access) => {
        const call = new CallerOfGrpc(caller, peerOf(caller.socket));
        calls.takeFrom(call.peer);
        const admitted = authenticator.authenticate(call);
        const check = (principal: Principal) => {
          // The daemon's own user has agents by the thousand here, and each of them a heartbeat.
          if (principal !== LOCAL) calls.take(principal.name);
          const by = byOfCall(call, principal, "grpc");
          if (access) permit(by, access);
          this.#sockets.claim(caller.socket, principal.name);
          return by;
        };
        return admitted instanceof Promise ? admitted.then(check) : check(admitted);
      },
    });
    this.#front = frontOf(this.#grpc.listener, { pair, protocols: ["h2"] });
    this.#sockets = new Sockets(this.#grpc.listener, { max, onRefused });
    this.#sockets.followFront(this.#front);
  }

  add<Service extends DescService>(
    service: Service,
    handlers: Handlers<Service>,
    { accesses, ...limits }: GuardedService<Service>,
  ): void {
    this.#services.push(service);
    if (accesses === ADMITTED) return this.#grpc.add(service, handlers, limits);
    this.#grpc.add(service, this.#guarded(handlers, accesses), { ...limits, accesses });
  }

  /** A method that is about one thing is asked for once more, when the message says which. */
  #guarded<Service extends DescService>(
    handlers: Handlers<Service>,
    accesses: Accesses<Service>,
  ): Handlers<Service> {
    const guarded: Record<string, unknown> = { ...handlers };
    for (const [name, access] of Object.entries<Access>(accesses)) {
      if (!access.resource.includes("{")) continue;
      const handle = guarded[name] as (request: object, call: GrpcCall) => unknown;
      guarded[name] = (request: object, call: GrpcCall) => {
        this.#permit(call.by, access, request);
        return handle(request, call);
      };
    }
    return guarded as Handlers<Service>;
  }

  /** Lets clients ask what was added: to be called last. Older ones ask under another name. */
  addReflection(): void {
    const [current] = REFLECTION;
    this.#services.push(...REFLECTION);
    const handlers = reflectionOf(this.#services);
    for (const { typeName: name } of REFLECTION) this.#grpc.add(current, handlers, { name });
  }

  get services(): readonly DescService[] {
    return this.#services;
  }

  /** Takes connections that were accepted elsewhere, too. */
  get listener(): Server {
    return this.#grpc.listener;
  }

  get failed(): Promise<Error> {
    return this.#sockets.failed;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Connections that ended because the client did too much of what only costs us. */
  get floods(): number {
    return this.#grpc.floods;
  }

  listen(address: Address): Promise<Address> {
    return listen(this.#front, address);
  }

  /** No new connections, no new calls; those under way may finish. */
  stopAccepting(): void {
    this.#front.close();
    this.#grpc.stopAccepting();
  }

  async close(graceMs: number): Promise<void> {
    this.stopAccepting();
    await this.#sockets.drain(graceMs, () => undefined);
  }
}
