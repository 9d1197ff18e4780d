import type * as threads from "node:worker_threads";
import { afterEach, expect, test, vi } from "vitest";
import { openEngine } from "../../test/support/engine/fixture.ts";
import { card, document } from "../../test/support/search/fixture.ts";
import { LIBRARY } from "../core/by.ts";
import { codeOf } from "../core/errors.ts";
import { AgentSearch } from "./agent-search.ts";
import { SEARCH } from "./limits.ts";
import { SearchThread } from "./thread.ts";

const started = vi.hoisted(() => [] as threads.Worker[]);
vi.mock(import("node:worker_threads"), async (original) => {
  const module = await original();
  return {
    ...module,
    Worker: class extends module.Worker {
      constructor(...given: ConstructorParameters<typeof threads.Worker>) {
        super(...given);
        started.push(this);
      }
    },
  };
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  started.length = 0;
});

const ALL = { tools: [], limit: 10 };

function open(onLost = () => {}) {
  const thread = new SearchThread();
  const documents = thread.collection("agents", onLost);
  closers.push(() => documents.close());
  return { thread, documents };
}

test("there is no thread until somebody looks for one of a few documents", async () => {
  const { thread, documents } = open();
  for (let i = 0; i < SEARCH.lazyDocuments; i += 1) documents.add(document(`agent-${i}`));
  for (let i = 0; i < SEARCH.lazyDocuments; i += 1) documents.remove(`agent-${i}`);
  documents.add(document("baker", { description: "bakes bread" }));
  documents.add(document("mason", { description: "builds walls" }));
  expect(thread.isRunning).toBe(false);
  expect(await documents.rank({ ...ALL, query: "a loaf" })).toEqual(["baker", "mason"]);
  expect(thread.isRunning).toBe(true);
});

test("many documents start it, and whoever adds more waits until they are taken", async () => {
  const { thread, documents } = open();
  for (let i = 0; i <= SEARCH.untakenChanges; i += 1) documents.add(document(`agent-${i}`));
  expect(thread.isRunning).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  let hasRoom = false;
  const room = documents.room().then(() => (hasRoom = true));
  await Promise.resolve();
  expect(hasRoom).toBe(false);
  await room;
  const [found] = await documents.rank({ ...ALL, query: "agent-77" });
  expect(found).toBe("agent-77");
});

test("collections are apart, and the thread ends with the last of them", async () => {
  const { thread, documents } = open();
  const cards = thread.collection("cards", () => undefined);
  documents.add(document("baker"));
  cards.add(document("mason"));
  expect(await documents.rank({ ...ALL, query: "mason" })).toEqual(["baker"]);
  expect(await cards.rank({ ...ALL, query: "baker" })).toEqual(["mason"]);
  await documents.close();
  expect(thread.isRunning).toBe(true);
  await cards.close();
  expect(thread.isRunning).toBe(false);
});

test("finds beyond what may wait are refused", async () => {
  const { documents } = open();
  const finds = Array.from({ length: SEARCH.waitingFinds + 1 }, () =>
    documents.rank({ ...ALL, query: "x" }).then(() => "answered", codeOf),
  );
  const answers = await Promise.all(finds);
  expect(answers.pop()).toBe("LIMIT_EXCEEDED");
  expect(new Set(answers)).toEqual(new Set(["answered"]));
});

test("a thread that dies is started anew with all agents; whoever waited may retry", async () => {
  const { engine } = await openEngine();
  const troubles: string[] = [];
  const thread = new SearchThread({ onTrouble: (what) => troubles.push(what) });
  const search = new AgentSearch({ engine, thread });
  closers.push(
    () => search.close(),
    () => engine.close(),
  );
  for (const name of ["baker", "mason"]) {
    await engine.execute({ type: "agent.register", card: card(name), ttlMs: 0 }, LIBRARY);
  }
  expect(await search.find({ query: "mason" })).toHaveLength(2);
  // The thread cannot go on when it gets this.
  started[0]?.postMessage(null);
  expect(await search.find({ query: "mason" }).catch(codeOf)).toBe("UNAVAILABLE");
  expect(troubles).toEqual(["the search thread died and is started anew"]);
  const [found] = await search.find({ query: "mason" });
  expect(found?.card.name).toBe("mason");
  expect(search.stats.documents).toBe(2);
  expect(started).toHaveLength(2);
});
