/**
 * The page of oo-a2a-registry 0.1.0, promise by promise: our registry beside the real ones of both
 * generations, each asked by the real clients.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { bundle, THREADS } from "../../scripts/bundle.mjs";
import { lacks } from "../../scripts/prerequisites.mjs";
import { DEFAULT_A2A } from "../../src/daemon/settings.ts";
import { connectWith } from "../../src/net/fetch/connect.ts";
import { Fetcher } from "../../src/net/fetch/fetcher.ts";
import { REGISTRY_DEFAULTS } from "../../src/wires/a2a/client/limits.ts";
import { MemoryRegistryProvider, RegistryServer } from "../../src/wires/a2a/client/index.ts";
import { environment, Running, scratch } from "../e2e/programs.ts";
import { openApi } from "../support/daemon/api.ts";
import {
  CLIENTS,
  listed,
  ours,
  post,
  python,
  sendOnce,
  stay,
  theirs,
  type Generation,
  type Registry,
} from "./a2a/registries.ts";
import { interfaces, openSite, type Card, type Site } from "./a2a/site.ts";

const SLOW = { timeout: 60_000 };
const GENERATIONS = Object.keys(CLIENTS) as readonly Generation[];
const isMissing = lacks("a2a-registry-0.1") || lacks("a2a-registry-0.2");

/** The agents of the table: what each publishes, and the card of its heartbeat. */
const AGENTS = {
  "v0.3": (origin: string) => ({
    card: { name: "v0.3", url: origin, version: "1.0.0" },
    path: "/.well-known/agent.json",
  }),
  "v1.0": (origin: string) => ({
    card: { name: "v1.0", ...interfaces(`${origin}/jsonrpc`) },
    path: "/.well-known/agent-card.json",
  }),
  "v1.0 at the path of v0.3": (origin: string) => ({
    card: { name: "v1.0 at the path of v0.3", ...interfaces(`${origin}/jsonrpc`) },
    path: "/.well-known/agent.json",
  }),
  "slow, 1 s": (origin: string) => ({
    card: { name: "slow, 1 s", url: origin },
    path: "/.well-known/agent.json",
  }),
  "not there": (origin: string) => ({
    card: { name: "not there", url: origin },
    path: "/elsewhere",
  }),
} as const;

type AgentName = keyof typeof AGENTS;
const NAMES = Object.keys(AGENTS) as readonly AgentName[];

/** What came of one heartbeat of each agent; in cards, origins are replaced by names. */
interface Outcome {
  readonly verified: Readonly<Record<string, boolean | undefined>>;
  readonly listed: readonly Card[];
  /** The paths that the registry asked each agent for. */
  readonly fetched: Readonly<Record<string, readonly string[]>>;
}

async function outcomeOf(registry: Registry, client: Generation): Promise<Outcome> {
  const sites = await Promise.all(
    NAMES.map((name) =>
      openSite({
        cards: (origin) => ({ [AGENTS[name](origin).path]: AGENTS[name](origin).card }),
        delayMs: name === "slow, 1 s" ? 1_000 : 0,
      }),
    ),
  );
  const originOf = (i: number) => sites[i]?.origin ?? "";
  const cards = NAMES.map((name, i) => AGENTS[name](originOf(i)).card);
  const answers = await sendOnce(client, registry.url, cards);
  const own = (await listed(registry.url)).filter((card) => isOf(card, sites));
  const text = sites.reduce(
    (json, { origin }, i) => json.replaceAll(origin, `http://${i}`),
    JSON.stringify(own),
  );
  for (const site of sites) site[Symbol.dispose]();
  return {
    verified: Object.fromEntries(NAMES.map((name, i) => [name, answers[i]?.[0]])),
    listed: JSON.parse(text) as Card[],
    fetched: Object.fromEntries(NAMES.map((name, i) => [name, sites[i]?.asked ?? []])),
  };
}

function isOf(card: Card, sites: readonly Site[]): boolean {
  const text = JSON.stringify(card);
  return sites.some(({ origin }) => text.includes(origin));
}

