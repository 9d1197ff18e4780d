import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { fastify } from "fastify";
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { HEARTBEAT } from "../../../core/card-limits.ts";
import { quiet, TestClock } from "../../../../test/support/engine/fixture.ts";
import { RegistryClient } from "./client.ts";
import { WAITING } from "../../../directory/limits.ts";
import { MemoryRegistryProvider } from "./provider.ts";
import type { CardFetcher } from "./registry.ts";
import { RegistryServer, type RegistryAnswer } from "./server.ts";

const CARD = { name: "A", url: "http://a.example" };

/** Agents as they publish their cards; what is a promise is published when it resolves. */
class Agents implements CardFetcher {
  readonly published = new Map<string, string | Promise<string>>();
  readonly fetched: string[] = [];

  async first<T>(urls: readonly string[], read: (text: string) => T | undefined): Promise<T> {
    const [url = ""] = urls;
    this.fetched.push(url);
    const text = await this.published.get(url.replace(/\/\.well-known.*/, ""));
    const found = text === undefined ? undefined : read(text);
    if (found === undefined) throw new Error("it could not be fetched");
    return found;
  }
}

interface Fixture {
  readonly agents: Agents;
  readonly clock: TestClock;
  readonly server: RegistryServer;
}

function fixture(): Fixture {
  const [agents, clock] = [new Agents(), new TestClock()];
  return { agents, clock, server: new RegistryServer({ fetcher: agents, clock }) };
}

async function send(
  server: RegistryServer,
  body: unknown,
  options: { path?: string; type?: string | undefined } = {},
): Promise<RegistryAnswer> {
  const { path = "/.well-known/agents/heartbeat" } = options;
  const type = "type" in options ? options.type : "application/json";
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const request = {
    method: "POST",
    path,
    header: (name: string) => (name === "content-type" ? type : undefined),
    body: async (maxBytes: number) => (text.length > maxBytes ? undefined : text),
  };
  const answer = await server.answer(request);
  if (!answer) throw new Error("it is not the registry's");
  return answer;
}

async function beat(server: RegistryServer, card: object, interval = 60): Promise<boolean> {
  const { body } = await send(server, { agent_card: card, interval });
  return (JSON.parse(body) as { verified: boolean }).verified;
}

async function list(
  server: RegistryServer,
  version?: string,
): Promise<readonly { readonly name: string }[]> {
  const header = (name: string): string | undefined =>
    name === "a2a-version" ? version : undefined;
  const body = async (): Promise<string> => "";
  const request = { method: "GET", path: "/.well-known/agents", header, body };
  const answer = await server.answer(request);
  return JSON.parse(answer?.body ?? "") as { name: string }[];
}

