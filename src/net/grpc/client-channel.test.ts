import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { codeOf } from "../../core/errors.ts";
import { GrpcChannel, type ChannelOptions, type Request } from "./client-channel.ts";
import type { Timers } from "../../machine/waiting.ts";
import { framed } from "./frames.ts";
import {
  answer,
  headersOnly,
  raw,
  serveScript,
  silent,
  type Script,
} from "../../../test/support/grpc/server.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const timers: Timers = {
  monotonicMs: () => performance.now(),
  after(delayMs, call) {
    // tidy-allow sleep: it is the clock of these tests, whose server is a real one
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
};

const LIMITS = { firstRetryMs: 1, lastRetryMs: 5 };

function channelTo(address: string, options: Partial<ChannelOptions> = {}): GrpcChannel {
  const channel = new GrpcChannel({ address, timers, limits: LIMITS, ...options });
  cleanups.push(() => channel.close());
  return channel;
}

async function serve(...scripts: readonly Script[]) {
  const server = await serveScript(scripts);
  cleanups.push(() => server.close());
  return server;
}

async function talk(...scripts: readonly Script[]) {
  const server = await serve(...scripts);
  return { server, channel: channelTo(server.address) };
}

function ask(options: Partial<Request> = {}): Request {
  return { path: "/test.Service/Method", body: Buffer.from("q"), timeoutMs: 5_000, ...options };
}

async function failure(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error: unknown = await work.then(
    () => expect.unreachable("it worked"),
    (reason: unknown) => reason,
  );
  return { code: codeOf(error), message: error instanceof Error ? error.message : "" };
}

/** Listens with nothing but TCP. */
async function tcp(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const bound = server.address();
  return `127.0.0.1:${typeof bound === "object" && bound ? bound.port : 0}`;
}

describe("a call", () => {
  test("says what it wants and how long it waits, and gets what came along", async () => {
    const { server, channel } = await talk(answer(["hello"], { "grpc-status": "0", "x-at": "9" }));
    const { message, header } = await channel.call(ask({ metadata: { "x-place": "7" } }));
    expect(message.toString()).toBe("hello");
    expect([header("content-type"), header("x-at")]).toEqual(["application/grpc", "9"]);
    expect(server.calls[0]).toMatchObject({
      ":path": "/test.Service/Method",
      "content-type": "application/grpc",
      te: "trailers",
      "x-place": "7",
    });
    expect(server.calls[0]?.["grpc-timeout"]).toMatch(/^\d{4}m$/);
  });

  test("of many shares the one connection", async () => {
    const { server, channel } = await talk(answer(["x"]));
    await Promise.all(Array.from({ length: 50 }, () => channel.call(ask())));
    expect(server.calls).toHaveLength(50);
    expect(server.sessions).toHaveLength(1);
  });

  test.each([
    ["an error after a message", answer(["x"], { "grpc-status": "5", "grpc-message": "no%20x" })],
    ["an error in the headers", headersOnly({ "grpc-status": 5, "grpc-message": "no%20x" })],
  ])("%s is told with its code and words", async (_what, script) => {
    const { channel } = await talk(script);
    expect(await failure(channel.call(ask()))).toEqual({ code: "NOT_FOUND", message: "no x" });
  });

  test.each([
    ["no message", answer([]), "INTERNAL", "no message"],
    ["two messages", answer(["a", "b"]), "INTERNAL", "more than one"],
    [
      "half a message",
      raw(framed(Buffer.from("abcdef")).subarray(0, 8)),
      "INTERNAL",
      "mid-message",
    ],
    ["garbage", raw(Buffer.from("<html>not grpc")), "UNIMPLEMENTED", "compressed"],
    ["a compressed message", raw(Buffer.from([1, 0, 0, 0, 1, 9])), "UNIMPLEMENTED", "compressed"],
    ["an oversized message", raw(Buffer.from([0, 255, 0, 0, 0])), "TOO_LARGE", "at most"],
    ["no status", headersOnly({}), "INTERNAL", "no status"],
    ["a web page", headersOnly({ ":status": 404 }), "UNIMPLEMENTED", "HTTP status 404"],
    ["a proxy's refusal", headersOnly({ ":status": 503 }), "UNAVAILABLE", "HTTP status 503"],
  ])("answered with %s fails and says so", async (...[, script, code, words]) => {
    const { channel } = await talk(script);
    const failed = await failure(channel.call(ask()));
    expect(failed.code).toBe(code);
    expect(failed.message).toContain(words);
  });

  test("that nobody answers ends at its deadline", async () => {
    const { channel } = await talk(silent);
    const { code, message } = await failure(channel.call(ask({ timeoutMs: 60 })));
    expect([code, message]).toEqual(["DEADLINE_EXCEEDED", "no answer within 60 ms"]);
  });

  test("that is cancelled ends at once, and the server hears of it", async () => {
    const aborted: boolean[] = [];
    const { server, channel } = await talk((stream) =>
      stream.on("aborted", () => aborted.push(true)),
    );
    const stop = new AbortController();
    const call = channel.call(ask({ signal: stop.signal }));
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    stop.abort();
    expect((await failure(call)).code).toBe("CANCELLED");
    await vi.waitFor(() => expect(aborted).toEqual([true]));
  });

  test("after the channel is closed, or while it closes, is cancelled", async () => {
    const { server, channel } = await talk(silent);
    const under = channel.call(ask({ isRepeatable: true }));
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    channel.close();
    channel.close();
    expect(await failure(under)).toEqual({ code: "CANCELLED", message: "this client is closed" });
    expect((await failure(channel.call(ask()))).code).toBe("CANCELLED");
  });
});

