import * as fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { AgentCard } from "../core/agents.ts";
import { codeOf, RollcallError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { openEngine as open, type Fixture } from "../../test/support/engine/fixture.ts";
import type { WatchItem } from "../engine/watch.ts";
import type { EngineView } from "./agent-index.ts";
import { AgentSearch } from "./agent-search.ts";
import type { Embedder } from "./embedder.ts";
import { SEARCH } from "./limits.ts";
import { SearchThread } from "./thread.ts";
import { card } from "../../test/support/search/fixture.ts";
import { LIBRARY } from "../core/by.ts";

const TTL_MS = 30_000;
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface SearchFixture extends Fixture {
  readonly search: AgentSearch;
  readonly register: (name: string, given?: Partial<AgentCard>) => Promise<string>;
  /** The names that are found. */
  readonly names: (...options: Parameters<AgentSearch["find"]>) => Promise<string[]>;
}

async function openSearch(embedder?: Embedder, given?: Fixture): Promise<SearchFixture> {
  const fixture = given ?? (await open());
  const { engine, troubles } = fixture;
  if (!given) closers.push(() => engine.close());
  const thread = new SearchThread({ embedder, onTrouble: (what) => troubles.push(what) });
  const search = new AgentSearch({ engine, thread });
  closers.push(() => search.close());
  const register = async (name: string, rest: Partial<AgentCard> = {}) => {
    const command = { type: "agent.register", card: card(name, rest), ttlMs: TTL_MS } as const;
    return (await engine.execute(command, LIBRARY)).agentId;
  };
  const names: SearchFixture["names"] = async (options) =>
    (await search.find(options)).map((agent) => agent.card.name);
  return { ...fixture, search, register, names };
}

/** Counts what it is asked; every vector is the same, so that words decide. */
function counting(answer: () => Promise<void> = () => Promise.resolve()) {
  const asked: string[] = [];
  const embedder: Embedder = {
    async embed(texts) {
      asked.push(...texts);
      await answer();
      return texts.map(() => new Float32Array([1, 0]));
    },
  };
  return { asked, embedder };
}

describe("who is found", () => {
  test("the agent that does what is asked, though it says so in other words", async () => {
    const { register, names } = await openSearch();
    await register("web-scraper", { description: "Fetches web pages and extracts data" });
    await register("translator", { description: "Translates between English and German" });
    await register("invoice-clerk", { description: "Checks invoices and books them" });
    expect(await names({ query: "crawl a website", limit: 1 })).toEqual(["web-scraper"]);
    expect(await names({ query: "pay a bill", limit: 1 })).toEqual(["invoice-clerk"]);
    expect((await names({ query: "another language" }))[0]).toBe("translator");
  });

  test("whoever has just registered, by whoever knows of it", async () => {
    const { register, names } = await openSearch();
    for (let i = 0; i < 50; i += 1) {
      await register(`agent-${i}`, { description: "one of many" });
      expect(await names({ query: `agent-${i}`, limit: 1 })).toEqual([`agent-${i}`]);
    }
  });

  test("whoever was there before the search was", async () => {
    const first = await openSearch();
    const gone = await first.register("gone");
    await first.register("old");
    await first.engine.execute({ type: "agent.deregister", agentId: gone }, LIBRARY);
    const second = await openSearch(undefined, first);
    expect(await second.names({ query: "old gone" })).toEqual(["old"]);
  });

  test("only those that have every tool", async () => {
    const { register, names } = await openSearch();
    await register("both", { tools: ["sql", "git"] });
    await register("one", { tools: ["sql"] });
    expect(await names({ query: "one", tools: ["sql"] })).toEqual(["one", "both"]);
    expect(await names({ query: "one", tools: ["sql", "git"] })).toEqual(["both"]);
    expect(await names({ tools: ["git"] })).toEqual(["both"]);
    expect(await names({ query: "one", tools: ["hammer"] })).toEqual([]);
  });

  test("nobody who is unreachable, until it is heard again, and nobody who is dead", async () => {
    const { register, names, engine, clock } = await openSearch();
    const agentId = await register("sleeper");
    await clock.advance(TTL_MS + 1);
    expect(await names({ query: "sleeper" })).toEqual([]);
    expect(await names()).toEqual([]);
    await engine.heartbeat(agentId, LIBRARY);
    expect(await names({ query: "sleeper" })).toEqual(["sleeper"]);
    await engine.execute({ type: "agent.deregister", agentId }, LIBRARY);
    expect(await names({ query: "sleeper" })).toEqual([]);
  });
});

test("whatever happens, those who are alive are found, and nobody else", async () => {
  const step = fc.record({
    kind: fc.constantFrom("register", "register", "deregister", "heartbeat", "silence"),
    pick: fc.nat(),
  });
  const history = fc.array(step, { minLength: 1, maxLength: 25 });
  const play = async (steps: readonly { readonly kind: string; readonly pick: number }[]) => {
    const { register, names, engine, clock } = await openSearch(counting().embedder);
    const ids: string[] = [];
    for (const [i, { kind, pick }] of steps.entries()) {
      const agentId = ids[pick % Math.max(1, ids.length)];
      if (kind === "register") ids.push(await register(`agent-${i}`, { tools: [`t${pick % 2}`] }));
      else if (kind === "silence") await clock.advance(TTL_MS / 2);
      else if (agentId === undefined) continue;
      else if (kind === "heartbeat")
        await engine.heartbeat(agentId, LIBRARY).catch(() => undefined);
      else await engine.execute({ type: "agent.deregister", agentId }, LIBRARY);
      const alive = engine.peek(({ agents }) =>
        [...agents.byId.values()].flatMap(({ agent }) => (agent.status === "alive" ? agent : [])),
      );
      const expected = (tool = "") =>
        alive
          .filter(({ card: { tools } }) => tool === "" || tools.includes(tool))
          .map(({ card: { name } }) => name)
          .toSorted();
      expect((await names({ limit: 100 })).toSorted()).toEqual(expected());
      const found = await names({ query: "agent", tools: ["t1"], limit: 100 });
      expect(found.toSorted()).toEqual(expected("t1"));
    }
  };
  await fc.assert(fc.asyncProperty(history, play), { numRuns: 30 });
}, 30_000);

describe("how they are given", () => {
  test("without a query the last heard of comes first, with that very heartbeat", async () => {
    const { register, names, search, engine, clock } = await openSearch();
    const first = await register("first");
    await clock.advance(10);
    await register("second");
    expect(await names({ query: " \n" })).toEqual(["second", "first"]);
    await clock.advance(10);
    await engine.heartbeat(first, LIBRARY);
    const agents = await search.find();
    expect(agents.map((agent) => agent.card.name)).toEqual(["first", "second"]);
    expect(agents[0]?.lastHeartbeatAtMs).toBe(clock.wallMs());
  });

  test("ten unless more are asked for, and never more than a thousand", async () => {
    const { register, names } = await openSearch();
    await Promise.all(Array.from({ length: 1_010 }, (_, i) => register(`agent-${i}`)));
    expect(await names({ query: "agent" })).toHaveLength(10);
    expect(await names({ query: "agent", limit: 0 })).toHaveLength(10);
    expect(await names({ query: "agent", limit: 11 })).toHaveLength(11);
    expect(await names({ limit: 4_294_967_295 })).toHaveLength(1_000);
  });

  test("what nobody can mean is refused", async () => {
    const { search } = await openSearch();
    const refusal = async (options: Parameters<AgentSearch["find"]>[0]) =>
      codeOf(await search.find(options).catch((error: unknown) => error));
    expect(await refusal({ limit: -1 })).toBe("INVALID_ARGUMENT");
    expect(await refusal({ query: "x".repeat(SEARCH.queryLength + 1) })).toBe("INVALID_ARGUMENT");
    expect(await refusal({ tools: Array.from({ length: 257 }, String) })).toBe("INVALID_ARGUMENT");
  });
});

describe("embedding", () => {
  test("happens once for each agent, whatever becomes of it", async () => {
    const { asked, embedder } = counting();
    const { register, names, engine, clock } = await openSearch(embedder);
    const agentId = await register("once");
    await clock.advance(TTL_MS + 1);
    await engine.heartbeat(agentId, LIBRARY);
    await names({ query: "q" });
    await names();
    expect(asked).toEqual(["once", "q"]);
  });

  test("never holds a registration up", async () => {
    const { embedder } = counting(() => new Promise(() => undefined));
    const { register, names, search } = await openSearch(embedder);
    await register("quick");
    expect(await names()).toEqual(["quick"]);
    expect(search.stats).toEqual({ documents: 1, unembedded: 1 });
  });

  test("that fails leaves words to find by, and somebody is told", async () => {
    const { embedder } = counting(() => Promise.reject(new Error("no such model")));
    const { register, names, troubles } = await openSearch(embedder);
    await register("other");
    await register("wanted");
    expect(await names({ query: "wanted" })).toEqual(["wanted", "other"]);
    expect(new Set(troubles)).toEqual(
      new Set(["could not embed agents", "could not embed a query"]),
    );
  });

  test("that failed is tried again", async () => {
    const answers = [() => Promise.reject(new Error("busy"))];
    const { asked, embedder } = counting(() => answers.shift()?.() ?? Promise.resolve());
    const { register, search } = await openSearch(embedder);
    await register("patient");
    await vi.waitFor(() => expect(asked).toEqual(["patient", "patient"]), { timeout: 5_000 });
    await vi.waitFor(() => expect(search.stats.unembedded).toBe(0));
  });

  test("of a query stops when whoever asked gives up", async () => {
    const giveUp = new AbortController();
    const { embedder } = counting(() => {
      giveUp.abort();
      return Promise.reject(new Error("aborted"));
    });
    const { search } = await openSearch(embedder);
    const finding = search.find({ query: "q", signal: giveUp.signal });
    expect(codeOf(await finding.catch((error: unknown) => error))).toBe("CANCELLED");
  });

  test("of an agent that is gone before its turn is forgotten", async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { embedder } = counting(() => gate);
    const { register, engine, search, names } = await openSearch(embedder);
    const agentId = await register("gone");
    await names();
    await engine.execute({ type: "agent.deregister", agentId }, LIBRARY);
    expect(await names()).toEqual([]);
    release();
    expect(await names({ query: "gone" })).toEqual([]);
    expect(search.stats).toEqual({ documents: 0, unembedded: 0 });
  });
});

