/**
 * The HTTP door. Everything passes the gate first, but for the few paths that answer anybody with
 * one word; then, by its path, one of
 *
 *   swift    answered as a whole, from the whole body: paths so busy that headers set one by one
 *            would cost more than the answer
 *   hot      answered at once on Node's own request and response: streams, large bodies
 *   upgrade  a WebSocket, handed over with its socket
 *   routes   hono, for everything else
 *
 * Wires mount what they have and know nothing of sockets, limits or hosts. Whatever they throw
 * becomes the same JSON refusal.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { RollcallError, type ErrorCode } from "../core/errors.ts";
import type { Permit } from "../operations/access.ts";
import { refusalOf } from "../wires/api/refusal.ts";
import { ADMITTED, type Bindings, type GuardedHandler, type WholeAnswer } from "../wires/route.ts";
import { bracketed, type Address } from "./address.ts";
import { byOf, type By } from "../core/by.ts";
import { NOBODY } from "../core/principals.ts";
import { peerOf, type Authenticator } from "../identity/caller.ts";
import { NoCredential } from "../identity/chain.ts";
import { readBody, takeBody, type BodyLimits } from "./body.ts";
import { hostsOf, SECURITY_HEADERS } from "./browsers.ts";
import { TooOften, type CallRate } from "./call-rate.ts";
import { joinFineChunks } from "./fine-chunks.ts";
import { Gate, type GateOptions } from "./gate.ts";
import { Http2Requests, isHttp2, type TakeRequest } from "./http2-requests.ts";
import { HTTP_LIMITS, type HttpLimits } from "./limits.ts";
import { listen } from "./listen.ts";
import type { HotHandler, Mount, SwiftHandler, UpgradeHandler } from "./mount.ts";
import { frontOf } from "../net/tls/front.ts";
import { namesOf } from "../net/tls/names.ts";
import type { KeyPair } from "../net/tls/pair.ts";
import { newWaiting, type WaitingCounters } from "../net/waiting.ts";
import { Sockets } from "./sockets.ts";
import { AnswerTurns } from "./turns.ts";
import { UnreadAnswers } from "./unread.ts";

export interface HttpDoorOptions {
  readonly authenticator: Authenticator;
  readonly permit: Permit;
  readonly allowedHosts: readonly string[];
  /** Shared by all doors of the process. */
  readonly calls: CallRate;
  readonly limits?: Partial<HttpLimits>;
  /** Shared by all doors of the process. */
  readonly waiting?: WaitingCounters;
  readonly peerOf?: GateOptions["peerOf"];
  /** Absent: all connections are plain. */
  readonly pair?: KeyPair | undefined;
  /** A connection was closed without a word: there are too many. */
  readonly onRefused?: () => void;
  /** A fault of ours, not of the caller's. */
  onFault(error: unknown): void;
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the client waits for a word before it sends its body. */
  readonly isAsked: boolean;
}

export class HttpDoor {
  readonly #options: HttpDoorOptions;
  readonly #limits: HttpLimits;
  readonly #server: Server;
  readonly #http2: Http2Requests;
  readonly #front: NetServer;
  readonly #sockets: Sockets;
  readonly #gate: Gate;
  readonly #bodies: BodyLimits;
  readonly #turns: AnswerTurns;
  readonly #unread: UnreadAnswers;
  readonly #anybody = new Map<string, () => WholeAnswer>();
  readonly #hot = new Map<string, GuardedHandler<HotHandler>>();
  readonly #swift = new Map<string, GuardedHandler<SwiftHandler>>();
  /** The headers of swift answers with those of every answer: most answers are one and the same. */
  readonly #joined = new WeakMap<WholeAnswer, string[]>();
  readonly #upgrades = new Map<string, GuardedHandler<UpgradeHandler>>();
  readonly #routes = new Hono<{ Bindings: Bindings }>();
  readonly #admitted = new WeakMap<IncomingMessage, By>();
  #hosts: ReadonlySet<string> = new Set();
  #isClosing = false;
  /** Since the start, for metrics. */
  readonly stats = { requests: 0, refusals: new Map<ErrorCode, number>() };