describe("an agent", () => {
  test("is listed once its own card was fetched, and as it publishes it", async () => {
    const { agents, server } = fixture();
    await expect(beat(server, CARD)).resolves.toBe(false);
    await expect(list(server)).resolves.toEqual([]);
    agents.published.set(CARD.url, JSON.stringify({ ...CARD, name: "Published" }));
    await expect(beat(server, CARD)).resolves.toBe(true);
    await expect(list(server)).resolves.toMatchObject([{ name: "Published", url: CARD.url }]);
    await expect(list(server, "1.0")).resolves.toMatchObject([
      { url: null, supportedInterfaces: [{ url: CARD.url }] },
    ]);
  });

  test("that is listed never waits, even where its new card hangs", async () => {
    const { agents, server } = fixture();
    agents.published.set(CARD.url, JSON.stringify(CARD));
    await beat(server, CARD);
    agents.published.set(CARD.url, new Promise(() => undefined));
    await expect(beat(server, { ...CARD, name: "B" })).resolves.toBe(true);
    expect(agents.fetched).toHaveLength(2);
  });

  test("is asked to come back thrice before it would be evicted", async () => {
    const { server } = fixture();
    const asked = async (interval: number) =>
      (await send(server, { agent_card: CARD, interval })).headers["retry-after"];
    expect([await asked(3), await asked(60), await asked(600)]).toEqual(["3", "60", "60"]);
  });

  test("that an older process kept in the store is fetched once more, and goes on", async () => {
    const [agents, provider] = [new Agents(), new MemoryRegistryProvider()];
    agents.published.set(CARD.url, JSON.stringify(CARD));
    await using before = new RegistryServer({ fetcher: agents, provider });
    await beat(before, CARD);
    await using after = new RegistryServer({ fetcher: agents, provider });
    for (let i = 0; i < 3; i += 1) {
      await expect(beat(after, CARD)).resolves.toBe(true);
      await quiet();
    }
    expect(agents.fetched).toHaveLength(2);
  });

  test("that is listed is not fetched again while it says the same", async () => {
    const { agents, server } = fixture();
    agents.published.set(CARD.url, JSON.stringify(CARD));
    await beat(server, CARD);
    await beat(server, { url: CARD.url, name: "A" });
    expect(agents.fetched).toHaveLength(1);
  });

  test("cannot be taken over: what others say in its name is not listed", async () => {
    const { agents, server } = fixture();
    agents.published.set(CARD.url, JSON.stringify(CARD));
    await beat(server, CARD);
    await expect(beat(server, { ...CARD, name: "Evil" })).resolves.toBe(true);
    await expect(list(server)).resolves.toMatchObject([{ name: "A" }]);
    agents.published.delete(CARD.url);
    await beat(server, { ...CARD, name: "Evil" });
    await quiet();
    await expect(list(server)).resolves.toMatchObject([{ name: "A" }]);
  });

  test("that changes its card is listed with the new one after it was fetched", async () => {
    const { agents, server } = fixture();
    agents.published.set(CARD.url, JSON.stringify(CARD));
    await beat(server, CARD);
    const changed = { ...CARD, name: "B" };
    agents.published.set(CARD.url, JSON.stringify(changed));
    await expect(beat(server, changed)).resolves.toBe(true);
    await quiet();
    await expect(list(server)).resolves.toMatchObject([{ name: "B" }]);
  });

  test("whose URL publishes somebody else's card is not listed, nor is that somebody", async () => {
    const { agents, server } = fixture();
    agents.published.set(CARD.url, JSON.stringify({ name: "V", url: "http://victim.example" }));
    await expect(beat(server, CARD)).resolves.toBe(false);
    await expect(list(server)).resolves.toEqual([]);
  });

  test("that is slow holds its first heartbeat up for so long, and is listed later", async () => {
    const { agents, clock, server } = fixture();
    let publish: (text: string) => void = () => undefined;
    agents.published.set(CARD.url, new Promise((resolve) => (publish = resolve)));
    let isAnswered = false;
    const first = beat(server, CARD).finally(() => (isAnswered = true));
    await clock.advance(WAITING.longestMs - 1);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    await expect(first).resolves.toBe(false);
    publish(JSON.stringify(CARD));
    await quiet();
    await expect(list(server)).resolves.toHaveLength(1);
    expect(agents.fetched).toHaveLength(1);
  });

  test("cannot be made to expire by others who say that it speaks more often", async () => {
    const { agents, clock, server } = fixture();
    agents.published.set(CARD.url, JSON.stringify(CARD));
    await beat(server, CARD, 60);
    await beat(server, CARD, 1);
    await beat(server, { ...CARD, name: "Evil" }, 1);
    await clock.advance(150_000);
    await expect(list(server)).resolves.toHaveLength(1);
    await server.close();
  });

  test("that falls silent is gone after three of its intervals", async () => {
    const { agents, clock, server } = fixture();
    agents.published.set(CARD.url, JSON.stringify(CARD));
    await beat(server, CARD, 20);
    await clock.advance(60_000);
    await expect(list(server)).resolves.toHaveLength(1);
    await clock.advance(30_000);
    await expect(list(server)).resolves.toEqual([]);
    await server.close();
    expect(clock.timers).toBe(0);
  });
});

test("many agents at once are no reason for Node to warn of a leak", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): unknown => warnings.push(warning);
  process.on("warning", note);
  await using server = new RegistryServer();
  const cards = Array.from({ length: 40 }, (_, i) => ({
    name: "x",
    url: `http://127.0.0.1:${2000 + i}`,
  }));
  const verified = await Promise.all(cards.map(async (card) => beat(server, card)));
  await quiet();
  process.off("warning", note);
  expect(verified).not.toContain(true);
  expect(warnings).toEqual([]);
});

