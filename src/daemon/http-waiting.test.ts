/** Bytes that wait at the HTTP door: bodies that come and come, answers that nobody reads. */
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openDoor, say, type OpenDoor } from "../../test/support/daemon/fixture.ts";
import { newWaiting } from "../net/waiting.ts";
import { ADMITTED, type Route } from "../wires/route.ts";
import type { HttpDoorOptions } from "./http-door.ts";
import type { HotHandler, Mount } from "./mount.ts";

const doors: OpenDoor[] = [];

afterEach(async () => {
  await Promise.all(doors.splice(0).map(({ door }) => door.close(0)));
});

async function open(options: Partial<HttpDoorOptions>, mount: Mount): Promise<OpenDoor> {
  const opened = await openDoor(options);
  doors.push(opened);
  opened.door.mount(mount);
  return opened;
}

const echo: Route = {
  method: "POST",
  path: "/echo",
  access: ADMITTED,
  handle: async (c) => c.text(String((await c.req.arrayBuffer()).byteLength)),
};

describe("a body", () => {
  test("in a thousand pieces of a byte is refused", async () => {
    const { port } = await open({}, { routes: [echo] });
    const head = `POST /echo HTTP/1.1\r\nHost: localhost:${port}\r\n`;
    const raw = say(port, `${head}Transfer-Encoding: chunked\r\n\r\n`);
    raw.socket.write("1\r\nx\r\n".repeat(5_000));
    await vi.waitFor(() => expect(raw.heard).toContain("in pieces of less than 64 bytes"));
    raw.socket.destroy();
  });

  test("that waits longest gives way when all that come hold too much", async () => {
    const waiting = newWaiting(undefined, { http_requests: { bytes: 150 } });
    const { port } = await open({ waiting }, { routes: [echo] });
    const head = `POST /echo HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 101\r\n\r\n`;
    const first = say(port, head + "x".repeat(100));
    await vi.waitFor(() => expect(waiting.http_requests.bytes).toBe(100));
    const second = say(port, head + "x".repeat(100));
    await vi.waitFor(() => expect(first.heard).toContain("429"));
    second.socket.write("x");
    await vi.waitFor(() => expect(second.heard).toContain("200 OK"));
    expect(waiting.http_requests).toMatchObject({ bytes: 0, cuts: 1 });
    for (const { socket } of [first, second]) socket.destroy();
  });
});

describe("an answer", () => {
  const large = "x".repeat(20_000_000);
  const routes: Route[] = [
    { method: "GET", path: "/large", access: ADMITTED, handle: (c) => c.text(large) },
  ];
  const sendLarge: HotHandler = (_, response) => void response.end(large);
  const both: Mount = { routes, hot: { "/hot": { access: ADMITTED, handle: sendLarge } } };
  const call = (port: number, path = "/large") =>
    `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`;

  test("is begun when that to the request before it is out", async () => {
    const begun: ServerResponse[] = [];
    const handle: HotHandler = (_, response) => void begun.push(response);
    const hot = { "/slow": { access: ADMITTED, handle } } as const;
    const { port } = await open({}, { hot });
    const raw = say(port, `GET /slow HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`.repeat(3));
    for (const i of [0, 1, 2]) {
      await vi.waitFor(() => expect(begun).toHaveLength(i + 1));
      begun[i]?.end(`answer ${i}`);
      await vi.waitFor(() => expect(raw.heard).toContain(`answer ${i}`));
    }
    raw.socket.destroy();
  });

  test("to two requests at once leaves nothing behind, however often that is", async () => {
    const listeners: number[] = [];
    const handle: HotHandler = ({ socket }, response) => {
      listeners.push(socket.listenerCount("close"));
      response.end("done");
    };
    const hot = { "/both": { access: ADMITTED, handle } } as const;
    const { port } = await open({}, { hot });
    const raw = say(port, call(port, "/both").repeat(2));
    for (let i = 1; i <= 12; i += 1) {
      await vi.waitFor(() => expect(raw.heard.match(/done/g)).toHaveLength(2 * i));
      raw.socket.write(call(port, "/both").repeat(2));
    }
    expect(listeners.at(-1)).toBe(listeners[1]);
    raw.socket.destroy();
  });

  test("to more requests at once than there may be is not even begun", async () => {
    const { port, door } = await open({ limits: { pipelined: 2 } }, { routes });
    await say(port, call(port).repeat(4)).closed;
    expect(door.stats.requests).toBe(1);
  });

  test.each(["/large", "/hot"])(
    "of %s of which nothing is read for too long ends its connection",
    async (path) => {
      const waiting = newWaiting();
      const { port, door } = await open({ waiting, limits: { stallMs: 50 } }, both);
      say(port, call(port, path)).socket.pause();
      await vi.waitFor(() => expect(waiting.http_answers.bytes).toBeGreaterThan(0));
      await vi.waitFor(() => expect(door.connections).toBe(0));
      expect(waiting.http_answers.bytes).toBe(0);
    },
  );

  test("that waits longest gives way when all that wait are too much", async () => {
    const waiting = newWaiting(undefined, { http_answers: { bytes: 30_000_000 } });
    const { port, door } = await open({ waiting }, { routes });
    const [first, second] = [say(port, call(port)), say(port, call(port))];
    for (const { socket } of [first, second]) socket.pause();
    await vi.waitFor(() => expect(waiting.http_answers.cuts).toBe(1));
    await vi.waitFor(() => expect(door.connections).toBe(1));
    second.socket.resume();
    first.socket.resume();
    await vi.waitFor(() => {
      expect(Math.max(first.heard.length, second.heard.length)).toBeGreaterThan(large.length);
    });
    for (const { socket } of [first, second]) socket.destroy();
  });
});
