/**
 * How a registry gets into an app: small adapters, none of which needs the package it is for.
 * Bodies are read as bytes wherever the app has not read them already, because a card shall come
 * out as it went in; an Express app that has parsed JSON before us gives us its object, and what a
 * double cannot hold is then lost.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { wholeBody } from "../../../net/http/body.ts";
import type { RegistryAnswer, RegistryRequest } from "./server.ts";

type RequestHandler = (request: RegistryRequest) => Promise<RegistryAnswer | undefined>;

export interface Mounts {
  /** `createServer(registry.mount.node())`: all other paths are 404. */
  node(): (request: IncomingMessage, response: ServerResponse) => void;
  /** `app.use(registry.mount.express())` */
  express(): (request: ParsedRequest, response: ServerResponse, next: () => void) => Promise<void>;
  /** `app.use(registry.mount.hono())` */
  hono(): (context: HonoContext, next: () => Promise<void>) => Promise<Response | void>;
  /** `await app.register(registry.mount.fastify())` */
  fastify(): (app: FastifyApp) => Promise<void>;
  /** For whatever else speaks Request and Response; undefined for other paths. */
  web(): (request: Request) => Promise<Response | undefined>;
}

/** Express puts here what it has parsed. */
export interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown;
}

export interface HonoContext {
  readonly req: { readonly raw: Request };
}

/** The part of Fastify that is needed. */
export interface FastifyApp {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: IncomingMessage, done: FastifyDone) => void,
  ): unknown;
  route(options: {
    readonly method: string[];
    readonly url: string;
    readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
  }): unknown;
}

type FastifyDone = (error: Error | null, body?: unknown) => void;

export interface FastifyRequest {
  readonly raw: IncomingMessage;
}

export interface FastifyReply {
  code(status: number): FastifyReply;
  headers(headers: Record<string, string>): FastifyReply;
  send(body: string): FastifyReply;
}

const PATHS = ["/.well-known/agents", "/.well-known/agents/heartbeat", "/registry/heartbeat"];

export function mounts(answer: RequestHandler): Mounts {
  return {
    node: () => (request, response) => {
      answer(fromNode(request))
        .then((given) => write(response, given ?? NOT_FOUND))
        .catch((error: unknown) => response.destroy(error as Error));
    },
    express: () => async (request, response, next) => {
      const given = await answer(fromNode(request));
      if (given) write(response, given);
      else next();
    },
    hono: () => async (context, next) => {
      const given = await answer(fromWeb(context.req.raw));
      return given ? webResponse(given) : next();
    },
    fastify: () => async (app) => {
      // Only within this plugin: its bodies stay as they are.
      app.removeAllContentTypeParsers();
      app.addContentTypeParser("*", (_request, _payload, done) => done(null));
      for (const url of PATHS) {
        app.route({
          method: ["GET", "POST"],
          url,
          handler: async ({ raw }, reply) => {
            const given = (await answer(fromNode(raw))) ?? NOT_FOUND;
            return reply
              .code(given.status)
              .headers({ ...given.headers })
              .send(given.body);
          },
        });
      }
    },
    web: () => async (request) => {
      const given = await answer(fromWeb(request));
      return given && webResponse(given);
    },
  };
}

const NOT_FOUND: RegistryAnswer = {
  status: 404,
  headers: { "content-type": "application/json" },
  body: '{"detail":"Not Found"}',
};

const KEPT = { destroyOnReturn: false };

function fromNode(request: ParsedRequest): RegistryRequest {
  const [path = "/"] = (request.url ?? "/").split("?");
  return {
    method: request.method ?? "GET",
    path,
    header: (name) => {
      const value = request.headers[name];
      return typeof value === "string" ? value : value?.[0];
    },
    body: async (maxBytes) => {
      // One that is too long must not take the connection with it: its sender shall be told.
      if (!request.readableEnded) return wholeBody(request.iterator(KEPT), maxBytes);
      const { body } = request;
      return typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body);
    },
  };
}

function fromWeb(request: Request): RegistryRequest {
  return {
    method: request.method,
    path: new URL(request.url).pathname,
    header: (name) => request.headers.get(name) ?? undefined,
    body: async (maxBytes) =>
      wholeBody((request.body ?? []) as AsyncIterable<Uint8Array>, maxBytes),
  };
}

function write(response: ServerResponse, { status, headers, body }: RegistryAnswer): void {
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, { ...headers, "content-length": length }).end(body);
}

function webResponse({ status, headers, body }: RegistryAnswer): Response {
  return new Response(body, { status, headers });
}
