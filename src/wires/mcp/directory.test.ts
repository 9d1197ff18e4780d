import { afterEach, beforeEach, expect, test } from "vitest";
import { DirectoryService } from "../../directory/directory.ts";
import { SearchThread } from "../../search/thread.ts";
import { openEngine, quiet, type Fixture } from "../../../test/support/engine/fixture.ts";
import { servedDirectory, type McpDirectory } from "./directory.ts";
import { LIBRARY } from "../../core/by.ts";

const URL_03 = "http://old.test/agent";
const URL_10 = "http://new.test/agent";

let fixture: Fixture;
let service: DirectoryService;
let directory: McpDirectory;

beforeEach(async () => {
  fixture = await openEngine();
  const { engine, clock } = fixture;
  const nowhere = () => Promise.reject(new Error("nobody is visited here"));
  service = new DirectoryService({
    engine,
    clock,
    fetcher: { first: nowhere, text: nowhere },
    thread: new SearchThread({
      embedder: { embed: async (texts) => texts.map(() => new Float32Array([1])) },
    }),
  });
  directory = servedDirectory(service, engine);
});

afterEach(async () => {
  await service.close();
  await fixture.engine.close();
});

async function hear(url: string, card: object): Promise<void> {
  const text = { text: JSON.stringify(card), digest: JSON.stringify(card) };
  await fixture.engine.execute(
    {
      type: "directory.heartbeat",
      url,
      origin: new URL(url).origin,
      source: "a test",
      card: text,
      intervalMs: 60_000,
      staleMultiplier: 3,
      newTokenHash: "",
      tokenHash: "",
    },
    LIBRARY,
  );
}

async function serve(url: string, card: object): Promise<void> {
  await hear(url, card);
  const text = { text: JSON.stringify(card), digest: JSON.stringify(card) };
  await fixture.engine.execute(
    {
      type: "directory.confirm",
      url,
      heard: text.digest,
      card: text,
      from: `${url}/.well-known/agent.json`,
      proof: { isItsOwn: true, isSigned: false, signature: "" },
    },
    LIBRARY,
  );
}

const OLD = { name: "Old", description: "Translates", version: "1", url: URL_03, skills: [] };
const NEW = {
  name: "New",
  description: "Paints",
  version: "1",
  supportedInterfaces: [{ url: URL_10, protocolBinding: "json-rpc/2.0", protocolVersion: "1.0" }],
  skills: [],
};

test("cards are there once they are served, each in its own generation", async () => {
  await hear("http://unverified.test", OLD);
  await serve(URL_03, OLD);
  await serve(URL_10, NEW);
  const listed = await directory.list();
  expect(listed.map(({ url }) => url).toSorted()).toEqual([URL_10, URL_03]);
  expect((await directory.get(URL_03))?.card).toMatchObject({ name: "Old", url: URL_03 });
  expect((await directory.get(URL_10))?.card).toMatchObject({
    name: "New",
    supportedInterfaces: [{ url: URL_10 }],
  });
  expect(await directory.get("http://unverified.test")).toBeUndefined();
  expect(await directory.get("http://nobody.test")).toBeUndefined();
});

test("they are found by what they say", async () => {
  await serve(URL_03, OLD);
  await serve(URL_10, NEW);
  const [best] = await directory.search("paints", 1);
  expect(best?.url).toBe(URL_10);
});

test("whoever watches is told of every change, and of none after it left", async () => {
  let changes = 0;
  const leave = directory.watch(() => (changes += 1));
  await quiet();
  await serve(URL_03, OLD);
  await quiet();
  expect(changes).toBeGreaterThan(0);
  leave();
  leave();
  const before = changes;
  await serve(URL_10, NEW);
  await quiet();
  expect(changes).toBe(before);
});
