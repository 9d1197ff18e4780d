import { once } from "node:events";
import { connect, type ClientHttp2Session, type Settings } from "node:http2";
import { connect as connectTcp, createServer, type AddressInfo, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { FLAG, FRAME, PREFACE } from "./codes.ts";
import { Http2Connection, type ConnectionLimits } from "./connection.ts";
import { encoded } from "./hpack.ts";
import type { Stream } from "./stream.ts";

const LIMITS: ConnectionLimits = {
  streams: 100,
  headerBytes: 4_096,
  streamWindow: 65_535,
  connectionWindow: 200_000,
  waitingBytes: 1_000_000,
  idleFramesPerSecond: 1_000,
  keepaliveMs: 60_000,
  keepaliveTimeoutMs: 60_000,
};

const OK = encoded([[":status", "200"]]);
const END = encoded([["x-end", "1"]]);

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(serve: (stream: Stream) => void, limits: Partial<ConnectionLimits> = {}) {
  const connections: Http2Connection[] = [];
  const server = createServer((socket) => {
    const onClose = () => connections.splice(connections.indexOf(connection), 1);
    const connection = new Http2Connection(socket, {
      limits: { ...LIMITS, ...limits },
      onStream: serve,
      onClose,
    });
    connections.push(connection);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  cleanups.push(() => {
    for (const connection of connections.slice()) connection.destroy();
    server.close();
  });
  return { port, connections };
}

function client(port: number, settings: Settings = {}): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`, { settings });
  session.on("error", () => undefined);
  cleanups.push(() => session.destroy());
  return session;
}

/** Answers with what came. */
function echo(stream: Stream): void {
  stream.respond(OK);
  stream.take({
    data: (chunk) => {
      stream.write(chunk);
      stream.consumed(chunk.length);
    },
    end: () => stream.end(END),
  });
}

async function exchange(session: ClientHttp2Session, body: Buffer): Promise<Buffer> {
  const stream = session.request({ ":method": "POST", ":path": "/" });
  stream.end(body);
  return buffer(stream);
}

describe("data", () => {
  test("comes through whole, however small the windows are", async () => {
    const { port } = await open(echo, { streamWindow: 20_000, connectionWindow: 70_000 });
    const session = client(port, { initialWindowSize: 1_000 });
    const bodies = [0, 1, 999, 70_000, 300_000].map((length) =>
      Buffer.from(Array.from({ length }, (_, i) => i % 251)),
    );
    const echoed = await Promise.all(bodies.map((body) => exchange(session, body)));
    expect(echoed.map((each, i) => each.equals(bodies[i] ?? Buffer.alloc(0)))).toEqual(
      bodies.map(() => true),
    );
  });

  test("waits in its stream while nobody reads, and asks for no more", async () => {
    const written = { isFull: false, bytes: 0 };
    const { port } = await open((stream) => {
      stream.respond(OK);
      const fill = () => {
        while (stream.write(Buffer.alloc(10_000))) written.bytes += 10_000;
        written.isFull = true;
        stream.drained(fill);
      };
      fill();
    });
    const session = client(port);
    const stream = session.request({ ":method": "POST", ":path": "/" });
    stream.pause();
    await once(stream, "response");
    await vi.waitFor(() => expect(written.isFull).toBe(true));
    const full = written.bytes;
    expect(full).toBeLessThan(300_000);
    stream.resume();
    await vi.waitFor(() => expect(written.bytes).toBeGreaterThan(full * 3));
  });

  test("one stream that nobody reads holds up no other", async () => {
    const { port } = await open((stream) => {
      if (stream.headers.get(":path") === "/") return echo(stream);
      stream.respond(OK);
      stream.write(Buffer.alloc(1_000_000));
    });
    const session = client(port, { initialWindowSize: 10_000 });
    const stuck = session.request({ ":method": "POST", ":path": "/stuck" });
    stuck.pause();
    await once(stuck, "response");
    expect((await exchange(session, Buffer.alloc(30_000))).length).toBe(30_000);
  });
});

test("a stream ends when either side wants it to", async () => {
  const closed = vi.fn<() => void>();
  const { port } = await open((stream) => {
    stream.onClose = closed;
    stream.respond(OK);
  });
  const session = client(port);
  const stream = session.request({ ":method": "POST", ":path": "/" });
  await once(stream, "response");
  stream.close();
  await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1));
});

test("closing lets what is under way finish and refuses the rest", async () => {
  const streams: Stream[] = [];
  const { port, connections } = await open((stream) => streams.push(stream));
  const session = client(port);
  const under = session.request({ ":method": "POST", ":path": "/" });
  under.end();
  await vi.waitFor(() => expect(streams).toHaveLength(1));
  connections[0]?.close();
  await once(session, "goaway");
  streams[0]?.answer({ headers: OK, data: Buffer.from("late"), trailers: END });
  expect((await buffer(under)).toString()).toBe("late");
  await vi.waitFor(() => expect(connections).toHaveLength(0));
});

interface Raw {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  /** The numbers of GOAWAY frames that came. */
  readonly reasons: number[];
}

/** A client that says what it wants, byte by byte. */
function raw(port: number): Raw {
  const socket = connectTcp(port, "127.0.0.1");
  const reasons: number[] = [];
  let bytes: Buffer = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const length = bytes.readUIntBE(0, 3);
      if (bytes[3] === FRAME.GOAWAY) reasons.push(bytes.readUInt32BE(13));
      bytes = bytes.subarray(9 + length);
    }
  });
  socket.write(PREFACE);
  socket.write(frame(FRAME.SETTINGS, 0));
  cleanups.push(() => socket.destroy());
  return { socket, reasons, closed: once(socket, "close") };
}

function frame(type: number, id: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  return flagged(0, type, id, payload);
}

function flagged(...[flags, type, id, payload]: readonly [number, number, number, Buffer]): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(id, 5);
  return Buffer.concat([header, payload]);
}

const CALM = 11;
const REQUEST = encoded([
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/"],
]);

describe("a hostile client", () => {
  const many = <T>(count: number, make: (i: number) => T) =>
    Array.from({ length: count }, (_, i) => make(i));

  test.each([
    ["pings", () => Buffer.concat(many(1_100, () => frame(FRAME.PING, 0, Buffer.alloc(8))))],
    ["changes its settings", () => Buffer.concat(many(1_100, () => frame(FRAME.SETTINGS, 0)))],
    [
      "opens and resets",
      () =>
        Buffer.concat(
          many(1_100, (i) =>
            Buffer.concat([
              flagged(FLAG.END_HEADERS, FRAME.HEADERS, 2 * i + 1, REQUEST),
              frame(FRAME.RST_STREAM, 2 * i + 1, Buffer.alloc(4)),
            ]),
          ),
        ),
    ],
    [
      "sends empty frames",
      () =>
        Buffer.concat([
          flagged(FLAG.END_HEADERS, FRAME.HEADERS, 1, REQUEST),
          ...many(1_100, () => frame(FRAME.DATA, 1)),
        ]),
    ],
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
    const { port, connections } = await open((stream) => stream.endWith(OK), {
      waitingBytes: 1_000,
      idleFramesPerSecond: 1_000_000,
    });
    const { socket } = raw(port);
    socket.pause();
    const pings = Buffer.concat(many(10_000, () => frame(FRAME.PING, 0, Buffer.alloc(8))));
    const isOver = () => connections.length === 0;
    await vi.waitFor(() => {
      if (!isOver()) socket.write(pings);
      expect(isOver()).toBe(true);
    });
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

test("a client that answers pings stays", async () => {
  const { port, connections } = await open(echo, { keepaliveMs: 10, keepaliveTimeoutMs: 200 });
  const session = client(port);
  let pings = 0;
  session.on("ping", () => (pings += 1));
  await vi.waitFor(() => expect(pings).toBeGreaterThan(5));
  expect(connections).toHaveLength(1);
});