describe.skipIf(isMissing)("the table", SLOW, () => {
  let own: Registry;
  let real: Readonly<Record<Generation, Registry>>;
  let outcomes: ReadonlyMap<string, Outcome>;

  beforeAll(async () => {
    const [one, first, second] = await Promise.all([ours(), theirs("0.1.0"), theirs("0.2.0")]);
    own = one;
    real = { "0.1.0": first, "0.2.0": second };
    const found = new Map<string, Outcome>();
    for (const client of GENERATIONS) {
      const pair = { ours: own, real: real[client] };
      const both = Object.entries(pair).map(async ([whose, registry]) => {
        found.set(`${whose} ${client}`, await outcomeOf(registry, client));
      });
      await Promise.all(both);
    }
    outcomes = found;
  }, SLOW.timeout);

  afterAll(async () => {
    for (const each of [own, ...Object.values(real)]) await each[Symbol.asyncDispose]();
  });

  function outcome(whose: "ours" | "real", client: Generation): Outcome | undefined {
    return outcomes.get(`${whose} ${client}`);
  }

  test.each(GENERATIONS)("the client %s learns of our registry what its own tells it", (client) => {
    expect(outcome("ours", client)?.verified).toEqual({
      "v0.3": true,
      "v1.0": true,
      "v1.0 at the path of v0.3": true,
      "slow, 1 s": true,
      "not there": false,
    });
    expect(outcome("ours", client)?.verified).toEqual(outcome("real", client)?.verified);
  });

  test("GET /.well-known/agents has the cards as the seed has, each in its own version", () => {
    const cards = outcome("ours", "0.1.0")?.listed;
    expect(cards?.map(({ name }) => name)).toEqual(NAMES.slice(0, -1));
    expect(cards).toEqual(outcome("real", "0.1.0")?.listed);
    expect(cards?.[0]).toMatchObject({ url: "http://0", supportedInterfaces: null });
    expect(cards?.[1]).toMatchObject({ url: null, supportedInterfaces: [{}] });
  });

  test("cards are fetched from the paths of the seed, at the origin, in its order", () => {
    const { fetched } = outcome("ours", "0.1.0") ?? {};
    expect(fetched).toEqual(outcome("real", "0.1.0")?.fetched);
    expect(fetched?.["v1.0"]).toEqual(["/.well-known/agent-card.json"]);
  });

  test.each([
    ["nothing", {}],
    ["a card without a name", { agent_card: { url: "http://a.example" } }],
    ["a card without a URL", { agent_card: { name: "a" } }],
    ["an interval of 0", { agent_card: { name: "a", url: "http://a.example" }, interval: 0 }],
  ])("%s is 422, in FastAPI's words", async (_, body) => {
    const [mine, seed] = await Promise.all(
      [own, real["0.1.0"]].map(({ url }) => post(url, "/registry/heartbeat", body)),
    );
    expect([mine?.status, await mine?.json()]).toEqual([422, await seed?.json()]);
  });

  test("an agent is verified once, however often it speaks", async () => {
    using site = await openSite({ cards: (url) => ({ "/.well-known/agent.json": oneAt(url) }) });
    for (let i = 0; i < 6; i += 1) {
      const answer = await post(own.url, "/registry/heartbeat", { agent_card: oneAt(site.origin) });
      expect(await answer.json()).toEqual({ status: "ok", verified: true });
    }
    expect(site.asked).toHaveLength(1);
  });

  test("silence for 3 intervals evicts; a client that speaks when we ask it to stays", async () => {
    using stays = await openSite({ cards: (url) => ({ "/.well-known/agent.json": oneAt(url) }) });
    using falls = await openSite({ cards: (url) => ({ "/.well-known/agent.json": oneAt(url) }) });
    const urls = async () => (await listed(own.url)).map(({ url }) => url);
    // It obeys Retry-After: were that 60, it would be evicted as well.
    await using client = stay("0.2.0", own.url, oneAt(stays.origin));
    await client.says(/started/);
    await vi.waitFor(async () => expect(await urls()).toContain(stays.origin), 10_000);
    const beat = { agent_card: oneAt(falls.origin), interval: 1 };
    const sentMs = performance.now();
    const { headers } = await post(own.url, CLIENTS["0.2.0"].path, beat);
    expect(headers.get("retry-after")).toBe("1");
    const isGone = async () => expect(await urls()).not.toContain(falls.origin);
    await vi.waitFor(isGone, { timeout: 10_000, interval: 20 });
    expect(performance.now() - sentMs).toBeGreaterThan(2_900);
    expect(await urls()).toContain(stays.origin);
  });
});

function oneAt(url: string): Card {
  return { name: "one", url };
}

test("the defaults are the seed's", () => {
  expect(DEFAULT_A2A).toMatchObject({ intervalS: 60, staleMultiplier: 3, fetchTimeoutS: 10 });
  expect(REGISTRY_DEFAULTS).toMatchObject({
    staleMultiplier: 3,
    cleanupIntervalS: 30,
    fetchTimeoutS: 10,
  });
});