describe("a call is sent again", () => {
  const refuse: Script = (stream) => stream.close(7);
  const hangUp: Script = (stream) => stream.session?.destroy();
  const away = headersOnly({ "grpc-status": 14 });

  test.each([
    ["refused before it was looked at", refuse, false],
    ["lost with its connection, if repeating it is safe", hangUp, true],
    ["answered UNAVAILABLE, if repeating it is safe", away, true],
  ])("when it was %s", async (_what, first, isRepeatable) => {
    const { server, channel } = await talk(first, first, answer(["x"]));
    expect((await channel.call(ask({ isRepeatable }))).message.toString()).toBe("x");
    expect(server.calls).toHaveLength(3);
  });

  test.each([
    ["lost with its connection", hangUp, false],
    ["answered UNAVAILABLE", away, false],
    [
      "answered with another error, even if repeating it is safe",
      headersOnly({ "grpc-status": 9 }),
      true,
    ],
  ])("never when it was %s", async (_what, first, isRepeatable) => {
    const { server, channel } = await talk(first, answer(["x"]));
    await failure(channel.call(ask({ isRepeatable })));
    expect(server.calls).toHaveLength(1);
  });

  test("on a new connection, when the server said goodbye before it looked at it", async () => {
    const { server, channel } = await talk(
      answer(["warm"]),
      (stream) => stream.session?.goaway(0, 1),
      answer(["x"]),
    );
    await channel.call(ask());
    expect((await channel.call(ask())).message.toString()).toBe("x");
    expect(server.sessions).toHaveLength(2);
  });

  test("until its deadline, which then tells what was the trouble", async () => {
    const { channel } = await talk(away);
    const call = channel.call(ask({ isRepeatable: true, timeoutMs: 50 }));
    expect((await failure(call)).code).toBe("UNAVAILABLE");
  });
});

test("a server that says goodbye may finish what it began; new calls go elsewhere", async () => {
  let finish = (): void => undefined;
  const { server, channel } = await talk(
    (stream) => {
      finish = () => answer(["old"])(stream, {});
      stream.session?.goaway(0, 2 ** 31 - 1);
    },
    answer(["new"]),
  );
  const old = channel.call(ask());
  await vi.waitFor(() => expect(server.calls).toHaveLength(1));
  await vi.waitFor(async () => {
    expect((await channel.call(ask())).message.toString()).toBe("new");
    expect(server.sessions).toHaveLength(2);
  });
  finish();
  expect((await old).message.toString()).toBe("old");
});

