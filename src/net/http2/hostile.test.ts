import { once } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { client, echo, END, exchange, OK, open, raw } from "../../../test/support/http2/fixture.ts";
import { flagged, frame, many } from "../../../test/support/http2/frames.ts";
import { FLAG, FRAME } from "./codes.ts";
import { encoded } from "./hpack.ts";
import type { Stream } from "./stream.ts";

const CALM = 11;
const REQUEST = encoded([
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/"],
]);
const TOO_LARGE = encoded([["x-large", "v".repeat(5_000)]]);

/** Frames that ask for nothing: a thousand are given at once, and a thousand a second. */
const FLOOD = 20_000;
/** Less than that: a hundred settings are given, and a hundred streams that come to nothing. */
const FEW = 900;

describe("a hostile client", () => {
  test.each([
    ["pings", () => Buffer.concat(many(FLOOD, () => frame(FRAME.PING, 0, Buffer.alloc(8))))],
    ["changes its settings", () => Buffer.concat(many(FEW, () => frame(FRAME.SETTINGS, 0)))],
    [
      "opens and resets",
      () =>
        Buffer.concat(
          many(FEW, (i) =>
            Buffer.concat([
              flagged(FLAG.END_HEADERS, frame(FRAME.HEADERS, 2 * i + 1, REQUEST)),
              frame(FRAME.RST_STREAM, 2 * i + 1, Buffer.alloc(4)),
            ]),
          ),
        ),
    ],
    [
      "sends empty frames",
      () =>
        Buffer.concat([
          flagged(FLAG.END_HEADERS, frame(FRAME.HEADERS, 1, REQUEST)),
          ...many(FLOOD, () => frame(FRAME.DATA, 1)),
        ]),
    ],
    [
      "sends headers that are too large",
      () =>
        Buffer.concat(
          many(300, (i) => flagged(FLAG.END_HEADERS, frame(FRAME.HEADERS, 2 * i + 1, TOO_LARGE))),
        ),
    ],
    [
      "gives credit to a stream that is over",
      () =>
        Buffer.concat([
          flagged(FLAG.END_HEADERS, frame(FRAME.HEADERS, 1, REQUEST)),
          frame(FRAME.RST_STREAM, 1, Buffer.alloc(4)),
          ...many(FLOOD, () => frame(FRAME.WINDOW_UPDATE, 1, Buffer.of(0, 0, 0, 1))),
        ]),
    ],
    [
      "sends data to a stream that is over",
      () =>
        Buffer.concat([
          flagged(FLAG.END_HEADERS, frame(FRAME.HEADERS, 1, REQUEST)),
          frame(FRAME.RST_STREAM, 1, Buffer.alloc(4)),
          ...many(FLOOD, () => frame(FRAME.DATA, 1, Buffer.of(0))),
        ]),
    ],
    ["sets many things at once", () => frame(FRAME.SETTINGS, 0, Buffer.alloc(33 * 6))],
    [
      "sends headers without an end",
      () =>
        Buffer.concat([
          frame(FRAME.HEADERS, 1, REQUEST),
          ...many(10, () => frame(FRAME.CONTINUATION, 1, Buffer.alloc(1_000))),
        ]),
    ],
  ])("that only %s is told to calm down, and let go of", async (_what, flood) => {
    const { port, connections } = await open(() => undefined);
    const { socket, reasons, closed } = raw(port);
    socket.write(flood());
    await closed;
    expect(reasons).toEqual([CALM]);
    await vi.waitFor(() => expect(connections).toHaveLength(0));
  });

  test("that asks and never reads is let go of", async () => {
    const limits = { idleFramesPerSecond: 1_000_000 };
    const unread = { eachBytes: 1_000 };
    const { port, connections } = await open((stream) => stream.endWith(OK), limits, unread);
    const { socket } = raw(port);
    socket.pause();
    const pings = Buffer.concat(many(10_000, () => frame(FRAME.PING, 0, Buffer.alloc(8))));
    const isOver = () => connections.length === 0;
    await vi.waitFor(() => {
      if (!isOver()) socket.write(pings);
      expect(isOver()).toBe(true);
    });
  });

  test("that asks on and has no room for answers is refused, then let go of", async () => {
    const large = { headers: OK, data: Buffer.alloc(10_000), trailers: END };
    const opened: number[] = [];
    const serve = (stream: Stream) => {
      opened.push(stream.id);
      stream.answer(large);
    };
    const { port, connections, waiting } = await open(serve, { unreadBytes: 30_000 });
    const { socket, reasons, closed } = raw(port, 0);
    const calls = many(200, (i) =>
      flagged(FLAG.END_HEADERS | FLAG.END_STREAM, frame(FRAME.HEADERS, 2 * i + 1, REQUEST)),
    );
    socket.write(Buffer.concat(calls));
    await closed;
    expect(opened).toEqual([1, 3, 5, 7]);
    expect(reasons).toEqual([CALM]);
    await vi.waitFor(() => expect(connections).toHaveLength(0));
    expect(waiting.grpc_answers.bytes).toBe(0);
  });

  test("whose answers wait makes room for those of others", async () => {
    const serve = (stream: Stream) =>
      stream.answer({ headers: OK, data: Buffer.alloc(10_000), trailers: END });
    const { port, connections, waiting } = await open(serve, {}, { bytes: 15_000 });
    const call = flagged(FLAG.END_HEADERS | FLAG.END_STREAM, frame(FRAME.HEADERS, 1, REQUEST));
    const first = raw(port, 0);
    first.socket.write(call);
    await vi.waitFor(() => expect(waiting.grpc_answers.bytes).toBe(10_000));
    const second = raw(port, 0);
    second.socket.write(call);
    await first.closed;
    expect(connections).toHaveLength(1);
    expect(waiting.grpc_answers).toMatchObject({ bytes: 10_000, cuts: 1 });
    second.socket.write(frame(FRAME.WINDOW_UPDATE, 1, Buffer.of(0, 1, 0, 0)));
    await vi.waitFor(() => expect(waiting.grpc_answers.bytes).toBe(0));
  });

  test("with more streams than agreed has them refused, and the others served", async () => {
    const { port } = await open(echo, { streams: 2 });
    const session = client(port);
    await once(session, "remoteSettings");
    const held = [1, 2].map(() => session.request({ ":method": "POST", ":path": "/" }));
    await Promise.all(held.map((each) => once(each, "response")));
    for (const each of held) each.end();
    expect((await exchange(session, Buffer.from("x"))).toString()).toBe("x");
  });

  test("with headers larger than agreed is refused that stream alone", async () => {
    const { port } = await open(echo);
    const session = client(port);
    await once(session, "connect");
    const large = session.request({
      ":method": "POST",
      ":path": "/",
      "x-large": "v".repeat(5_000),
    });
    large.on("error", () => undefined);
    await vi.waitFor(() => expect(large.closed).toBe(true));
    expect(large.rstCode).toBe(CALM);
    expect((await exchange(session, Buffer.from("x"))).toString()).toBe("x");
  });

  test("that vanished without a word is found out", async () => {
    const { port, connections } = await open(echo, { keepaliveMs: 20, keepaliveTimeoutMs: 20 });
    const { closed } = raw(port);
    await closed;
    await vi.waitFor(() => expect(connections).toHaveLength(0));
  });
});

test("a connection that is cut in the middle of what came opens no more streams", async () => {
  const opened: Stream[] = [];
  const { port, connections } = await open((stream) => {
    opened.push(stream);
    connections[0]?.destroy();
  });
  const calls = many(3, (i) => flagged(FLAG.END_HEADERS, frame(FRAME.HEADERS, 2 * i + 1, REQUEST)));
  const { socket, closed } = raw(port);
  socket.write(Buffer.concat(calls));
  await closed;
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([true]);
});
