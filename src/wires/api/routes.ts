/**
 * All routes of the HTTP API: one for each operation of the table, what is told live, and what
 * machines ask a daemon. Reads are GET; commands are POST /v1/NOUN/VERB with a JSON object, so that
 * keys, which may be any text, are never part of a path that something on the way rewrites.
 */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { z } from "zod";
import type { By } from "../../core/by.ts";
import { messageFor, RollcallError } from "../../core/errors.ts";
import { ACCESS, onPolicyChange, type Permit } from "../../operations/access.ts";
import type { OperationCall, Operation, OperationServices } from "../../operations/operation.ts";
import { parse } from "../../operations/parse.ts";
import { servicesFor } from "../../operations/sight.ts";
import { operations } from "../../operations/table.ts";
import { ADMITTED, type HttpContext, type Route } from "../route.ts";
import { DIRECTORY_EVENTS, LIVE, type Live } from "./live.ts";
import { openApiText } from "./openapi.ts";
import { bodyOf, queryOf, wantsStream } from "./request.ts";
import type { SseStreams } from "./sse.ts";

export interface ApiOptions extends OperationServices {
  readonly streams: SseStreams;
  /** Streams that remember the whole fleet; there may be fewer of them. */
  readonly lookers: SseStreams;
  readonly metrics: { readonly contentType: string; page(): Promise<string> };
}

const JSON_TYPE = { "Content-Type": "application/json" } as const;

export function apiRoutes(options: ApiOptions): readonly Route[] {
  const get = { method: "GET" } as const;
  const routes: readonly Route[] = [
    {
      ...get,
      path: DIRECTORY_EVENTS.path,
      access: DIRECTORY_EVENTS.access,
      handle: streamOf(DIRECTORY_EVENTS, options),
    },
    ...operations().map(([name, operation]) => routeOf(operation, LIVE[name], options)),
    {
      ...get,
      path: "/openapi.json",
      access: ADMITTED,
      handle: (c) => c.body(openApiText(), 200, JSON_TYPE),
    },
    {
      ...get,
      path: "/metrics",
      access: ACCESS.metrics,
      async handle(c) {
        const page = await options.metrics.page();
        return c.body(page, 200, { "Content-Type": options.metrics.contentType });
      },
    },
  ];
  // The first that fits answers: /v1/NOUN/{id} fits /v1/NOUN/word, too.
  return routes.toSorted((a, b) => Number(hasField(a)) - Number(hasField(b)));
}

function hasField({ path }: Route): boolean {
  return path.includes(":");
}

/** The input of any operation. */
type Input = z.output<z.ZodObject>;

function routeOf(operation: Operation, live: Live | undefined, options: ApiOptions): Route {
  const { access, effect } = operation;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, ":$1");
  const answer = async (c: HttpContext, input: Input): Promise<Response> => {
    const { by } = c.env;
    options.permit(by, access, input);
    const services = servicesFor(options, by);
    const value = await operation.run(services, input, new HttpCall(c)).catch((error: unknown) => {
      throw inWordsOf(operation, error);
    });
    return c.body(operation.json?.(value) ?? JSON.stringify(value), 200, JSON_TYPE);
  };
  if (effect !== "reads") {
    const handle = async (c: HttpContext) => answer(c, await bodyOf(c, operation.input));
    return { method: "POST", path, access, handle };
  }
  const inputOf = readerOf(operation);
  const stream = live && streamOf({ ...live, access, path: operation.path }, options);
  const handle = (c: HttpContext) => (stream && wantsStream(c) ? stream(c) : answer(c, inputOf(c)));
  return { method: "GET", path, access, handle };
}

/** A refusal of core, with the field called as the caller of the operation calls it. */
function inWordsOf({ within }: Operation, error: unknown): unknown {
  if (within === undefined || !(error instanceof RollcallError)) return error;
  const message = messageFor(error, (field) => field.replace(`${within}.`, ""));
  return new RollcallError(error.code, message, { cause: error });
}

type PathAndInput = Pick<Operation, "path" | "input">;

/** Reads the input of a GET: the fields of its path, and those of its query. */
function readerOf({ path, input }: PathAndInput): (c: HttpContext) => Input {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
  const fields = Object.entries(input.shape);
  const fieldsWhere = (isInPath: boolean) =>
    z.strictObject(
      Object.fromEntries(fields.filter(([name]) => names.includes(name) === isInPath)),
    );
  const [fromPath, fromQuery] = [fieldsWhere(true), fieldsWhere(false)];
  return (c) => ({ ...queryOf(c, fromQuery), ...parse("the path", fromPath, c.req.param()) });
}

function streamOf(
  live: Live & Pick<Operation, "path" | "input" | "access">,
  { streams, lookers, ...services }: ApiOptions,
) {
  const inputOf = readerOf(live);
  const places = live.isLooker === true ? lookers : streams;
  return async (c: HttpContext): Promise<Response> => {
    const lastEventId = c.req.header("last-event-id");
    const input = inputOf(c);
    const { by } = c.env;
    /** The rights that let the stream in; they are asked again, and one denied later ends it. */
    const rights: Parameters<Permit>[] = [[by, live.access, input]];
    const ask = () => rights.forEach((right) => services.permit(...right));
    ask();
    const check = onPolicyChange(services.engine, ask);
    const keep: Permit = (...right) => {
      services.permit(...right);
      rights.push(right);
    };
    const seen = servicesFor({ ...services, permit: keep }, by);
    const start = await live.prepare(seen, input, { lastEventId, by });
    // By this a browser knows that it shall not come again.
    if (!start) return c.body(null, 204);
    await places.send(c.env.outgoing, { by, start, check });
    return RESPONSE_ALREADY_SENT;
  };
}

class HttpCall implements OperationCall {
  readonly #context: HttpContext;

  constructor(context: HttpContext) {
    this.#context = context;
  }

  get by(): By {
    return this.#context.env.by;
  }

  get signal(): AbortSignal {
    const { outgoing } = this.#context.env;
    const gone = new AbortController();
    const leave = () => gone.abort(new RollcallError("CANCELLED", "the client went away"));
    outgoing.once("close", leave);
    if (outgoing.destroyed) leave();
    return gone.signal;
  }
}
