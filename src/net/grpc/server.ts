/**
 * gRPC on our own HTTP/2: services in, calls served. No library in between: a call that does next
 * to nothing costs a fraction of what it costs there, and what goes to a thousand streams is
 * encoded once.
 *
 * Nothing here trusts the other end: what is not gRPC is refused, what is larger than its method
 * allows is refused by its first bytes, who sends half a message is not waited for, and who
 * vanished without a word is found out by pings.
 */
import { createServer, type Server as NetServer, type Socket } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import { RollcallError } from "../../core/errors.ts";
import type { Access } from "../../core/access.ts";
import type { By } from "../../core/by.ts";
import { Http2Connection } from "../http2/connection.ts";
import { encoded } from "../http2/hpack.ts";
import type { Stream } from "../http2/stream.ts";
import type { WaitingCounters } from "../waiting.ts";
import type { ServerLimits } from "./limits.ts";
import { serving, type Serve } from "./method.ts";
import { ServerCall } from "./server-call.ts";
import type { Handlers, Meter, ServiceLimits } from "./service.ts";
import { grpcStatusOf, type FieldName } from "./status.ts";

/** A caller, before its call is served. */
export interface GrpcCaller {
  /** Of the connection that the call came by. */
  readonly socket: Socket;
  header(name: string): string | undefined;
  headerNames(): Iterable<string>;
}

export interface GrpcServerOptions {
  readonly limits: ServerLimits;
  /** Counts what comes and goes, and has to wait. */
  readonly waiting: Pick<WaitingCounters, "grpc_requests" | "grpc_answers">;
  /**
   * The caller, for the handlers. Throws, or rejects, when it is not to be served. `access` is the
   * right that the method needs; none where every caller may call it.
   */
  readonly admit: (caller: GrpcCaller, access: Access | undefined) => By | Promise<By>;
  readonly meterOf?: (path: string) => Meter;
  /** A call met a fault of this program. */
  readonly onFault?: (path: string, error: unknown) => void;
}

/** One for every method: a method without an access does not compile. */
export type Accesses<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: Access;
};

interface Method {
  readonly serve: Serve;
  readonly access: Access | undefined;
}

export interface AddOptions<Service extends DescService> extends ServiceLimits<Service> {
  /** The right that each method needs. */
  readonly accesses?: Accesses<Service>;
  /** Serves it under another full name as well: the same messages, an older path. */
  readonly name?: string;
  /** As it is where it is not given. */
  readonly fieldName?: FieldName;
}

export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #methods = new Map<string, Method>();
  readonly #connections = new Set<Http2Connection>();
  /** Accepts connections; to be bound, counted and closed like that of any other door. */
  readonly listener: NetServer;
  /** Connections that ended because the client did too much of what only costs us; for metrics. */
  floods = 0;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    this.listener = createServer({ noDelay: true }, (socket) => this.#greet(socket));
  }

  add<Service extends DescService>(
    service: Service,
    handlers: Handlers<Service>,
    { name = service.typeName, bytes = {}, accesses, fieldName }: AddOptions<Service> = {},
  ): void {
    const { limits, waiting, meterOf = () => UNCOUNTED, onFault = () => undefined } = this.#options;
    const byName: Readonly<Record<string, unknown>> = handlers;
    const limitOf: Readonly<Record<string, number | undefined>> = bytes;
    const accessOf: Readonly<Record<string, Access>> = accesses ?? {};
    for (const method of service.methods) {
      const path = `/${name}/${method.name}`;
      const serve = serving(method, byName[method.localName], {
        maxBytes: limitOf[method.localName] ?? limits.messageBytes,
        lastWordsMs: limits.lastWordsMs,
        meter: meterOf(path),
        requests: waiting.grpc_requests,
        fieldName,
        onFault: (error) => onFault(path, error),
      });
      this.#methods.set(path, { serve, access: accessOf[method.localName] });
    }
  }

  /** Tells every client to open no more calls here; those under way may finish. */
  stopAccepting(): void {
    for (const connection of this.#connections) connection.close();
  }

  #greet(socket: Socket): void {
    const connection = new Http2Connection(socket, {
      limits: this.#options.limits,
      answers: this.#options.waiting.grpc_answers,
      onStream: (stream) => this.#take(stream),
      onClose: (isFlood) => {
        this.#connections.delete(connection);
        if (isFlood) this.floods += 1;
      },
    });
    this.#connections.add(connection);
  }

  #take(stream: Stream): void {
    const refusal = httpProblem(stream.headers);
    if (refusal) return stream.endWith(refusal);
    const call = new ServerCall(stream);
    try {
      const path = stream.headers.get(":path") ?? "";
      const method = this.#methods.get(path);
      if (!method) throw new RollcallError("UNIMPLEMENTED", `there is no method ${path}`);
      call.admit(this.#options.admit(call, method.access));
      call.startDeadline();
      // Before its caller is known: what comes is counted from its first byte.
      method.serve(call);
    } catch (error) {
      call.fail(grpcStatusOf(error));
    }
  }
}

const WRONG_METHOD = encoded([[":status", "405"]]);
const WRONG_TYPE = encoded([[":status", "415"]]);

/** The answer to what is no gRPC at all. */
function httpProblem(headers: ReadonlyMap<string, string>): Buffer | undefined {
  if (headers.get(":method") !== "POST") return WRONG_METHOD;
  const isGrpc = headers.get("content-type")?.startsWith("application/grpc") ?? false;
  return isGrpc ? undefined : WRONG_TYPE;
}

const UNCOUNTED: Meter = { served: () => undefined, took: () => undefined };