  constructor(options: HttpDoorOptions) {
    this.#options = options;
    this.#limits = { ...HTTP_LIMITS, ...options.limits };
    const { waiting = newWaiting() } = options;
    const { http_requests: requests, http_answers: answers } = waiting;
    this.#bodies = { maxBytes: this.#limits.bodyBytes, requests };
    this.#turns = new AnswerTurns({ requests, most: this.#limits.pipelined });
    this.#unread = new UnreadAnswers({ answers, stallMs: this.#limits.stallMs });
    this.#gate = new Gate({
      authenticator: options.authenticator,
      calls: options.calls,
      claim: ({ socket }, principal) => this.#sockets.claim(socket, principal),
      limits: this.#limits,
      hosts: () => this.#hosts,
      ...(options.peerOf && { peerOf: options.peerOf }),
    });
    this.#server = this.#createServer();
    const take: TakeRequest = (...call) => this.#take(...call);
    this.#http2 = new Http2Requests(this.#limits, take);
    this.#front = frontOf(this.#server, {
      pair: options.pair,
      protocols: ["h2", "http/1.1"],
      h2: this.#http2.listener,
    });
    const { onRefused } = options;
    this.#sockets = new Sockets(this.#server, { max: this.#limits.connections, onRefused });
    this.#sockets.follow(this.#http2.listener);
    this.#sockets.followFront(this.#front);
    this.#prepareRoutes();
  }

  mount({ anybody = {}, hot = {}, swift = {}, upgrades = {}, routes = [] }: Mount): void {
    for (const [path, answer] of Object.entries(anybody)) this.#anybody.set(path, answer);
    for (const [path, guarded] of Object.entries(swift)) this.#swift.set(path, guarded);
    for (const [path, guarded] of Object.entries(hot)) this.#hot.set(path, guarded);
    for (const [path, guarded] of Object.entries(upgrades)) this.#upgrades.set(path, guarded);
    for (const { method, path, access, handle } of routes) {
      this.#routes.on(method, path, (c) => {
        this.#permit(c.env.by, access);
        return handle(c);
      });
    }
  }

  #permit(by: By, access: GuardedHandler<unknown>["access"]): void {
    if (access !== ADMITTED) this.#options.permit(by, access);
  }

  /** Takes connections that were accepted elsewhere, too. */
  get listener(): Server {
    return this.#server;
  }

  get failed(): Promise<Error> {
    return this.#sockets.failed;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  async listen(address: Address): Promise<Address> {
    const { allowedHosts, pair } = this.#options;
    const bound = await listen(this.#front, address);
    this.#hosts = hostsOf(bound, allowedHosts);
    pair?.follow(() => {
      const names = namesOf(pair.certificate).map(bracketed);
      this.#hosts = hostsOf(bound, [...allowedHosts, ...names]);
    });
    return bound;
  }

  /** No new connections; those there may finish what they began. */
  stopAccepting(): void {
    this.#isClosing = true;
    this.#front.close();
    this.#server.close();
    this.#http2.close();
  }

  /** Waits for answers under way, then cuts what is left. */
  async close(graceMs: number): Promise<void> {
    this.stopAccepting();
    await this.#sockets.drain(graceMs, () => this.#server.closeIdleConnections());
  }

  #createServer(): Server {
    const limits = this.#limits;
    const server = createServer({
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: limits.checkMs,
    });
    // Node would drop what is over the count without a word; the gate refuses it.
    server.maxHeadersCount = 0;
    const take: TakeRequest = (request, response, isAsked) => {
      joinFineChunks(request);
      this.#turns.take(request, response, () => this.#take(request, response, isAsked));
    };
    server.on("request", (request, response) => take(request, response, false));
    // Asked before it sends its body, a client hears a refusal instead of "go on".
    server.on("checkContinue", (request, response) => take(request, response, true));
    server.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
    return server;
  }

  #prepareRoutes(): void {
    this.#routes.notFound((c) => {
      throw new RollcallError("NOT_FOUND", `no ${c.req.method} ${c.req.path}`);
    });
    this.#routes.onError((error) => this.#refusal(error));
  }

  readonly #route = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      const by = this.#admitted.get(incoming);
      if (!by) throw new Error("a request went past the gate");
      return this.#routes.fetch(request, { incoming, outgoing, by });
    },
    { overrideGlobalObjects: false, errorHandler: (error) => this.#refusal(error) },
  );

  #take(request: IncomingMessage, response: ServerResponse, isAsked: boolean): void {
    this.stats.requests += 1;
    const path = pathOf(request);
    const anybody = request.method === "GET" ? this.#anybody.get(path) : undefined;
    if (anybody) return this.#send(response, anybody());
    const swift = this.#swift.get(path);
    const call = { request, response, isAsked };
    if (swift) this.#answerSwiftly(swift, call);
    else void this.#answer(this.#hot.get(path), call);
  }

  /** No promise is made where nothing has to be waited for: here that would cost most. */
  #answerSwiftly(swift: GuardedHandler<SwiftHandler>, { request, response, isAsked }: Call): void {
    const failed = (error: unknown) => {
      this.#setHeaders(response);
      this.#refuse(request, response, error);
    };
    const hear = (by: By) => {
      this.#permit(by, swift.access);
      if (isAsked) response.writeContinue();
      const whole = (body: Buffer) => {
        const answer = swift.handle(request, body, by);
        if (answer instanceof Promise) {
          answer.then((each) => this.#send(response, each)).catch(failed);
        } else this.#send(response, answer);
      };
      takeBody(request, this.#bodies, { whole, failed });
    };
    try {
      const admitted = this.#gate.admit(request);
      if (admitted instanceof Promise) admitted.then(hear).catch(failed);
      else hear(admitted);
    } catch (error) {
      failed(error);
    }
  }

  async #answer(hot: GuardedHandler<HotHandler> | undefined, call: Call): Promise<void> {
    const { request, response, isAsked } = call;
    this.#setHeaders(response);
    try {
      const admitted = this.#gate.admit(request);
      const by = admitted instanceof Promise ? await admitted : admitted;
      if (hot) this.#permit(by, hot.access);
      if (isAsked) response.writeContinue();
      if (hot) await hot.handle(request, response, by);
      else {
        this.#admitted.set(request, by);
        await this.#takeBody(request);
        await this.#route(request, response);
      }
      // Streams, which are not whole, have bounds of their own.
      if (response.writableEnded) this.#unread.add(response);
    } catch (error) {
      this.#refuse(request, response, error);
    }
  }

  #setHeaders(response: ServerResponse): void {
    if (response.headersSent) return;
    for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
    if (this.#isClosing && !isHttp2(response.req)) response.setHeader("Connection", "close");
  }

  /** One array of headers and one text: what Node writes fastest. */
  #send(response: ServerResponse, answer: WholeAnswer): void {
    const { status, headers, body } = answer;
    let joined = this.#joined.get(answer);
    if (!joined) {
      const length = String(Buffer.byteLength(body));
      joined = [...SECURITY_HEADERS.flat(), ...headers, "Content-Length", length];
      this.#joined.set(answer, joined);
    }
    const isLast = this.#isClosing && !isHttp2(response.req);
    response.writeHead(status, isLast ? [...joined, "Connection", "close"] : joined).end(body);
    this.#unread.add(response);
  }

  /** Hono's adapter takes a body that was read already from this very field. */
  async #takeBody(request: IncomingMessage): Promise<void> {
    if (request.method === "GET" || request.method === "HEAD") return;
    Object.assign(request, { rawBody: await readBody(request, this.#bodies) });
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    try {
      const by = await this.#admitUpgrade(request);
      const path = pathOf(request);
      const upgrade = this.#upgrades.get(path);
      if (!upgrade) throw new RollcallError("NOT_FOUND", `nothing to upgrade at ${path}`);
      // A caller that is not known yet has its credential in what it says first.
      if (by.principal !== NOBODY) this.#permit(by, upgrade.access);
      const claim = (principal: string) => this.#sockets.claim(request.socket, principal);
      upgrade.handle({ request, socket, head, by, claim });
    } catch (error) {
      const { status, body } = this.#count(error);
      const length = Buffer.byteLength(body);
      socket.end(
        `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${length}\r\n\r\n${body}`,
      );
    }
  }

  /** A WebSocket may present its credential in its first message: until then it is nobody's. */
  async #admitUpgrade(request: IncomingMessage): Promise<By> {
    try {
      return await this.#gate.admit(request, true);
    } catch (error) {
      if (error instanceof NoCredential) {
        return byOf(NOBODY, "http", peerOf(request.socket).address);
      }
      throw error;
    }
  }

  #refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const { status, body } = this.#count(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error instanceof TooOften) response.setHeader("Retry-After", error.retryAfterSeconds);
    // The rest of the body is read for a moment only, then the connection ends.
    if (!request.complete && !isHttp2(request)) {
      response.setHeader("Connection", "close");
      this.#sockets.linger(request, this.#limits.lingerMs);
    }
    response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  }

  #refusal(error: unknown): Response {
    const { status, body } = this.#count(error);
    const headers = { "Content-Type": "application/json" };
    return new Response(body, { status, headers });
  }

  #count(error: unknown): ReturnType<typeof refusalOf> {
    const refusal = refusalOf(error);
    const { refusals } = this.stats;
    refusals.set(refusal.code, (refusals.get(refusal.code) ?? 0) + 1);
    if (refusal.code === "INTERNAL") this.#options.onFault(error);
    return refusal;
  }
}

function pathOf({ url = "" }: IncomingMessage): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}