describe.skipIf(isMissing)("the snippets of the page", SLOW, () => {
  const script = fileURLToPath(new URL("a2a/snippets.py", import.meta.url));
  const document = fileURLToPath(new URL("a2a/snippets.md", import.meta.url));

  test.each(GENERATIONS)("run as they stand, with the client %s", async (client) => {
    // The host of the snippets is my-agent, port 8080: here it is this site.
    const agent = "http://my-agent:8080";
    using site = await openSite({
      cards: () => ({
        "/.well-known/agent.json": { name: "My Agent", url: agent },
        "/.well-known/agent-card.json": { name: "My Agent", ...interfaces(`${agent}/jsonrpc`) },
      }),
    });
    const dial = connectWith();
    await using fetcher = new Fetcher({
      reach: { allowsLoopback: true },
      resolve: async (host) => (host === "my-agent" ? ["127.0.0.1"] : []),
      connect: (to) => dial({ ...to, port: Number(new URL(site.origin).port) }),
    });
    const api = await openApi(undefined, fetcher);
    try {
      const registry = `http://127.0.0.1:${api.opened.port}`;
      await using running = python(client, script, document, registry);
      expect(await running.end()).toMatchObject({ code: 0, stdout: "listed\nlisted\nTrue\n" });
      expect(await listed(registry)).toMatchObject([
        { name: "My Agent", url: agent },
        { name: "My Agent", ...interfaces(`${agent}/jsonrpc`) },
      ]);
    } finally {
      await api.close();
    }
  });
});

// "Implement RegistryProvider to plug in Redis, a database, etc."
test("a store of one's own has the seed's six methods, and needs no others", async () => {
  const calls = new Set<string>();
  const memory = new MemoryRegistryProvider();
  const provider = new Proxy(memory, {
    get(_, name: keyof MemoryRegistryProvider) {
      calls.add(name);
      return (...args: readonly unknown[]): unknown =>
        Promise.resolve(Reflect.apply(memory[name] as () => unknown, memory, args));
    },
  });
  using site = await openSite({ cards: (url) => ({ "/.well-known/agent.json": oneAt(url) }) });
  await using registry = new RegistryServer({
    provider,
    reach: { allowsLoopback: true },
    cleanupIntervalS: 0.01,
    staleMultiplier: 0,
  });
  const answer = registry.mount.web();
  const beat = new Request("http://registry:8000/registry/heartbeat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent_card: oneAt(site.origin) }),
  });
  expect(await (await answer(beat))?.json()).toEqual({ status: "ok", verified: true });
  await answer(new Request("http://registry:8000/.well-known/agents"));
  await vi.waitFor(() => expect(memory.get(site.origin)).toBeUndefined());
  const six = ["upsert", "get", "mark_verified", "unregister", "list_available", "get_stale"];
  const camel = six.map((name) =>
    name.replace(/_(\w)/, (_, letter: string) => letter.toUpperCase()),
  );
  expect([...calls].toSorted()).toEqual(camel.toSorted());
});

describe("the examples", SLOW, () => {
  const PORTS = {
    "registry-server": 8000,
    "hello-world-agent": 8001,
    "hello-world-agent-v1": 8002,
  };
  const root = fileURLToPath(new URL("../..", import.meta.url));

  test.each(Object.entries(PORTS))("%s is on port %i unless told otherwise", (name, port) => {
    const source = readFileSync(`${root}examples/a2a/${name}.ts`, "utf8");
    expect(source).toMatch(new RegExp(`(?:port: |\\["PORT"\\] \\?\\? )${port}\\b`));
  });

  test("a registry and an agent of each generation find each other", async () => {
    using folder = scratch();
    const entries = Object.keys(PORTS).map((name) => [name, `examples/a2a/${name}.ts`] as const);
    await bundle({ ...THREADS, ...Object.fromEntries(entries) }, folder.path, {});
    const run = (name: keyof typeof PORTS, env: NodeJS.ProcessEnv) =>
      new Running(
        process.execPath,
        [`${folder.path}/${name}.js`],
        environment(folder.path, { PORT: "0", ...env }),
      );
    await using registry = run("registry-server", {});
    const [, url = ""] = await registry.says(/(http:\S+)\/\.well-known/);
    await using old = run("hello-world-agent", { REGISTRY_URL: url });
    await using now = run("hello-world-agent-v1", { REGISTRY_URL: url });
    const origins: string[] = [];
    for (const agent of [old, now]) {
      const [, origin = ""] = await agent.says(/at (http:\S+)\nheartbeat taken, verified: true/);
      origins.push(origin);
    }
    const [first = "", second = ""] = origins;
    const cards = await listed(url);
    expect(cards.map((each) => each["url"] ?? each["supportedInterfaces"])).toEqual(
      expect.arrayContaining([first, [expect.objectContaining({ url: `${second}/jsonrpc` })]]),
    );
    const call = { jsonrpc: "2.0", id: 7, method: "message/send" };
    expect(await (await post(first, "/", call)).json()).toMatchObject({
      id: 7,
      result: { parts: [{ text: "Hello World" }] },
    });
  });
});
