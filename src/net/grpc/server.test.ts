import { once } from "node:events";
import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type OutgoingHttpHeaders,
} from "node:http2";
import { connect as connectTcp, type AddressInfo } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test, vi } from "vitest";
import { RollcallError } from "../../core/errors.ts";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
} from "./gen/grpc/health/v1/health_pb.ts";
import { framed, FrameReader } from "./frames.ts";
import { SERVER_LIMITS, type ServerLimits } from "./limits.ts";
import { GrpcServer } from "./server.ts";
import type { GrpcCall, Handlers } from "./service.ts";
import { newWaiting, type WaitingLimits } from "../waiting.ts";
import { LIBRARY } from "../../core/by.ts";

const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Opened {
  readonly server: GrpcServer;
  readonly port: number;
  readonly session: ClientHttp2Session;
  readonly faults: unknown[];
}

async function open(
  handlers: Partial<Handlers<typeof Health>> = {},
  limits: Partial<ServerLimits> = {},
  requests: Partial<WaitingLimits> = {},
): Promise<Opened> {
  const faults: unknown[] = [];
  const server = new GrpcServer({
    limits: { ...SERVER_LIMITS, ...limits },
    waiting: newWaiting(undefined, { grpc_requests: requests }),
    admit: () => LIBRARY,
    onFault: (_path, error) => faults.push(error),
  });
  const nobody = async function* () {
    await Promise.resolve();
    yield* [];
  };
  server.add(
    Health,
    {
      check: async () => create(HealthCheckResponseSchema),
      list: async () => create(HealthListResponseSchema),
      watch: nobody,
      ...handlers,
    },
    { bytes: { check: 100 } },
  );
  server.listener.listen(0, "127.0.0.1");
  await once(server.listener, "listening");
  const { port } = server.listener.address() as AddressInfo;
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  cleanups.push(
    () => server.listener.close(),
    () => session.destroy(),
  );
  return { server, port, session, faults };
}

interface Answered {
  readonly status: number | undefined;
  readonly grpcStatus: string;
  readonly message: string;
  readonly messages: readonly Buffer[];
}

function begin({ session }: Opened, path: string, headers: OutgoingHttpHeaders = {}) {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => undefined);
  const reader = new FrameReader(1_000_000);
  const messages: Buffer[] = [];
  const seen: Record<string, string | number> = {};
  stream.on("response", (each) => Object.assign(seen, each));
  stream.on("trailers", (each: object) => Object.assign(seen, each));
  stream.on("data", (chunk: Buffer) => messages.push(...reader.push(chunk)));
  const answered = new Promise<Answered>((resolve) => {
    stream.on("close", () => {
      const text = (name: string) => String(seen[name] ?? "");
      const [grpcStatus, message] = [text("grpc-status"), text("grpc-message")];
      resolve({ status: Number(seen[":status"]), grpcStatus, message, messages });
    });
  });
  return { stream, answered };
}

function request(service = ""): Buffer {
  return framed(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service })));
}

function ask(opened: Opened, bytes: Buffer, headers: OutgoingHttpHeaders = {}) {
  const { stream, answered } = begin(opened, CHECK, headers);
  stream.end(bytes);
  return answered;
}

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe("a request", () => {
  test("may come in any pieces", async () => {
    const seen: string[] = [];
    const check = async ({ service }: { service: string }) => {
      seen.push(service);
      return create(HealthCheckResponseSchema);
    };
    const opened = await open({ check });
    const { stream, answered } = begin(opened, CHECK);
    for (const byte of request("in pieces")) stream.write(Buffer.of(byte));
    stream.end();
    expect(await answered).toMatchObject({ status: 200, grpcStatus: "0" });
    expect(seen).toEqual(["in pieces"]);
  });

  test.each([
    ["is no protobuf", framed(Buffer.from("\u00ff\u00ff")), "3", "is not a grpc.health"],
    ["is larger than its method allows", request("x".repeat(200)), "8", "at most 100 are taken"],
    ["ends in the middle", request("half").subarray(0, 8), "3", "without a whole message"],
    ["is nothing at all", Buffer.alloc(0), "3", "without a whole message"],
    ["is two", Buffer.concat([request(), request()]), "3", "more than one message"],
    ["is compressed", Buffer.from([1, 0, 0, 0, 0]), "12", "compressed"],
  ])("that %s is refused, and the next one served", async (...row) => {
    const [, bytes, grpcStatus, why] = row;
    const opened = await open();
    const refused = await ask(opened, bytes);
    expect(refused).toMatchObject({ status: 200, grpcStatus });
    expect(refused.message).toContain(why);
    expect((await ask(opened, request())).grpcStatus).toBe("0");
    expect(opened.faults).toEqual([]);
  });

  test("that is too large is refused before it has come", async () => {
    const opened = await open();
    const { stream, answered } = begin(opened, CHECK);
    stream.write(request("x".repeat(200)).subarray(0, 5));
    expect((await answered).grpcStatus).toBe("8");
  });

  test("that never comes whole is not waited for", async () => {
    const opened = await open({}, {}, { ms: 50 });
    const { stream, answered } = begin(opened, CHECK);
    stream.write(request("half").subarray(0, 8));
    expect(await answered).toMatchObject({ grpcStatus: "4", message: /did not come within 50 ms/ });
  });

  test("gives way when those that are coming hold too much, if it has waited longest", async () => {
    // Each has 4 KiB beside what came of its message.
    const opened = await open({}, {}, { bytes: 2 * 4096 + 20 });
    const first = begin(opened, CHECK);
    first.stream.write(request("a".repeat(50)).subarray(0, 15));
    const second = begin(opened, CHECK);
    second.stream.write(request("b".repeat(50)).subarray(0, 15));
    expect(await first.answered).toMatchObject({ grpcStatus: "8" });
    second.stream.end(request("b".repeat(50)).subarray(15));
    expect((await second.answered).grpcStatus).toBe("0");
    // Its bytes are free again.
    expect((await ask(opened, request("c".repeat(50)))).grpcStatus).toBe("0");
  });

  test.each([
    ["to no method", { ":path": "/nope/Nope" }, { status: 200, grpcStatus: "12" }],
    ["that is no POST", { ":method": "PUT" }, { status: 405 }],
    ["of another type", { "content-type": "text/plain" }, { status: 415 }],
    ["with no sense of time", { "grpc-timeout": "soon" }, { status: 200, grpcStatus: "3" }],
  ])("%s is refused", async (_what, headers, expected) => {
    expect(await ask(await open(), request(), headers)).toMatchObject(expected);
  });
});

