import type { RequestListener, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { connectWith } from "./connect.ts";
import { Fetcher } from "./fetcher.ts";
import { FETCH } from "./limits.ts";
import { world } from "../../../test/support/fetch/fixture.ts";

const CARD_URL = "http://agent.example/.well-known/agent.json";
const UNIFORM = { code: "UNAVAILABLE", message: "it could not be fetched" };

function json(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}

const card: RequestListener = (_, response) => json(response, { name: "a" });

describe("how much it takes", () => {
  test("an endless body is dropped at its limit", async () => {
    let sent = 0;
    await using here = await world((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(16 * 1024, " ");
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on("drain", more);
      more();
    });
    await expect(here.fetcher.text(CARD_URL)).rejects.toMatchObject(UNIFORM);
    await vi.waitFor(async () => expect(await here.connections).toBe(0));
    // Buffers of the sockets on the way come on top.
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  test("a body that announces too much is not read at all", async () => {
    await using here = await world((_, response) => {
      const length = String(FETCH.bodyBytes + 1);
      response.writeHead(200, { "content-type": "application/json", "content-length": length });
      response.flushHeaders();
    });
    await expect(here.fetcher.text(CARD_URL)).rejects.toMatchObject(UNIFORM);
    await vi.waitFor(async () => expect(await here.connections).toBe(0));
  });

  test("a body of exactly the limit is taken", async () => {
    const text = JSON.stringify("x".repeat(FETCH.bodyBytes - 2));
    await using here = await world((_, response) => {
      response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(text);
    });
    await expect(here.fetcher.text(CARD_URL)).resolves.toBe(text);
  });

  test("a gzip bomb is dropped after its first pieces", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(FETCH.bodyBytes);
    await using here = await world((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(bomb);
    });
    const before = process.memoryUsage().arrayBuffers;
    await expect(here.fetcher.text(CARD_URL)).rejects.toMatchObject(UNIFORM);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
    expect(here.failures.at(0)?.reason).toMatch(/larger than \d+ bytes/);
  });

  test.each([
    ["a page", { "content-type": "text/html" }],
    ["no type", {}],
    ["an unknown packing", { "content-type": "application/json", "content-encoding": "zstd" }],
    ["half of a letter", { "content-type": "application/json" }],
  ])("%s is no card", async (_, headers) => {
    await using here = await world((_request, response) => {
      response.writeHead(200, headers).end(Buffer.from([0x22, 0xc3, 0x22]));
    });
    await expect(here.fetcher.text(CARD_URL)).rejects.toMatchObject(UNIFORM);
  });

  test("headers without end are not taken", async () => {
    await using here = await world((_, response) => {
      response.writeHead(200, { "content-type": "application/json", big: "x".repeat(20_000) });
      response.end("{}");
    });
    await expect(here.fetcher.text(CARD_URL)).rejects.toMatchObject(UNIFORM);
  });
});

describe("how long it waits", () => {
  test("for a body that trickles: three seconds, then the connection is gone", async () => {
    let isAsked = false;
    await using here = await world((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("{");
      isAsked = true;
    });
    const fetched = here.fetcher.text(CARD_URL);
    fetched.catch(() => undefined);
    await vi.waitFor(() => expect(isAsked).toBe(true));
    here.timers.advance(FETCH.requestMs - 1);
    expect(here.fetcher.running).toBe(1);
    here.timers.advance(1);
    await expect(fetched).rejects.toMatchObject(UNIFORM);
    await vi.waitFor(async () => expect(await here.connections).toBe(0));
    expect(here.timers.waiting).toBe(0);
    expect(here.fetcher.running).toBe(0);
  });

  test("for all candidates together: ten seconds, though each is quick to hang", async () => {
    const paths: unknown[] = [];
    await using here = await world((request) => void paths.push(request.url));
    const urls = ["a", "b", "c", "d", "e", "f"].map((path) => `http://agent.example/${path}`);
    const fetched = here.fetcher.first(urls, (text) => text);
    fetched.catch(() => undefined);
    for (let tried = 1; tried <= 4; tried += 1) {
      await vi.waitFor(() => expect(paths).toHaveLength(tried));
      here.timers.advance(FETCH.requestMs);
    }
    await expect(fetched).rejects.toMatchObject(UNIFORM);
    expect(paths).toHaveLength(4);
    expect(here.timers.waiting).toBe(0);
  });

  test("for a name that is never answered", async () => {
    const connect = vi.fn(connectWith());
    await using here = await world(card);
    const fetcher = new Fetcher({
      timers: here.timers,
      resolve: () => new Promise(() => undefined),
      connect,
    });
    const fetched = fetcher.text(CARD_URL);
    fetched.catch(() => undefined);
    await vi.waitFor(() => expect(here.timers.waiting).toBe(2));
    here.timers.advance(FETCH.requestMs);
    await expect(fetched).rejects.toMatchObject(UNIFORM);
    expect(connect).not.toHaveBeenCalled();
  });

  test("until nobody is interested any more", async () => {
    await using here = await world(() => undefined);
    const interest = new AbortController();
    const fetched = here.fetcher.text(CARD_URL, { signal: interest.signal });
    fetched.catch(() => undefined);
    await vi.waitFor(async () => expect(await here.connections).toBe(1));
    interest.abort();
    await expect(fetched).rejects.toMatchObject({ code: "CANCELLED" });
    await vi.waitFor(async () => expect(await here.connections).toBe(0));
    expect(here.timers.waiting).toBe(0);
  });

  test("until it is closed", async () => {
    await using here = await world(() => undefined);
    const fetched = here.fetcher.text(CARD_URL);
    fetched.catch(() => undefined);
    await vi.waitFor(async () => expect(await here.connections).toBe(1));
    await here.fetcher.close();
    await expect(fetched).rejects.toMatchObject(UNIFORM);
    await expect(here.fetcher.text(CARD_URL)).rejects.toMatchObject(UNIFORM);
    expect(here.dialled).toHaveLength(1);
    expect(here.timers.waiting).toBe(0);
  });
});

describe("how many at once", () => {
  const limits = { atOnce: 3, atOncePerOrigin: 2, waiting: 2 };

  test("two of an origin, three in all; the others wait, and too many fail", async () => {
    const open: (() => void)[] = [];
    const hosts: string[] = [];
    await using here = await world(
      (request, response) => {
        hosts.push(request.headers.host ?? "");
        open.push(() => json(response, {}));
      },
      { limits },
    );
    const fetch = async (host: string): Promise<string> => here.fetcher.text(`http://${host}/`);
    const first = [fetch("a.example"), fetch("a.example")];
    const waits = fetch("a.example");
    const passes = fetch("b.example");
    await vi.waitFor(() => expect(hosts).toHaveLength(3));
    expect(hosts.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      "a.example",
      "a.example",
      "b.example",
    ]);
    const alsoWaits = fetch("c.example");
    await expect(fetch("d.example")).rejects.toMatchObject(UNIFORM);
    expect(here.asked).not.toContain("d.example");
    for (let answered = 0; answered < 5; answered += 1) {
      await vi.waitFor(() => expect(open.length).toBeGreaterThan(answered));
      open[answered]?.();
    }
    const all = await Promise.all([...first, waits, passes, alsoWaits]);
    expect(all).toEqual(["{}", "{}", "{}", "{}", "{}"]);
    expect(here.fetcher.running).toBe(0);
  });

  test("one who loses interest while he waits makes room", async () => {
    await using here = await world(() => undefined, { limits: { ...limits, waiting: 1 } });
    for (const host of ["a", "b", "c"])
      here.fetcher.text(`http://${host}.example/`).catch(() => {});
    await vi.waitFor(() => expect(here.fetcher.running).toBe(3));
    const interest = new AbortController();
    const { signal } = interest;
    const waits = here.fetcher.text("http://d.example/", { signal });
    interest.abort();
    await expect(waits).rejects.toMatchObject({ code: "CANCELLED" });
    let isRefused = false;
    here.fetcher.text("http://e.example/").catch(() => (isRefused = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isRefused).toBe(false);
  });
});

test("whoever asked cannot tell one failure from another; the operator can", async () => {
  const answers: RequestListener[] = [
    (_, response) => response.writeHead(404).end(),
    (_, response) => response.writeHead(200, { "content-type": "text/html" }).end(),
    (_, response) => void response.destroy(),
    (_, response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
  ];
  const told = new Set<string>();
  const logged = new Set<string>();
  for (const answer of answers) {
    await using here = await world(answer);
    const error: unknown = await here.fetcher
      .text(`${CARD_URL}?token=secret`)
      .catch((e: unknown) => e);
    expect(error).toMatchObject(UNIFORM);
    expect(error).not.toHaveProperty("cause");
    told.add(`${String(error)} ${Object.keys(error as object).join()}`);
    const [failure] = here.failures;
    expect(failure?.url).toBe(CARD_URL);
    logged.add(failure?.reason ?? "");
  }
  expect(told.size).toBe(1);
  expect(logged.size).toBe(answers.length);
});
