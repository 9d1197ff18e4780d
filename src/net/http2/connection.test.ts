import { once } from "node:events";
import type { Settings } from "node:http2";
import { buffer } from "node:stream/consumers";
import { describe, expect, test, vi } from "vitest";
import { client, echo, END, exchange, OK, open } from "../../../test/support/http2/fixture.ts";
import type { Stream } from "./stream.ts";

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

  test("of many streams in one turn comes through whole, also where it is the same", async () => {
    const streams: Stream[] = [];
    const { port } = await open((stream) => {
      stream.respond(OK);
      if (streams.push(stream) < 6) return;
      const shared = Buffer.from("to all");
      for (const each of streams) each.write(shared);
      for (const each of streams) each.write(Buffer.from(` and to ${each.id}`));
      for (const each of streams) each.end(END);
    });
    const sessions = [client(port), client(port), client(port)];
    const bodies = await Promise.all(
      [...sessions, ...sessions].map((session) => buffer(session.request({ ":path": "/" }))),
    );
    const ids = [1, 1, 1, 3, 3, 3];
    expect(bodies.map(String)).toEqual(ids.map((id) => `to all and to ${id}`));
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

test("a client whose caller is known may have more streams", async () => {
  const { port } = await open(
    (stream) => {
      stream.welcome();
      echo(stream);
    },
    { strangerStreams: 2 },
  );
  const session = client(port);
  const told: (number | undefined)[] = [];
  session.on("remoteSettings", (settings: Settings) => told.push(settings.maxConcurrentStreams));
  await exchange(session, Buffer.from("x"));
  await vi.waitFor(() => expect(told).toEqual([2, 100]));
});

test("streams that are open get the room that a client gives to all", async () => {
  const { port } = await open((stream) =>
    stream.answer({ headers: OK, data: Buffer.alloc(20_000), trailers: END }),
  );
  const session = client(port, { initialWindowSize: 0 });
  const stream = session.request({ ":method": "POST", ":path": "/" });
  stream.end();
  await once(stream, "response");
  session.settings({ initialWindowSize: 5_000 });
  session.settings({ initialWindowSize: 100_000 });
  expect((await buffer(stream)).length).toBe(20_000);
});

test("a client that answers pings stays", async () => {
  const { port, connections } = await open(echo, { keepaliveMs: 10, keepaliveTimeoutMs: 200 });
  const session = client(port);
  let pings = 0;
  session.on("ping", () => (pings += 1));
  await vi.waitFor(() => expect(pings).toBeGreaterThan(5));
  expect(connections).toHaveLength(1);
});
