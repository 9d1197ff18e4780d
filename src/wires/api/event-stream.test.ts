import { once } from "node:events";
import {
  createServer,
  get,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { afterEach, describe, expect, test, vi } from "vitest";
import { WATCH } from "../../core/limits.ts";
import { CARD, openEngine, register, type Fixture } from "../../../test/support/engine/fixture.ts";
import { EventStreams } from "./event-stream.ts";
import { EVENT_STREAM } from "./limits.ts";
import { refusalOf } from "./refusal.ts";
import { LIBRARY } from "../../core/by.ts";

interface Message {
  readonly id?: number;
  readonly event?: string;
  readonly data?: string;
}

interface Served extends Fixture {
  readonly streams: EventStreams;
  readonly responses: ServerResponse[];
  readonly open: (query: string, headers?: OutgoingHttpHeaders) => Promise<Client>;
}

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(maxStreams?: number): Promise<Served> {
  const fixture = await openEngine();
  const { engine, clock } = fixture;
  const streams = new EventStreams({
    engine,
    clock,
    ...(maxStreams !== undefined && { maxStreams }),
  });
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    responses.push(response);
    streams.serve(request, response, LIBRARY).catch((error: unknown) => {
      const { status, body } = refusalOf(error);
      response.writeHead(status).end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(
    () => engine.close(),
    () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  );
  const bound = server.address();
  const port = typeof bound === "object" && bound ? bound.port : 0;
  const open = (query: string, headers: OutgoingHttpHeaders = {}) =>
    connect(`http://127.0.0.1:${port}/v1/events${query}`, headers);
  return { ...fixture, streams, responses, open };
}

class Client {
  readonly response: IncomingMessage;
  text = "";
  isEnded = false;

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding("utf8").on("data", (chunk: string) => (this.text += chunk));
    response.on("end", () => (this.isEnded = true)).on("error", () => undefined);
  }

  get messages(): readonly Message[] {
    return this.text.split("\n\n").slice(0, -1).map(parse);
  }

  /** The sequences of events, in the order they came. */
  get ids(): readonly number[] {
    return this.messages.flatMap(({ id, event }) => (id && event?.includes(".") ? [id] : []));
  }

  of(event: string): readonly Message[] {
    return this.messages.filter((message) => message.event === event);
  }
}

function parse(block: string): Message {
  const fields = block.split("\n").map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 2)] as const;
  });
  const { id, ...rest } = Object.fromEntries(fields);
  return { ...rest, ...(id !== undefined && { id: Number(id) }) };
}

async function connect(url: string, headers: OutgoingHttpHeaders): Promise<Client> {
  const request = get(url, { headers, agent: false });
  request.on("error", () => undefined);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  cleanups.push(() => response.destroy());
  return new Client(response);
}

function upTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