describe("the answers", () => {
  test("are those of both generations", async () => {
    const { server } = fixture();
    const old = await send(server, { agent_card: CARD }, { path: "/registry/heartbeat" });
    expect(old).toMatchObject({ status: 200, body: '{"status":"ok","verified":false}' });
    expect(old.headers).not.toHaveProperty("retry-after");
    const now = await send(server, { agent_card: CARD });
    expect(now).toMatchObject({ status: 202, headers: { "retry-after": "60" } });
  });

  const NO_FIELDS = { type: "model_attributes_type", loc: ["body"] };

  test.each([
    { what: "nothing", body: "", type: undefined, detail: { type: "missing", loc: ["body"] } },
    { what: "no JSON", body: "{", detail: { type: "json_invalid", loc: ["body", 1] } },
    { what: "no card", body: {}, detail: { type: "missing", loc: ["body", "agent_card"] } },
    { what: "a text", body: { agent_card: CARD }, type: "text/plain", detail: NO_FIELDS },
    { what: "no type", body: { agent_card: CARD }, type: undefined, detail: NO_FIELDS },
  ])("$what is answered as the peer does", async ({ body, detail, ...options }) => {
    const { server } = fixture();
    const answer = await send(server, body, options);
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body)).toMatchObject({ detail: [detail] });
  });

  test("a heartbeat that is too long is refused", async () => {
    const { server, agents } = fixture();
    const long = { agent_card: { ...CARD, x: "x".repeat(HEARTBEAT.bytes) } };
    await expect(send(server, long)).resolves.toMatchObject({ status: 413 });
    expect(agents.fetched).toEqual([]);
    await server.close();
  });

  test("a store that fails behind a heartbeat is reported", async () => {
    const failures: unknown[] = [];
    const agents = new Agents();
    agents.published.set(CARD.url, JSON.stringify(CARD));
    const provider = new MemoryRegistryProvider();
    provider.markVerified = () => {
      throw new Error("the store is down");
    };
    const onFailure = (error: unknown): unknown => failures.push(error);
    await using server = new RegistryServer({ provider, fetcher: agents, onFailure });
    await expect(beat(server, CARD)).resolves.toBe(false);
    expect(failures).toHaveLength(1);
  });

  test("a store that fails is our fault, and says nothing of itself", async () => {
    const failures: unknown[] = [];
    const provider = new MemoryRegistryProvider();
    provider.get = () => {
      throw new Error("redis://user:secret@store is down");
    };
    const onFailure = (error: unknown): unknown => failures.push(error);
    await using server = new RegistryServer({ provider, fetcher: new Agents(), onFailure });
    const answer = await send(server, { agent_card: CARD });
    expect(answer).toMatchObject({ status: 500, body: '{"detail":"the registry has failed"}' });
    expect(failures).toHaveLength(1);
  });
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Each starts an app with the registry in it and one route of its own. */
const APPS = {
  "node:http": async (registry: RegistryServer) => createServer(registry.mount.node()),
  express: async (registry: RegistryServer) => {
    const app = express();
    app.use(registry.mount.express());
    app.get("/own", (_, response) => void response.send("own"));
    return createServer(app);
  },
  "express after express.json()": async (registry: RegistryServer) => {
    const app = express();
    app.use(express.json());
    app.use(registry.mount.express());
    app.get("/own", (_, response) => void response.send("own"));
    return createServer(app);
  },
  fastify: async (registry: RegistryServer) => {
    const app = fastify();
    await app.register(registry.mount.fastify());
    app.get("/own", async () => "own");
    app.post("/parsed", async (request) => request.body);
    await app.ready();
    return app.server;
  },
  hono: async (registry: RegistryServer) => {
    const app = new Hono();
    app.use(registry.mount.hono());
    app.get("/own", (context) => context.text("own"));
    const { createAdaptorServer } = await import("@hono/node-server");
    return createAdaptorServer({ fetch: app.fetch }) as Server;
  },
};

describe.each(Object.entries(APPS))("mounted in %s", (name, start) => {
  test("it takes heartbeats, lists cards, and leaves the rest to the app", async () => {
    const agents = new Agents();
    await using registry = new RegistryServer({ fetcher: agents });
    const app = await start(registry);
    const url = await listening(app);
    try {
      const card = { ...CARD, extra: "kept" };
      agents.published.set(CARD.url, JSON.stringify(card).replace('"kept"', "1.0"));
      await using client = new RegistryClient(card, { registryUrl: url, env: {} });
      await expect(client.sendOnce()).resolves.toEqual({ verified: true });
      await expect(client.list({ version: "0.3" })).resolves.toMatchObject([{ url: CARD.url }]);
      const listed = await fetch(`${url}/.well-known/agents?x=1`);
      expect(await listed.text()).toContain('"extra":1.0}');
      expect(listed.headers.get("content-type")).toContain("application/json");

      const old = await fetch(`${url}/registry/heartbeat`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ agent_card: card }),
      });
      expect([old.status, await old.text()]).toEqual([200, '{"status":"ok","verified":true}']);

      const own = await fetch(`${url}/own`);
      expect(own.status).toBe(name === "node:http" ? 404 : 200);
      const wrong = await fetch(`${url}/registry/heartbeat`);
      expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    } finally {
      app.closeAllConnections();
      app.close();
    }
  });

  test("a body without end is cut off, and its sender told", async () => {
    const agents = new Agents();
    await using registry = new RegistryServer({ fetcher: agents });
    const app = await start(registry);
    const url = await listening(app);
    try {
      const long = JSON.stringify({ agent_card: { ...CARD, x: "x".repeat(400_000) } });
      const headers = { "content-type": "application/json" };
      const sent = await fetch(`${url}/registry/heartbeat`, {
        method: "POST",
        headers,
        body: long,
      });
      expect(sent.status).toBe(413);
      expect(agents.fetched).toEqual([]);
    } finally {
      app.closeAllConnections();
      app.close();
    }
  });
});

test("as Request and Response it answers for its own paths only", async () => {
  await using registry = new RegistryServer({ fetcher: new Agents() });
  const answer = registry.mount.web();
  const listed = await answer(new Request("http://registry.example/.well-known/agents"));
  expect(await listed?.json()).toEqual([]);
  await expect(answer(new Request("http://registry.example/other"))).resolves.toBeUndefined();
});

test("Fastify's own routes still parse their bodies", async () => {
  await using registry = new RegistryServer({ fetcher: new Agents() });
  const app = await APPS.fastify(registry);
  const url = await listening(app);
  const headers = { "content-type": "application/json" };
  const parsed = await fetch(`${url}/parsed`, { method: "POST", headers, body: '{"a":1}' });
  await expect(parsed.json()).resolves.toEqual({ a: 1 });
  app.closeAllConnections();
  app.close();
});
