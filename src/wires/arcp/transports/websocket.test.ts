import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import type { Transport } from "../server/transport.ts";
import { TRANSPORT } from "./limits.ts";
import { serveWebSocket, type ServeOptions } from "./serve-websocket.ts";
import { hear, type Heard } from "../../../../test/support/arcp-transports/fixture.ts";
import { connectWebSocket } from "./websocket.ts";

async function serve(options: ServeOptions = {}) {
  const heard: Heard[] = [];
  const transports: Transport[] = [];
  const door = await serveWebSocket((transport) => {
    transports.push(transport);
    heard.push(hear(transport));
  }, options);
  onTestFinished(() => door.close());
  return { door, heard, transports, first: () => vi.waitUntil(() => heard[0]) };
}

async function raw(url: string, options = {}): Promise<WebSocket> {
  const socket = new WebSocket(url, options);
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

test("text and binary are both taken; we send text, uncompressed", async () => {
  const { door, transports, first } = await serve();
  const socket = await raw(door.url, { perMessageDeflate: true });
  expect(socket.extensions).toBe("");
  socket.send("text");
  socket.send(Buffer.from("binär"));
  const heard = await first();
  await vi.waitFor(() => expect(heard.frames).toEqual(["text", "binär"]));
  const answer = once(socket, "message");
  transports[0]?.send("answer");
  expect(await answer).toEqual([Buffer.from("answer"), false]);
});

test("a frame of more than 4 MiB closes with 1009, what is not UTF-8 with 1007", async () => {
  const { door, heard } = await serve();
  const [large, broken] = [await raw(door.url), await raw(door.url)];
  const closed = Promise.all([once(large, "close"), once(broken, "close")]);
  large.send("x".repeat(TRANSPORT.inboundBytes + 1));
  broken.send(Buffer.from([0xc3, 0x28]));
  expect((await closed).map(([code]) => code as number)).toEqual([1009, 1007]);
  await vi.waitFor(() => expect(heard.map(({ ending }) => ending?.code)).toEqual([1009, 1007]));
  expect(heard.flatMap(({ frames }) => frames)).toEqual([]);
});

test("the path is compared without its query, and another path is not found", async () => {
  const { door } = await serve();
  const socket = await raw(`${door.url}?token=none`);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  await expect(connectWebSocket(`${door.url}s`)).rejects.toThrow(/404/);
});

test("a page of another name or origin is refused before the upgrade", async () => {
  const { door } = await serve();
  const { host } = new URL(door.url);
  const headers = [{ host: "evil.example" }, { origin: "https://evil.example" }];
  for (const each of headers) {
    await expect(connectWebSocket(door.url, { headers: each })).rejects.toThrow(/403/);
  }
  const own = await raw(door.url, { headers: { origin: `http://${host}` } });
  expect(own.readyState).toBe(WebSocket.OPEN);
});

test("of the protocols a client offers ours is chosen, else its first", async () => {
  const { door } = await serve();
  for (const [offered, chosen] of [
    [["x", "arcp.v1.1"], "arcp.v1.1"],
    [["x"], "x"],
  ] as const) {
    const socket = new WebSocket(door.url, [...offered]);
    await once(socket, "open");
    expect(socket.protocol).toBe(chosen);
    socket.terminate();
  }
});

test("what is not a WebSocket is told to become one", async () => {
  const { door } = await serve();
  const asked = request(door.url.replace("ws:", "http:"));
  asked.end();
  const [response] = (await once(asked, "response")) as [{ statusCode: number; resume(): void }];
  response.resume();
  expect(response.statusCode).toBe(426);
});

test("a peer that vanishes without a word shows as 1006", async () => {
  const { door, first } = await serve();
  const socket = await raw(door.url);
  const heard = await first();
  socket.terminate();
  await vi.waitFor(() => expect(heard.ending?.code).toBe(1006));
});

test("where nobody answers it says so, without what may be secret in the address", async () => {
  const { door } = await serve();
  await door.close();
  const url = `${door.url}?token=secret`;
  const failure = connectWebSocket(url);
  await expect(failure).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(failure).rejects.not.toThrow(/secret/);
  await expect(connectWebSocket("not a url")).rejects.toThrow(/not a ws:\/\/ or wss:/);
});

test("connecting is given up when asked to", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as { port: number };
  const abort = new AbortController();
  const attempt = connectWebSocket(`ws://127.0.0.1:${port}/arcp`, { signal: abort.signal });
  await once(silent, "connection");
  abort.abort();
  await expect(attempt).rejects.toMatchObject({ code: "CANCELLED" });
});

test("a burst of frames leaves in one write, not one each", async () => {
  const { door, transports, first } = await serve();
  const socket = new WebSocket(door.url);
  onTestFinished(() => socket.terminate());
  let [chunks, messages] = [0, 0];
  socket.once("upgrade", ({ socket: stream }) => stream.on("data", () => (chunks += 1)));
  await first();
  const [transport] = transports;
  socket.on("message", () => (messages += 1));
  for (let i = 0; i < 500; i += 1) transport?.send(`{"n":${i}}`);
  await vi.waitFor(() => expect(messages).toBe(500));
  expect(chunks).toBeLessThan(20);
});

test("frames of every length arrive whole and in order, the last just before the end", async () => {
  const { door, transports, first } = await serve();
  const socket = await raw(door.url);
  await first();
  const texts = [0, 1, 125, 126, 65_535, 65_536, 300_000].flatMap((length) => [
    "x".repeat(length),
    "ü".repeat(length / 2),
    "😀".repeat(length / 4),
  ]);
  const messages: string[] = [];
  socket.on("message", (data: Buffer) => messages.push(data.toString()));
  const closed = once(socket, "close");
  for (const text of texts) transports[0]?.send(text);
  transports[0]?.close();
  expect((await closed)[0]).toBe(1000);
  expect(messages).toEqual(texts);
});