describe("a stream of events", () => {
  test("tells everything after `from`, then what happens, each event whole", async () => {
    const { engine, open } = await serve();
    const agentId = await register(engine);
    const client = await open("?from=0");
    expect(client.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    await vi.waitFor(() => expect(client.of("bookmark")).toHaveLength(1));
    await engine.execute({ type: "agent.deregister", agentId }, LIBRARY);
    await vi.waitFor(() => expect(client.ids).toEqual([1, 2, 3]));
    const [registered] = client.of("agent.registered");
    expect(JSON.parse(registered?.data ?? "")).toEqual({
      sequence: 2,
      topic: "agent.registered",
      at: "2023-11-14T22:13:20.000Z",
      type: "agent.registered",
      agent: expect.objectContaining({ agentId, card: CARD }) as unknown,
      by: { principal: "local", wire: "library", peer: "" },
    });
  });

  test("without `from` begins now, and says where that is", async () => {
    const { engine, open } = await serve();
    await register(engine);
    const client = await open("");
    await vi.waitFor(() => expect(client.of("bookmark")).toMatchObject([{ id: 2 }]));
    await register(engine);
    await vi.waitFor(() => expect(client.ids).toEqual([3]));
  });

  test("tells only the topics asked for", async () => {
    const { engine, open } = await serve();
    const agentId = await register(engine);
    await engine.execute({ type: "lease.acquire", taskId: "t", agentId, ttlMs: 0 }, LIBRARY);
    const client = await open("?from=0&topic=lease.&topic=node.");
    await vi.waitFor(() => expect(client.ids).toEqual([1, 3]));
  });

  test("goes on after Last-Event-ID, not `from`, without a gap or a duplicate", async () => {
    const { engine, open } = await serve();
    const writing = (async () => {
      for (let i = 0; i < 2_000; i += 1) await register(engine);
    })();
    const seen: number[] = [];
    for (let after = 0; after < 2_001;) {
      const headers = after === 0 ? {} : { "last-event-id": String(after) };
      const client = await open("?from=0", headers);
      await vi.waitFor(() => expect(client.ids.length).toBeGreaterThan(0));
      client.response.destroy();
      seen.push(...client.ids);
      after = seen.at(-1) ?? 0;
    }
    await writing;
    expect(seen).toEqual(upTo(2_001));
  });

  test("says so when what was asked for can no longer be told", async () => {
    const { engine, log, open } = await serve();
    for (let i = 0; i < WATCH.recentEvents + 10; i += 1) await register(engine);
    const { head } = engine;
    await log.saveSnapshot({ sequence: head, chunks: [] });
    await log.truncate(head - 1);
    const client = await open("?from=0");
    await vi.waitFor(() => expect(client.of("resync")).toMatchObject([{ id: head }]));
    expect(client.ids).toEqual([]);
  });

  test("shows that it lives while nothing happens", async () => {
    const { clock, open } = await serve();
    const client = await open("?topic=nothing");
    await vi.waitFor(() => expect(client.of("bookmark")).toHaveLength(1));
    await clock.advance(3 * EVENT_STREAM.heartbeatMs);
    await vi.waitFor(() => expect(client.text.match(/^:$/gm)).toHaveLength(3));
  });

  test("ends with a reason when the node closes", async () => {
    const { engine, open, streams } = await serve();
    const client = await open("?from=0");
    await vi.waitFor(() => expect(client.ids).toEqual([1]));
    await engine.close();
    await vi.waitFor(() => expect(client.isEnded).toBe(true));
    const [error] = client.of("error");
    expect(error?.data).toContain('"code":"UNAVAILABLE"');
    expect(streams.open).toBe(0);
  });

  test("is let go of when its client leaves", async () => {
    const { engine, clock, streams, open } = await serve();
    const client = await open("");
    expect(streams.open).toBe(1);
    const timers = clock.timers;
    client.response.destroy();
    await vi.waitFor(() => expect(streams.open).toBe(0));
    expect(engine.watches.open).toBe(0);
    expect(clock.timers).toBe(timers - 1);
  });
});

describe("a client that does not read", () => {
  test("costs little memory, and is cut when it is too far behind", async () => {
    const { engine, streams, responses, open } = await serve();
    const stalled = await open("");
    stalled.response.pause();
    const well = await open("");
    let buffered = 0;
    for (let i = 0; i < WATCH.lagEvents + 30_000; i += 2_000) {
      await Promise.all(Array.from({ length: 2_000 }, () => register(engine)));
      buffered = Math.max(buffered, responses[0]?.writableLength ?? 0);
      const last = `id: ${engine.head}\n`;
      await vi.waitFor(() => expect(well.text.slice(-1_000)).toContain(last), { interval: 1 });
    }
    await vi.waitFor(() => expect(engine.watches.cut).toBe(1));
    expect(buffered).toBeLessThan(1024 * 1024);
    await vi.waitFor(() => expect(streams.open).toBe(1));
    expect(well.ids).toEqual(upTo(engine.head, 2));
    stalled.response.resume();
    await vi.waitFor(() => expect(stalled.isEnded).toBe(true), 5_000);
    const last = stalled.messages.at(-1);
    expect(last?.event).toBe("error");
    expect(last?.data).toContain(`resume from ${stalled.ids.at(-1)}`);
  }, 60_000);

  test("of a replay is cut after a while, though it is not late for anything", async () => {
    const { engine, clock, streams, responses, open } = await serve();
    const card = { ...CARD, description: "x".repeat(4_000) };
    for (let i = 0; i < 5_000; i += 1) {
      await engine.execute({ type: "agent.register", card, ttlMs: 86_400_000 }, LIBRARY);
    }
    const stalled = await open("?from=0");
    stalled.response.pause();
    await vi.waitFor(() => expect(responses[0]?.writableNeedDrain).toBe(true));
    await clock.advance(EVENT_STREAM.stallMs);
    await vi.waitFor(() => expect(streams.open).toBe(0));
    await clock.advance(EVENT_STREAM.farewellMs);
    stalled.response.resume();
    await vi.waitFor(() => expect(stalled.response.destroyed).toBe(true));
    expect(stalled.ids.length).toBeLessThan(5_001);
  }, 30_000);
});

describe("what makes no sense is refused by name", () => {
  test.each([
    ["?from=-1", {}, 'from is \\"-1\\", not a sequence'],
    ["?from=x", {}, 'from is \\"x\\", not a sequence'],
    ["?from=", {}, 'from is \\"\\", not a sequence'],
    ["?from=1e3", {}, "from is"],
    ["?from=99999999999999999999", {}, "from is"],
    ["?from=1&from=2", {}, "from is given more than once"],
    ["?form=1", {}, "form is unknown; there are from, topic"],
    [`?topic=${"x".repeat(300)}`, {}, "topic has 300 characters"],
    [`?${"topic=x&".repeat(65)}`, {}, "topics has 65 entries"],
    ["", { "last-event-id": "soon" }, 'last-event-id is \\"soon\\"'],
  ])("%s %j", async (query, headers, message) => {
    const { open, streams } = await serve();
    const client = await open(query, headers);
    await vi.waitFor(() => expect(client.isEnded).toBe(true));
    expect(client.response.statusCode).toBe(400);
    expect(client.text).toContain('"code":"INVALID_ARGUMENT"');
    expect(client.text).toContain(message);
    expect(streams.open).toBe(0);
  });

  test("one stream more than allowed is told to come back", async () => {
    const { open } = await serve(1);
    await open("");
    const client = await open("");
    await vi.waitFor(() => expect(client.isEnded).toBe(true));
    expect(client.response.statusCode).toBe(429);
    expect(client.text).toContain("local already has 1 streams: that is the limit");
  });
});
