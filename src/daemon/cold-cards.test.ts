/** After a start no card was read yet: whoever asks first holds nobody else up. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cardOf } from "../../test/support/directory/fixture.ts";
import { openEngine, type Fixture } from "../../test/support/engine/fixture.ts";
import { LIBRARY } from "../core/by.ts";
import { othersAreServed } from "../machine/slices.ts";
import { directory as operations } from "../operations/directory.ts";
import { SearchThread } from "../search/thread.ts";
import { servedDirectory } from "../wires/mcp/directory.ts";
import type * as Cards from "../directory/cards/card.ts";
import { DirectoryService } from "../directory/directory.ts";

/** A clock on which only the reading of cards takes time. */
let nowMs = 0;
const READ_MS = 3;

vi.mock("../directory/cards/card.ts", async (original) => {
  const { readCard: read, ...others } = await original<typeof Cards>();
  const slowly = (text: string) => {
    nowMs += READ_MS;
    return read(text);
  };
  return { ...others, readCard: slowly };
});

const AGENTS = 100;
let fixture: Fixture;
let directory: DirectoryService;

beforeEach(async () => {
  fixture = await openEngine();
  const { engine, clock } = fixture;
  const nowhere = () => Promise.reject(new Error("nobody is visited here"));
  const embedder = { embed: async () => [] };
  const thread = new SearchThread({ embedder });
  const fetcher = { first: nowhere, text: nowhere };
  directory = new DirectoryService({ engine, clock, fetcher, thread });
  const skills = [{ id: "echo", name: "Echo", description: "", tags: ["sound"] }];
  for (let i = 0; i < AGENTS; i += 1) {
    const url = `http://a${i}.example/`;
    const text = JSON.stringify(cardOf(url, { skills }));
    const card = { text, digest: url };
    const times = { intervalMs: 60_000, staleMultiplier: 3 };
    const origin = `http://a${i}.example`;
    const about = { url, origin, source: "test", card, newTokenHash: "", tokenHash: "" };
    await engine.execute({ type: "directory.heartbeat", ...about, ...times }, LIBRARY);
    const proof = { isItsOwn: true, isSigned: false, signature: "" };
    const confirm = { type: "directory.confirm", url, heard: url, card, from: url, proof } as const;
    await engine.execute(confirm, LIBRARY);
  }
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
});

afterEach(async () => {
  await directory.close();
  await fixture.engine.close();
});

/** The most time that other callers had to wait for a turn of the loop meanwhile. */
async function longestTurn(ask: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let longestMs = 0;
  let beganMs = nowMs;
  const over = ask().finally(() => (isOver = true));
  while (!isOver) {
    await othersAreServed();
    longestMs = Math.max(longestMs, nowMs - beganMs);
    beganMs = nowMs;
  }
  await over;
  return longestMs;
}

const call = { by: LIBRARY, signal: new AbortController().signal };
const list = (query: { readonly skill?: string; readonly limit: number }) =>
  operations.list.run(
    { engine: fixture.engine, directory },
    { tier: "unverified", ...query },
    call,
  );

test.each<[string, () => Promise<unknown>]>([
  ["the listing", () => directory.listing("own")],
  ["a page of the listing", () => directory.cards("1.0", { limit: 1_000 })],
  ["a filtered listing", () => directory.cards("own", { skill: "echo" })],
  ["the list of the operator", () => list({ limit: 1_000 })],
  ["a filtered list of the operator", () => list({ skill: "echo", limit: 1_000 })],
  ["the resources of MCP", () => servedDirectory(directory, fixture.engine).list()],
])("%s reads cards in short turns", async (_, ask) => {
  const beganMs = nowMs;
  expect(await longestTurn(ask)).toBeLessThanOrEqual(4 * READ_MS);
  expect(nowMs - beganMs).toBeGreaterThanOrEqual(AGENTS * READ_MS);
});