describe("a call", () => {
  test("that takes longer than its caller waits is told so, and its handler too", async () => {
    const reasons: unknown[] = [];
    const check = (_request: unknown, { signal }: GrpcCall) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          reject(signal.reason as Error);
        });
      });
    const opened = await open({ check });
    expect(await ask(opened, request(), { "grpc-timeout": "20m" })).toMatchObject({
      grpcStatus: "4",
    });
    expect(reasons).toEqual([expect.objectContaining({ code: "DEADLINE_EXCEEDED" })]);
    expect(opened.faults).toEqual([]);
  });

  test.each(["cancelled", "cut off"])("whose caller is %s tells its handler", async (how) => {
    const handler = deferred<AbortSignal>();
    const check = (_request: unknown, { signal }: GrpcCall) => {
      handler.resolve(signal);
      return new Promise<never>(() => undefined);
    };
    const opened = await open({ check });
    const { stream } = begin(opened, CHECK);
    stream.end(request());
    const signal = await handler.promise;
    expect(signal.aborted).toBe(false);
    if (how === "cancelled") stream.close();
    else opened.session.destroy();
    await vi.waitFor(() => expect(signal.reason).toMatchObject({ code: "CANCELLED" }));
  });

  test("that meets a fault of ours says nothing about it", async () => {
    const check = () => Promise.reject(new Error("password=hunter2"));
    const opened = await open({ check });
    expect(await ask(opened, request())).toMatchObject({
      grpcStatus: "13",
      message: "internal error",
    });
    expect(opened.faults).toHaveLength(1);
  });
});

describe("a stream", () => {
  const one = create(HealthCheckResponseSchema);

  test("ends with its reason after all it had to say", async () => {
    const watch = async function* () {
      yield one;
      yield one;
      await Promise.resolve();
      throw new RollcallError("OUT_OF_RANGE", "that is all");
    };
    const { stream, answered } = begin(await open({ watch }), WATCH);
    stream.end(request());
    const { grpcStatus, message, messages } = await answered;
    expect({ grpcStatus, message, count: messages.length }).toEqual({
      grpcStatus: "11",
      message: "that is all",
      count: 2,
    });
  });

  test("is asked for no more than its caller takes", async () => {
    let made = 0;
    const large = Buffer.alloc(100_000);
    const close = vi.fn<() => void>();
    const feed = {
      next: async () => {
        made += 1;
        return framed(large);
      },
      cut: new AbortController().signal,
      close,
    };
    const opened = await open({ watch: () => feed });
    const { stream } = begin(opened, WATCH);
    stream.pause();
    stream.end(request());
    await vi.waitFor(() => expect(made).toBeGreaterThan(0));
    await ask(opened, request());
    const taken = made;
    expect(taken).toBeLessThan(20);
    await ask(opened, request());
    expect(made).toBe(taken);
    stream.close();
    await vi.waitFor(() => expect(close).toHaveBeenCalled());
  });

  test("that is cut while its caller reads nothing is let go of", async () => {
    const cut = new AbortController();
    const feed = {
      next: async () => {
        if (cut.signal.aborted) throw cut.signal.reason;
        return framed(Buffer.alloc(1_000_000));
      },
      cut: cut.signal,
      close: () => undefined,
    };
    const opened = await open({ watch: () => feed }, { lastWordsMs: 50 });
    const { stream, answered } = begin(opened, WATCH);
    stream.pause();
    stream.end(request());
    await once(stream, "response");
    cut.abort(new RollcallError("SLOW_CONSUMER", "too slow"));
    stream.resume();
    await answered;
    expect((await ask(opened, request())).grpcStatus).toBe("0");
  });
});

describe("a connection", () => {
  test("whose other end does not answer is ended", async () => {
    const { port } = await open({}, { keepaliveMs: 20, keepaliveTimeoutMs: 20 });
    const socket = connectTcp(port, "127.0.0.1");
    socket.on("error", () => undefined).resume();
    await once(socket, "close");
  });

  test("that speaks something else is ended", async () => {
    const { port } = await open();
    const socket = connectTcp(port, "127.0.0.1");
    socket.on("error", () => undefined).resume();
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "close");
  });

  test("takes no new calls once the server stops, and finishes those it has", async () => {
    const going = deferred<undefined>();
    const started = deferred<undefined>();
    const check = async () => {
      started.resolve(undefined);
      await going.promise;
      return create(HealthCheckResponseSchema);
    };
    const opened = await open({ check });
    const { stream, answered } = begin(opened, CHECK);
    stream.end(request());
    await started.promise;
    opened.server.stopAccepting();
    await vi.waitFor(() => expect(opened.session.closed || opened.session.destroyed).toBe(true));
    going.resolve(undefined);
    expect((await answered).grpcStatus).toBe("0");
  });
});