describe("following the engine", () => {
  /** The engine, but for how it is watched. */
  function watched(engine: Engine, watch: EngineView["watch"]): EngineView {
    return {
      get head() {
        return engine.head;
      },
      get mode() {
        return engine.mode;
      },
      peek: (select) => engine.peek(select),
      read: (select) => engine.read(select),
      watch,
    };
  }

  /** An engine whose first watch does what is told, once it is told to. */
  function disturbed(engine: Engine, answer: () => Promise<readonly WatchItem[]>) {
    let watches = 0;
    let disturb = () => {};
    const disturbance = new Promise<void>((resolve) => (disturb = resolve));
    const followed = watched(engine, (options) => {
      watches += 1;
      if (watches > 1) return engine.watch(options);
      const nothing = () => undefined;
      return { pull: () => disturbance.then(answer), bookmark: nothing, close: nothing };
    });
    return { followed, disturb };
  }

  test("hears of agents only, and of how far it is when somebody asks", async () => {
    const { engine, register } = await openSearch();
    const told: string[] = [];
    const followed = watched(engine, (options) => {
      const watch = engine.watch(options);
      const pull = async () => {
        const items = await watch.pull();
        for (const item of items) {
          told.push(item.kind === "event" ? item.recorded.event.type : item.kind);
        }
        return items;
      };
      return { pull, bookmark: () => watch.bookmark(), close: () => watch.close() };
    });
    const search = new AgentSearch({ engine: followed });
    closers.push(() => search.close());
    await search.find();
    told.length = 0;
    const agentId = await register("holder");
    for (let i = 0; i < 50; i += 1) {
      await engine.execute({ type: "lease.acquire", taskId: `t${i}`, agentId, ttlMs: 0 }, LIBRARY);
    }
    expect(await search.find()).toHaveLength(1);
    expect(await search.find()).toHaveLength(1);
    expect(told).toEqual(["agent.registered", "bookmark"]);
  });

  test("goes on where it was when the store failed and came back", async () => {
    const { register, names, log, engine, clock } = await openSearch();
    await register("before");
    log.faults.push({ error: new Error("disk gone"), isWritten: false });
    await expect(register("lost")).rejects.toThrow("disk gone");
    await clock.advance(2_000);
    await engine.read(() => undefined);
    await register("after");
    expect((await names()).toSorted()).toEqual(["after", "before"]);
  });

  test("ends with the search: a find after that is refused, closing twice is not", async () => {
    const { search, engine } = await openSearch();
    await search.find();
    await search.close();
    await search.close();
    expect(engine.watches.open).toBe(0);
    await expect(search.find()).rejects.toThrow("the search is closing");
  });

  test("ends with the engine", async () => {
    const { search, engine } = await openSearch();
    await search.find();
    await engine.close();
    await search.close();
    await expect(search.find()).rejects.toThrow(/closing/);
  });

  test.each<[string, (engine: Engine) => Promise<readonly WatchItem[]>]>([
    [
      "starts over from the state when the log no longer tells what happened",
      ({ head }) => Promise.resolve([{ kind: "resync", sequence: head }]),
    ],
    [
      "goes on from where it was when it was too slow and was cut",
      () => Promise.reject(new RollcallError("SLOW_CONSUMER", "too far behind")),
    ],
  ])("%s", async (_, answer) => {
    const { engine, register, troubles } = await openSearch();
    const gone = await register("gone");
    await register("stays");
    const { followed, disturb } = disturbed(engine, () => answer(engine));
    const search = new AgentSearch({ engine: followed });
    closers.push(() => search.close());
    expect(await search.find()).toHaveLength(2);
    await engine.execute({ type: "agent.deregister", agentId: gone }, LIBRARY);
    await register("new");
    disturb();
    const names = (await search.find()).map((agent) => agent.card.name);
    expect(names.toSorted()).toEqual(["new", "stays"]);
    expect(search.stats.documents).toBe(2);
    expect(troubles).toEqual([]);
  });
});
