import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Transport } from "../server/transport.ts";
import { TRANSPORT } from "./limits.ts";
import { MemoryLink, pairMemoryTransports } from "./memory.ts";
import { serveWebSocket } from "./serve-websocket.ts";
import { stdioTransport } from "./stdio.ts";
import { hear } from "../../../../test/support/arcp-transports/fixture.ts";
import { connectWebSocket } from "./websocket.ts";

type Pair = readonly [client: Transport, runtime: Transport];

async function webSockets(): Promise<Pair> {
  const accepted: Transport[] = [];
  const door = await serveWebSocket((transport) => void accepted.push(transport));
  onTestFinished(() => door.close());
  const client = await connectWebSocket(door.url);
  await vi.waitFor(() => expect(accepted).toHaveLength(1));
  const [runtime] = accepted;
  if (!runtime) throw new Error("nobody was accepted");
  return [client, runtime];
}

function pipes(): Pair {
  const [there, back] = [new PassThrough(), new PassThrough()];
  return [
    stdioTransport({ input: back, output: there }),
    stdioTransport({ input: there, output: back }),
  ];
}

const KINDS = [
  ["memory", async () => pairMemoryTransports()],
  ["WebSocket", webSockets],
  ["stdio", async () => pipes()],
] as const;

test.for(KINDS)("%s: frames arrive whole, in order, in both directions", async ([, pair]) => {
  const [client, runtime] = await pair();
  const [atClient, atRuntime] = [hear(client), hear(runtime)];
  const frames = Array.from({ length: 200 }, (_, i) => `{"n":${i},"text":"grüße 🚀 ${i}"}`);
  for (const frame of frames) {
    client.send(frame);
    runtime.send(frame);
  }
  expect(atRuntime.frames).toEqual([]);
  await vi.waitFor(() => expect(atRuntime.frames).toEqual(frames));
  await vi.waitFor(() => expect(atClient.frames).toEqual(frames));
  client.close();
});

test.for(KINDS)("%s: what is sent before the other end opens waits for it", async ([, pair]) => {
  const [client, runtime] = await pair();
  hear(client);
  client.send('{"first":true}');
  await vi.waitFor(() => expect(client.waitingBytes).toBeGreaterThanOrEqual(0));
  const heard = hear(runtime);
  await vi.waitFor(() => expect(heard.frames).toEqual(['{"first":true}']));
  client.close();
});

test.for(KINDS)("%s: the end comes once at each end, after what was sent", async ([, pair]) => {
  const [client, runtime] = await pair();
  const [atClient, atRuntime] = [hear(client), hear(runtime)];
  client.send("1");
  client.send("2");
  client.close({ code: 1000, reason: "done" });
  client.close({ code: 1013, reason: "again" });
  client.send("3");
  await vi.waitFor(() => expect(atRuntime.ending?.code).toBe(1000));
  await vi.waitFor(() => expect(atClient.ending).toEqual({ code: 1000, reason: "done" }));
  expect(atRuntime.frames).toEqual(["1", "2"]);
  runtime.close();
  runtime.send("4");
  expect([atClient.endings, atRuntime.endings]).toEqual([1, 1]);
});

test.for(KINDS)("%s: a frame beyond what any peer takes is refused, not sent", async ([, pair]) => {
  const [client, runtime] = await pair();
  const heard = hear(runtime);
  hear(client);
  const most = "x".repeat(client.maxFrameBytes);
  client.send(most);
  expect(() => client.send(`${most}x`)).toThrow(/at most \d+ can be sent/);
  // Two bytes each.
  expect(() => client.send("ü".repeat(client.maxFrameBytes / 2 + 1))).toThrow(/at most/);
  client.send("after");
  await vi.waitFor(() =>
    expect(heard.frames.map(({ length }) => length)).toEqual([most.length, 5]),
  );
  client.close();
});

test.for(KINDS)("%s: what waits is counted, and its end is told", async ([, pair]) => {
  const [client, runtime] = await pair();
  const heard = hear(client);
  for (let i = 0; i < 100; i += 1) client.send("x".repeat(10_000));
  expect(client.waitingBytes).toBeGreaterThan(900_000);
  hear(runtime);
  await vi.waitFor(() => expect(client.waitingBytes).toBe(0));
  await vi.waitFor(() => expect(heard.drains).toBeGreaterThan(0));
  client.close();
});

test("a pair in memory that nobody reads ends, overloaded, instead of growing", async () => {
  const [client, runtime] = pairMemoryTransports();
  const heard = hear(client);
  const frame = "x".repeat(TRANSPORT.outboundBytes);
  for (let i = 0; i <= 16; i += 1) client.send(frame);
  await vi.waitFor(() => expect(heard.ending?.code).toBe(1013));
  expect(client.waitingBytes).toBe(0);
  expect(hear(runtime).frames).toEqual([]);
});

test("a frozen link delivers nothing until it thaws; a cut one loses what is on it", async () => {
  const link = new MemoryLink();
  const [atClient, atRuntime] = [hear(link.client), hear(link.runtime)];
  link.freeze();
  link.client.send("1");
  await new Promise((resolve) => setImmediate(resolve));
  expect([atRuntime.frames, link.client.waitingBytes]).toEqual([[], 1]);
  link.thaw();
  await vi.waitFor(() => expect(atRuntime.frames).toEqual(["1"]));
  link.client.send("2");
  link.cut();
  await vi.waitFor(() =>
    expect([atClient.ending?.code, atRuntime.ending?.code]).toEqual([1006, 1006]),
  );
  expect(atRuntime.frames).toEqual(["1"]);
});

test("an open pair in memory keeps the process alive, as a socket does", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
  const before = timers();
  const [client, runtime] = pairMemoryTransports();
  const [atClient, atRuntime] = [hear(client), hear(runtime)];
  expect(timers()).toBe(before + 1);
  client.close();
  while (!atClient.ending || !atRuntime.ending) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(timers()).toBe(before);
});
