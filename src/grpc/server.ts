/**
 * gRPC on Node's HTTP/2: services in, calls served. Own framing instead of a library: a call that
 * does next to nothing costs half of what it costs there, and what goes to a thousand streams is
 * encoded once.
 *
 * Nothing here trusts the other end: what is not gRPC is refused, what is larger than its method
 * allows is refused by its first bytes, who sends half a message is not waited for, and who
 * vanished without a word is found out by pings.
 */
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Server as NetServer, Socket } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import { RollcallError } from "../core/errors.ts";
import { Gathering } from "./gathering.ts";
import { keepAlive } from "./keepalive.ts";
import type { ServerLimits } from "./limits.ts";
import { serving, type Serve } from "./method.ts";
import { ServerCall } from "./server-call.ts";
import type { Handlers, Meter, ServiceLimits } from "./service.ts";
import { grpcStatusOf } from "./status.ts";

/** What is known of a caller before its call is served. */
export interface Caller {
  /** The other end of the connection, as the kernel says. */
  readonly peer: string | undefined;
  header(name: string): string | undefined;
}

export interface GrpcServerOptions {
  readonly limits: ServerLimits;
  /** Throws, or rejects, when the caller is not to be served. */
  readonly admit: (caller: Caller) => unknown;
  readonly meterOf?: (path: string) => Meter;
  /** A call met a fault of this program. */
  readonly onFault?: (path: string, error: unknown) => void;
}

export interface AddOptions<Service extends DescService> extends ServiceLimits<Service> {
  /** Serves it under another full name as well: the same messages, an older path. */
  readonly name?: string;
}

export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #http: Http2Server;
  readonly #methods = new Map<string, Serve>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #gathering: Gathering;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    const { limits } = options;
    this.#gathering = new Gathering(limits);
    this.#http = createServer({
      maxSessionMemory: limits.sessionMiB,
      settings: {
        enablePush: false,
        maxConcurrentStreams: limits.streams,
        maxHeaderListSize: limits.headerBytes,
      },
    });
    this.#http.on("connection", (socket: Socket) => socket.setNoDelay(true));
    this.#http.on("session", (session) => this.#greet(session));
    // A connection that speaks no HTTP/2 ends by itself.
    this.#http.on("sessionError", () => undefined);
    this.#http.on("stream", (stream, headers) => this.#take(stream, headers));
  }

  /** What accepts connections; to be bound, counted and closed like that of any other door. */
  get listener(): NetServer {
    return this.#http;
  }

  add<Service extends DescService>(
    service: Service,
    handlers: Handlers<Service>,
    { name = service.typeName, bytes = {} }: AddOptions<Service> = {},
  ): void {
    const { limits, meterOf = () => UNCOUNTED, onFault = () => undefined } = this.#options;
    const byName: Readonly<Record<string, unknown>> = handlers;
    const limitOf: Readonly<Record<string, number | undefined>> = bytes;
    for (const method of service.methods) {
      const path = `/${name}/${method.name}`;
      const serve = serving(method, byName[method.localName], {
        maxBytes: limitOf[method.localName] ?? limits.messageBytes,
        lastWordsMs: limits.lastWordsMs,
        meter: meterOf(path),
        gathering: this.#gathering,
        onFault: (error) => onFault(path, error),
      });
      this.#methods.set(path, serve);
    }
  }

  /** Tells every client to open no more calls here; those under way may finish. */
  stopAccepting(): void {
    for (const session of this.#sessions) session.close();
  }

  #greet(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    session.on("error", ignore);
    session.once("close", () => this.#sessions.delete(session));
    keepAlive(session, this.#options.limits);
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on("error", ignore);
    const call = new ServerCall(stream, headers);
    const problem = httpProblem(headers);
    if (problem !== undefined) return refuse(stream, problem);
    try {
      const serve = this.#methods.get(headers[":path"] ?? "");
      if (!serve) {
        throw new RollcallError("UNIMPLEMENTED", `there is no method ${headers[":path"]}`);
      }
      const admitted = this.#options.admit({
        peer: stream.session?.socket.remoteAddress,
        header: (name) => call.header(name),
      });
      if (admitted instanceof Promise) void this.#serveLater(call, serve, admitted);
      else start(call, serve);
    } catch (error) {
      call.fail(grpcStatusOf(error));
    }
  }

  async #serveLater(call: ServerCall, serve: Serve, admitted: Promise<unknown>): Promise<void> {
    try {
      await admitted;
      start(call, serve);
    } catch (error) {
      call.fail(grpcStatusOf(error));
    }
  }
}

function start(call: ServerCall, serve: Serve): void {
  call.startDeadline();
  serve(call);
}

function ignore(): void {
  // What broke is closed, and that is listened to.
}

/** The HTTP status for what is no gRPC at all. */
function httpProblem(headers: IncomingHttpHeaders): number | undefined {
  if (headers[":method"] !== "POST") return 405;
  const type = headers["content-type"];
  return type?.startsWith("application/grpc") ? undefined : 415;
}

function refuse(stream: ServerHttp2Stream, status: number): void {
  stream.respond({ ":status": status }, { endStream: true });
  stream.resume();
}

const UNCOUNTED: Meter = { served: () => undefined, took: () => undefined };
