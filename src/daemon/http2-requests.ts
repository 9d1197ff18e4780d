/**
 * HTTP/2 at the HTTP door, over TLS, by Node's own server. Its requests and answers get what those
 * of HTTP/1.1 have and they lack, so that no wire knows by which of the two it was called.
 *
 * Node bounds what one connection holds (memory, resets, frames that are wrong); what waits is
 * counted as it is for HTTP/1.1.
 */
import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
} from "node:http2";
import type { Socket } from "node:net";
import type { HttpLimits } from "./limits.ts";

export type TakeRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  isAsked: boolean,
) => void;

export class Http2Requests {
  readonly #limits: HttpLimits;
  readonly #take: TakeRequest;
  /** The connections below the sessions, which hand out none that can be closed. */
  readonly #sessions = new Map<Http2Session, Socket>();
  /** Takes connections that were accepted elsewhere. */
  readonly listener: EventEmitter;

  constructor(limits: HttpLimits, take: TakeRequest) {
    this.#limits = limits;
    this.#take = take;
    const { streams: maxConcurrentStreams, headerBytes: maxHeaderListSize } = limits;
    const server = createServer({
      maxSessionMemory: limits.http2Megabytes,
      settings: { maxConcurrentStreams, maxHeaderListSize, enableConnectProtocol: false },
    });
    let arriving: Socket | undefined;
    server.prependListener("connection", (socket: Socket) => (arriving = socket));
    server.on("session", (session) => {
      if (arriving) this.#open(session, arriving);
    });
    server.on("request", (request, response) => this.#serve(request, response, false));
    server.on("checkContinue", (request, response) => this.#serve(request, response, true));
    this.listener = server;
  }

  /** No new requests; those under way may finish. */
  close(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  #open(session: Http2Session, socket: Socket): void {
    this.#sessions.set(session, socket);
    session.on("close", () => this.#sessions.delete(session));
    // It is told by its end.
    session.on("error", () => undefined);
    session.setTimeout(this.#limits.stallMs, () => session.close());
  }

  #serve(request: Http2ServerRequest, response: Http2ServerResponse, isAsked: boolean): void {
    const { stream } = request;
    const socket = stream.session && this.#sessions.get(stream.session);
    if (!socket) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    request.headers.host ??= request.headers[":authority"];
    Object.defineProperty(request, "socket", { value: socket });
    Object.defineProperties(response, {
      destroyed: { get: () => stream.destroyed },
      writableNeedDrain: { get: () => stream.writableNeedDrain },
    });
    stream.setTimeout(this.#limits.requestMs, () => {
      if (!stream.endAfterHeaders && !stream.readableEnded) stream.close(constants.NGHTTP2_CANCEL);
    });
    this.#take(
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse,
      isAsked,
    );
  }
}

/** Its connection goes on, whatever becomes of it. */
export function isHttp2({ httpVersionMajor }: IncomingMessage): boolean {
  return httpVersionMajor === 2;
}
