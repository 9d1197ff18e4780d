import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { codeOf, RollcallError } from "../../../core/errors.ts";
import { connect } from "./client.ts";
import type { EventsOptions, StreamItem } from "./events.ts";

/** How the server treats each connection, in turn; the last one holds for all that follow. */
type Act = (response: ServerResponse, request: IncomingMessage) => void;

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(...acts: readonly Act[]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${String(request.headers["last-event-id"] ?? "-")}`);
    acts[Math.min(asked.length, acts.length) - 1]?.(response, request);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked };
}

function frames(...list: readonly string[]): string {
  return `retry: 1\n\n${list.join("")}`;
}

function event(sequence: number, topic = "lease.renewed"): string {
  return `id: ${sequence}\nevent: ${topic}\ndata: {"at":"2026-01-02T03:04:05Z"}\n\n`;
}

const place = (kind: string, sequence: number) =>
  `id: ${sequence}\nevent: ${kind}\ndata: {"sequence":${sequence}}\n\n`;

const send =
  (text: string): Act =>
  (response) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).write(text);

const sendAndDie =
  (text: string): Act =>
  (response) => {
    response.writeHead(200).write(text, () => response.destroy());
  };

async function take(count: number, url: string, options: EventsOptions = {}) {
  const items: StreamItem[] = [];
  for await (const item of connect({ url }).events(options)) {
    items.push(item);
    if (items.length === count) break;
  }
  return items.map((item) => `${item.kind} ${item.sequence}`);
}

test("a stream that breaks goes on where it was: no gap, nothing twice", async () => {
  const { url, asked } = await serve(
    sendAndDie(frames(event(1), event(2), "id: 3\nevent: half")),
    send(frames(event(2), event(3), event(4))),
  );
  expect(await take(4, url, { from: 0 })).toEqual(["event 1", "event 2", "event 3", "event 4"]);
  expect(asked).toEqual(["/v1/events?from=0 0", "/v1/events?from=2 2"]);
});

test("a live stream on which nothing happened resumes from its first bookmark", async () => {
  const { url, asked } = await serve(
    sendAndDie(frames(place("bookmark", 41))),
    send(frames(event(42))),
  );
  expect(await take(1, url, { topics: ["lease.", "task."] })).toEqual(["event 42"]);
  const topics = "topic=lease.&topic=task.";
  expect(asked).toEqual([`/v1/events?${topics} -`, `/v1/events?from=41&${topics} 41`]);
});

test("what the log no longer holds is told, with what was lost", async () => {
  const { url } = await serve(send(frames(place("resync", 900), event(901))));
  const items: StreamItem[] = [];
  for await (const item of connect({ url }).events({ from: 3 })) {
    items.push(item);
    if (items.length === 2) break;
  }
  expect(items[0]).toEqual({ kind: "resync", after: 3, sequence: 900 });
  expect(items[1]).toMatchObject({ kind: "event", sequence: 901 });
});

test("a log that is shorter than what was seen is another one, followed from its end", async () => {
  const { url } = await serve(
    sendAndDie(frames(event(10))),
    send(frames(place("resync", 1), event(2))),
  );
  expect(await take(3, url, { from: 9 })).toEqual(["event 10", "resync 1", "event 2"]);
});

test("a watcher that was cut for being slow comes back by itself", async () => {
  const cut = 'event: error\ndata: {"error":{"code":"SLOW_CONSUMER","message":"behind"}}\n\n';
  const { url } = await serve(send(frames(event(1), cut)), send(frames(event(2))));
  expect(await take(2, url, { from: 0 })).toEqual(["event 1", "event 2"]);
});

test("whoever asks is told when the connection goes and comes", async () => {
  const { url } = await serve(sendAndDie(frames(event(1))), send(frames(event(2))));
  const states: string[] = [];
  const onState: EventsOptions["onState"] = ({ kind, after }) => states.push(`${kind} ${after}`);
  await take(2, url, { from: 0, onState });
  expect(states).toEqual(["open 0", "lost 1", "open 1"]);
});

test("a daemon that was never there is an error, not a wait", async () => {
  const error = await take(1, "http://127.0.0.1:1").catch((each: unknown) => each);
  expect(codeOf(error)).toBe("UNAVAILABLE");
  expect(error).toHaveProperty("message", expect.stringContaining("connection refused"));
});

test("a refusal is final, in the words of the daemon", async () => {
  const body = '{"error":{"code":"INVALID_ARGUMENT","message":"from is -1"}}';
  const { url } = await serve((response) => response.writeHead(400).end(body));
  await expect(take(1, url)).rejects.toMatchObject(
    new RollcallError("INVALID_ARGUMENT", "from is -1"),
  );
});

test("another program at that address is not mistaken for a daemon", async () => {
  const { url } = await serve((response) => response.writeHead(500).end("<h1>oops</h1>"));
  await expect(take(1, url)).rejects.toThrow("not as rollcall does");
  await expect(connect({ url }).get("/v1/status")).rejects.toThrow("not as rollcall does");
});

test("stopping ends the stream quietly, at once, even while it waits", async () => {
  const stop = new AbortController();
  const { url } = await serve((response, request) => {
    request.on("close", () => undefined);
    response.writeHead(200).write(frames(event(1)));
  });
  const seen: number[] = [];
  for await (const { sequence } of connect({ url }).events({ from: 0, signal: stop.signal })) {
    seen.push(sequence);
    queueMicrotask(() => stop.abort());
  }
  expect(seen).toEqual([1]);
});