describe("a server that is not there", () => {
  test("is waited for until the deadline, and named in the error", async () => {
    const server = await serve();
    await server.close();
    const { code, message } = await failure(channelTo(server.address).call(ask({ timeoutMs: 60 })));
    expect(code).toBe("UNAVAILABLE");
    expect(message).toBe(`no daemon answers at ${server.address} (connection refused)`);
  });

  test("but comes, gets every call that waited, once each", async () => {
    const gone = await serve();
    await gone.close();
    const channel = channelTo(gone.address);
    const calls = [channel.call(ask()), channel.call(ask())];
    const back = await serveScript([answer(["x"])], Number(gone.address.split(":")[1]));
    cleanups.push(() => back.close());
    await Promise.all(calls);
    expect(back.calls).toHaveLength(2);
  });

  test("but takes connections and never speaks, is no server", async () => {
    const address = await tcp(() => undefined);
    const channel = channelTo(address, { limits: { ...LIMITS, connectMs: 20 } });
    const { code, message } = await failure(channel.call(ask({ timeoutMs: 90 })));
    expect([code, message]).toEqual([
      "UNAVAILABLE",
      `no daemon answers at ${address} (connected, but silent for 20 ms)`,
    ]);
  });

  test("but speaks something else, is no server", async () => {
    const address = await tcp((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const { code } = await failure(channelTo(address).call(ask({ timeoutMs: 60 })));
    expect(code).toBe("UNAVAILABLE");
  });
});

test("a server that freezes is noticed by a ping, and its calls are told", async () => {
  const server = await serve(answer(["x"]), silent);
  const target = Number(server.address.split(":")[1]);
  const pipes: Socket[] = [];
  const proxy = await tcp((socket) => {
    const upstream = connect(target, "127.0.0.1").on("error", () => undefined);
    pipes.push(socket, upstream);
    socket.pipe(upstream).pipe(socket);
  });
  const limits = { ...LIMITS, keepaliveMs: 20, keepaliveTimeoutMs: 20 };
  const channel = channelTo(proxy, { limits });
  await channel.call(ask());
  for (const pipe of pipes) pipe.unpipe().pause();
  // A server of Node 24 closes only once the other end of its connection is gone.
  cleanups.push(() => pipes.map((pipe) => pipe.destroy()));
  const { code, message } = await failure(channel.call(ask()));
  expect([code, message]).toEqual(["UNAVAILABLE", `${proxy}: no answer to a ping for 20 ms`]);
});

describe("a stream", () => {
  test("gives its messages in order, then its end", async () => {
    const { channel } = await talk(answer(["a", "b", "c"], { "grpc-status": "14" }));
    const stream = await channel.open(ask());
    const seen = [await stream.next(), await stream.next(), await stream.next()];
    expect(seen.map(String)).toEqual(["a", "b", "c"]);
    expect((await failure(stream.next())).code).toBe("UNAVAILABLE");
  });

  test("outlives the time it had to begin", async () => {
    let late = (): void => undefined;
    const clock: Timers = {
      ...timers,
      after(_delayMs, call) {
        late = call;
        return () => (late = () => undefined);
      },
    };
    let say = (_text: string): void => undefined;
    const server = await serve((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      say = (text) => stream.write(framed(Buffer.from(text)));
    });
    const stream = await channelTo(server.address, { timers: clock }).open(ask());
    late();
    say("still here");
    expect(String(await stream.next())).toBe("still here");
    expect(server.calls[0]?.["grpc-timeout"]).toBeUndefined();
  });

  test("that nobody reads makes the server wait, and costs us little", async () => {
    const piece = framed(Buffer.alloc(16 * 1024));
    let sent = 0;
    let isBlocked = false;
    const { channel } = await talk((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      const pour = () => {
        while (sent < 10_000) {
          sent += 1;
          if (!stream.write(piece)) break;
        }
        isBlocked = true;
      };
      stream.on("drain", () => {
        isBlocked = false;
        pour();
      });
      pour();
    });
    const stream = await channel.open(ask());
    await stream.next();
    let last = -1;
    await vi.waitFor(() => {
      const now = sent;
      const isStill = now === last && isBlocked;
      last = now;
      expect(isStill).toBe(true);
    });
    expect(sent * piece.length).toBeLessThan(2 * 1024 * 1024);
    for (let i = 0; i < 500; i += 1) await stream.next();
    expect(sent).toBeGreaterThan(500);
  });

  test("is told when its connection goes", async () => {
    const { server, channel } = await talk((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
    });
    const stream = await channel.open(ask());
    server.sessions[0]?.destroy();
    expect((await failure(stream.next())).code).toBe("UNAVAILABLE");
  });
});
