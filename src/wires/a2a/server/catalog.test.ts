import { Hono } from "hono";
import { beforeEach, expect, test, vi } from "vitest";
import { cardOf } from "../../../../test/support/directory/fixture.ts";
import { LIBRARY } from "../../../core/by.ts";
import type { DirectoryEntry } from "../../../core/directory.ts";
import { readCard } from "../../../directory/cards/card.ts";
import type * as Cards from "../../../directory/cards/card.ts";
import { othersAreServed } from "../../../machine/slices.ts";
import type { Permit } from "../../../operations/access.ts";
import { TABLE } from "../../../operations/table.ts";
import type { Bindings } from "../../route.ts";
import { catalogRoutes } from "./catalog.ts";
import { identifierOf } from "./catalog-entry.ts";

/** A clock on which only the reading of cards takes time. */
let nowMs = 0;
const READ_MS = 2;

vi.mock("../../../directory/cards/card.ts", async (original) => {
  const { readCard: read, ...others } = await original<typeof Cards>();
  const slowly = (text: string) => {
    nowMs += READ_MS;
    return read(text);
  };
  return { ...others, readCard: vi.fn(slowly) };
});

beforeEach(() => {
  vi.mocked(readCard).mockClear();
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
});

const AGENTS = 200;

function urlOf(i: number): string {
  return `http://a${i}.example/`;
}

/** As one that is served; its card was not read yet. */
function entryOf(_: unknown, i: number): DirectoryEntry {
  const url = urlOf(i);
  const examples = ["Say it again", "And again"];
  const skills = [{ id: "echo", name: "Echo", description: "", tags: ["sound"], examples }];
  const card = { text: JSON.stringify(cardOf(url, { skills })), digest: url };
  const times = {
    intervalMs: 0,
    ttlMs: 0,
    registeredAtMs: 0,
    changedAtMs: 0,
    lastHeartbeatAtMs: 0,
  };
  return {
    ...times,
    url,
    origin: url,
    source: "test",
    tier: "reachable",
    card,
    waiting: null,
    heard: "",
    proof: { isItsOwn: false, isSigned: false, signature: "" },
    isOwned: false,
    verification: null,
  };
}

/** The catalog of so many agents. */
function opened(count = AGENTS, permit: Permit = () => undefined) {
  const entries = Array.from({ length: count }, entryOf);
  const directory = { list: async () => ({ entries, total: count, sequence: 1 }) };
  const app = new Hono<{ Bindings: Bindings }>();
  for (const { method, path, handle } of catalogRoutes({ directory, permit })) {
    app.on(method, path, handle);
  }
  const ask = async (path: string, body?: object) => {
    const init = body && { method: "POST", body: JSON.stringify(body) };
    const env = { by: LIBRARY };
    const answer = await app.request(`http://rollcall.example${path}`, init ?? {}, env);
    return (await answer.json()) as Record<string, unknown>;
  };
  return { ask };
}

/** The most time that other callers had to wait for a turn of the loop meanwhile. */
async function longestTurn(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = work.finally(() => (isOver = true));
  let longestMs = 0;
  while (!isOver) {
    const beganMs = nowMs;
    await othersAreServed();
    longestMs = Math.max(longestMs, nowMs - beganMs);
  }
  await over;
  return longestMs;
}

const SEARCH = { query: { text: "echo", filter: { tags: ["sound"] } } };

test.each(["/.well-known/ai-catalog.json", "/.well-known/ard.json"])(
  "%s reads each card once, and lets others be served between",
  async (path) => {
    const { ask } = opened();
    const reading = ask(path);
    expect(await longestTurn(reading)).toBeLessThanOrEqual(5 * READ_MS);
    expect(readCard).toHaveBeenCalledTimes(AGENTS);
    const first = await reading;
    expect(first["entries"]).toHaveLength(AGENTS + 1);
    expect(first["entries"]).toContainEqual(
      expect.objectContaining({ representativeQueries: ["Say it again", "And again"] }),
    );
    expect(await ask(path)).toEqual(first);
    expect(readCard).toHaveBeenCalledTimes(AGENTS);
  },
);

test("a search of the catalog reads each card once, and lets others be served", async () => {
  const { ask } = opened();
  expect(await longestTurn(ask("/search", SEARCH))).toBeLessThanOrEqual(5 * READ_MS);
  expect((await ask("/search", SEARCH))["results"]).toHaveLength(10);
  expect(readCard).toHaveBeenCalledTimes(AGENTS);
});

test("an entry is found by its name in short turns", async () => {
  const { ask } = opened(5_000);
  const last = urlOf(4_999);
  // Each URL that is looked at takes a little time, too.
  const parse = vi.spyOn(URL.prototype, "pathname", "get").mockImplementation(() => {
    nowMs += READ_MS / 20;
    return "/";
  });
  const path = `/agents/${identifierOf(last)}`;
  const asking = ask(path);
  const longestMs = await longestTurn(asking);
  parse.mockRestore();
  expect(longestMs).toBeLessThanOrEqual(5 * READ_MS);
  expect(await asking).toMatchObject({ metadata: { agentUrl: last } });
  expect(readCard).toHaveBeenCalledOnce();
});

test("an entry that is asked for by its name here is permitted by its URL", async () => {
  const permit = vi.fn<Permit>();
  const { ask } = opened(3, permit);
  await ask(`/agents/${identifierOf(urlOf(1))}`);
  const { access } = TABLE.directory.get;
  expect(permit.mock.calls).toEqual([[LIBRARY, access, { url: urlOf(1) }]]);
});
