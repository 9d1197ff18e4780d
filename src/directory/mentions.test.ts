import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cardOf, TestWeb } from "../../test/support/directory/fixture.ts";
import { openEngine, type Fixture } from "../../test/support/engine/fixture.ts";
import { DirectoryService } from "./directory.ts";
import { MENTIONS } from "./limits.ts";
import { Mentions } from "./mentions.ts";
import { SearchThread } from "../search/thread.ts";
import { LIBRARY } from "../core/by.ts";

const CARD_URL = "http://echo.example/cards/echo.json";

let fixture: Fixture;
let web: TestWeb;
let directory: DirectoryService;
let mentions: Mentions;

beforeEach(async () => {
  fixture = await openEngine();
  const { engine, clock } = fixture;
  web = new TestWeb();
  const thread = new SearchThread({ embedder: FLAT });
  directory = new DirectoryService({ engine, clock, fetcher: web, thread });
  mentions = new Mentions({ engine, directory });
});

afterEach(async () => {
  mentions.close();
  await directory.close();
  await fixture.engine.close();
});

const FLAT = { embed: async (texts: readonly string[]) => texts.map(() => new Float32Array(2)) };

async function entries() {
  const { entries: all } = await directory.list({ tier: "unverified" });
  return all.map(({ url, tier, source }) => ({ url, tier, source }));
}

function echo(tier: string) {
  return { url: CARD_URL, tier, source: MENTIONS.source };
}

test("an agent whose card is named is unverified until the card was fetched", async () => {
  mentions.add({ cardUrl: CARD_URL, name: "echo" });
  await vi.waitFor(async () => expect(await entries()).toEqual([echo("unverified")]));
  await vi.waitFor(() => expect(web.asked).toHaveLength(3));
  expect((await directory.get(CARD_URL)).prose.name).toBe("echo");
  web.pages.set(CARD_URL, JSON.stringify(cardOf("http://echo.example/a2a")));
  mentions.add({ cardUrl: CARD_URL, name: "echo" });
  await vi.waitFor(async () => expect(await entries()).toEqual([echo("reachable")]));
  expect((await directory.get(CARD_URL)).prose.name).toBe("Echo");
});

test("an agent that nobody names any more goes like one whose heartbeats stop", async () => {
  mentions.add({ cardUrl: CARD_URL, name: "echo" });
  await vi.waitFor(async () => expect(await entries()).toHaveLength(1));
  await fixture.clock.advance(3 * MENTIONS.intervalS * 1000 + 1);
  expect(await entries()).toEqual([]);
});

test("an agent that sends its own heartbeats is not listed twice", async () => {
  const card = cardOf("http://echo.example/a2a");
  web.publish(card);
  await directory.hear(Buffer.from(JSON.stringify({ agent_card: card })), { by: LIBRARY });
  mentions.add({ cardUrl: "http://echo.example/.well-known/agent.json", name: "echo" });
  mentions.add({ cardUrl: CARD_URL, name: "other" });
  await vi.waitFor(async () => expect(await entries()).toHaveLength(2));
  expect((await entries()).map(({ url }) => url)).toEqual([card.url, CARD_URL]);
});

test.each([
  "file:///etc/passwd",
  "http://user:secret@echo.example/card.json",
  "not a URL",
  `http://echo.example/${"x".repeat(5_000)}.json`,
])("%.40s is never asked for", async (cardUrl) => {
  mentions.add({ cardUrl, name: "x" });
  mentions.add({ cardUrl: CARD_URL, name: "echo" });
  await vi.waitFor(async () => expect(await entries()).toEqual([echo("unverified")]));
  expect(web.asked.every((url) => url.startsWith("http://echo.example/") && url.length < 99)).toBe(
    true,
  );
});

test("a folder full of cards that hang holds up a few places, and forgets the rest", async () => {
  const release = web.hold();
  for (let i = 0; i < MENTIONS.due + 100; i += 1) {
    mentions.add({ cardUrl: `http://h${i}.example/card.json`, name: `${i}` });
  }
  await vi.waitFor(async () => expect(await entries()).toHaveLength(MENTIONS.atOnce));
  mentions.close();
  release();
});
