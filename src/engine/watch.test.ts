import { describe, expect, test, vi } from "vitest";
import { decode, encode, type Event } from "../core/events.ts";
import { WATCH } from "../core/limits.ts";
import { memoryStore } from "../log/memory/store.ts";
import type { Engine } from "./engine.ts";
import { openEngine, quiet, register } from "../../test/support/engine/fixture.ts";
import { WatchHub } from "./watch-hub.ts";
import type { Watch, WatchItem } from "./watch.ts";
import { LIBRARY, namedBy } from "../core/by.ts";
import { appendAt } from "../../test/support/log/append.ts";

/** "3 agent.registered", "bookmark 3", "resync 9". */
function told(item: WatchItem): string {
  if (item.kind !== "event") return `${item.kind} ${item.sequence}`;
  return `${item.recorded.sequence} ${item.recorded.event.type}`;
}

async function take(watch: Watch, count: number): Promise<string[]> {
  const items: string[] = [];
  while (items.length < count) items.push(...(await watch.pull()).map(told));
  return items;
}

async function setPolicies(engine: Engine, count: number): Promise<void> {
  const commands = Array.from({ length: count }, (_, i) => {
    const policy = {
      id: `p${i % 50}`,
      subject: "*",
      action: "*",
      resource: "*",
      effect: "allow",
    } as const;
    return engine.execute({ type: "policy.set", policy }, LIBRARY);
  });
  await Promise.all(commands);
}

describe("what a watcher sees", () => {
  test("everything after the sequence it names, then what happens from then on", async () => {
    const { engine } = await openEngine();
    await register(engine);
    const watch = engine.watch({ from: 1 });
    expect(await take(watch, 2)).toEqual(["2 agent.registered", "bookmark 2"]);
    await register(engine);
    expect(await take(watch, 1)).toEqual(["3 agent.registered"]);
    await engine.close();
  });

  test("only topics that begin with one of its prefixes", async () => {
    const { engine } = await openEngine();
    const watch = engine.watch({ from: 0, prefixes: ["lease.", "agent.r"] });
    const agentId = await register(engine);
    await setPolicies(engine, 1);
    await engine.execute({ type: "lease.acquire", taskId: "t", agentId, ttlMs: 0 }, LIBRARY);
    expect(await take(watch, 3)).toEqual(["2 agent.registered", "4 lease.acquired", "bookmark 4"]);
    await engine.close();
  });

  test("the items of others with the same rights, and no token that is not its own", async () => {
    const { engine } = await openEngine();
    const [bob, carol] = [namedBy("bob", "grpc"), namedBy("carol", "grpc")];
    const watches = [LIBRARY, bob, bob, carol].map((by) => engine.watch({ by }));
    const agentId = await register(engine);
    await engine.execute({ type: "lease.acquire", taskId: "t", agentId, ttlMs: 0 }, LIBRARY);
    await Promise.all(watches.map((watch) => take(watch, 1)));
    await engine.execute({ type: "lease.acquire", taskId: "u", agentId, ttlMs: 0 }, LIBRARY);
    const [ours, bobs, alsoBobs, carols] = await Promise.all(watches.map((each) => each.pull()));
    expect(alsoBobs).toBe(bobs);
    const tokensOf = (items: readonly WatchItem[] = []) =>
      items.map(
        (item) =>
          item.kind === "event" &&
          "lease" in item.recorded.event &&
          item.recorded.event.lease.token,
      );
    expect([ours, bobs, carols].map((items) => tokensOf(items).at(-1))).toEqual([2, 0, 0]);
    await engine.close();
  });

  test("nothing of the past when it names no sequence", async () => {
    const { engine } = await openEngine();
    await register(engine);
    const watch = engine.watch();
    const next = take(watch, 1);
    await register(engine);
    expect(await next).toEqual(["3 agent.registered"]);
    await engine.close();
  });

  test("nothing that is not durable", async () => {
    const { engine, log } = await openEngine();
    const watch = engine.watch();
    const release = log.hold();
    const registering = register(engine);
    let seen: string[] = [];
    const pulling = take(watch, 1).then((items) => (seen = items));
    await quiet();
    expect(seen).toEqual([]);
    release();
    await Promise.all([registering, pulling]);
    expect(seen).toEqual(["2 agent.registered"]);
    await engine.close();
  });

  test("a bookmark now and then when nothing it asked for happens", async () => {
    const { engine } = await openEngine();
    const watch = engine.watch({ prefixes: ["lease."] });
    const next = take(watch, 1);
    await setPolicies(engine, WATCH.bookmarkEvents);
    expect(await next).toEqual([`bookmark ${1 + WATCH.bookmarkEvents}`]);
    await engine.close();
  });

  test("a bookmark when it asks for one, once it is caught up", async () => {
    const { engine } = await openEngine();
    const watch = engine.watch({ prefixes: ["agent."] });
    const next = take(watch, 1);
    await setPolicies(engine, 10);
    await quiet();
    watch.bookmark();
    expect(await next).toEqual(["bookmark 11"]);
    await setPolicies(engine, WATCH.pullEvents + 10);
    await register(engine);
    watch.bookmark();
    const head = 12 + WATCH.pullEvents + 10;
    expect(await take(watch, 2)).toEqual([`${head} agent.registered`, `bookmark ${head}`]);
    await engine.close();
  });

  test("one resync when the log no longer reaches back, then what is new", async () => {
    const { engine, log, clock } = await openEngine({
      retention: { snapshotEveryEvents: 10, maxEvents: 5 },
    });
    for (let i = 0; i < 4; i += 1) {
      await setPolicies(engine, 20);
      await clock.advance(1000);
    }
    const { oldest } = await log.open();
    expect(oldest).toBeGreaterThan(20);
    // The recent events are gone with a restart; the log is all there is.
    await engine.close();
    const again = await openEngine({ log });
    const head = again.engine.head;
    const watch = again.engine.watch({ from: 3 });
    expect(await take(watch, 1)).toEqual([`resync ${head}`]);
    await register(again.engine);
    expect(await take(watch, 1)).toEqual([`${head + 1} agent.registered`]);
    await again.engine.close();
  });

  test("a resync when it names a sequence that this log never had", async () => {
    const { engine } = await openEngine();
    expect(await take(engine.watch({ from: 99 }), 1)).toEqual(["resync 1"]);
    await engine.close();
  });

  test.each([
    [{ from: -1 }, "from is -1, not a sequence"],
    [{ from: 1.5 }, "from is 1.5, not a sequence"],
    [{ prefixes: Array.from({ length: 65 }, () => "a") }, "topics has 65 entries"],
  ])("a refusal of %j", async (options, message) => {
    const { engine } = await openEngine();
    expect(() => engine.watch(options)).toThrow(message);
    await engine.close();
  });
});

describe("many watchers", () => {
  test("a thousand see a thousand events each, all of them in order", async () => {
    const { engine } = await openEngine();
    const watches = Array.from({ length: 1000 }, () => engine.watch());
    const seen = watches.map(async (watch) => {
      let last = engine.head;
      let count = 0;
      while (count < 1000) {
        for (const item of await watch.pull()) {
          if (item.kind !== "event" || item.recorded.sequence !== last + 1) return "a gap";
          last += 1;
          count += 1;
        }
      }
      return count;
    });
    for (let i = 0; i < 10; i += 1) await setPolicies(engine, 100);
    expect(await Promise.all(seen)).toEqual(Array.from({ length: 1000 }, () => 1000));
    await engine.close();
  });

  test("one that stalls is cut and told where to resume; the others go on", async () => {
    const { engine } = await openEngine();
    const stalled = engine.watch();
    const lively = engine.watch();
    let count = 0;
    const counting = (async () => {
      while (count < WATCH.lagEvents + 5000) count += (await lively.pull()).length;
    })();
    for (let i = 0; i < (WATCH.lagEvents + 5000) / 1000; i += 1) await setPolicies(engine, 1000);
    await counting;
    const message: unknown = expect.stringContaining("resume from 1");
    const reason = { code: "SLOW_CONSUMER", message };
    expect(stalled.cut.aborted).toBe(true);
    expect(stalled.cut.reason).toMatchObject(reason);
    await expect(stalled.pull()).rejects.toMatchObject(reason);
    expect(engine.watches).toEqual({ open: 1, cut: 1 });
    // Coming back, it misses nothing: the log has what the memory let go.
    const resumed = engine.watch({ from: 1 });
    expect(await take(resumed, 1)).toContain("2 policy.set");
    await engine.close();
  });
});

/** A hub over a log of its own, in which so many things happen at once. */
async function openHub() {
  const { log } = memoryStore();
  await log.open();
  const hub = new WatchHub({ log, barrier: () => Promise.resolve(hub.head) });
  const publish = async (count: number) => {
    const events = Array.from({ length: count }, (): Event => ({
      type: "policy.deleted",
      id: "p",
    }));
    const recorded = [...events, { type: "agent.forgotten", agentId: "a" } as const].map(
      (event, i) => decode(encode(event, 0), hub.head + 1 + i),
    );
    const texts = recorded.map(({ text }) => text);
    await appendAt(log, { entries: texts }, hub.head);
    hub.publish(recorded);
  };
  return { hub, publish, burst: () => publish(WATCH.lagEvents + 1) };
}

describe("more watchers than are woken at once", () => {
  const COUNT = 2 * WATCH.wakesAtOnce + 1;

  test("see the same in the same order, those of a later turn all of it at once", async () => {
    const { hub, publish } = await openHub();
    const turns = Array.from({ length: COUNT }, (): string[] => []);
    for (const seen of turns) {
      void hub.watch({}).follow((items) => seen.push(items.map(told).join()) > 0);
    }
    await publish(0);
    await publish(0);
    await vi.waitFor(() => expect(turns.flat().join().split(",")).toHaveLength(2 * COUNT));
    const [first, second] = ["1 agent.forgotten", "2 agent.forgotten"];
    expect(turns[0]).toEqual([first, second]);
    expect(turns.at(-1)).toEqual([`${first},${second}`]);
    hub.close();
  });

  test("are not to blame for what comes before their turn", async () => {
    const { hub, publish, burst } = await openHub();
    const watches = Array.from({ length: WATCH.wakesAtOnce + 1 }, () => hub.watch({}));
    const pulled = watches.map((watch) => watch.pull());
    await publish(0);
    await burst();
    expect(watches.map(({ cut }) => cut.aborted).indexOf(false)).toBe(WATCH.wakesAtOnce);
    expect((await pulled.at(-1))?.length).toBeGreaterThan(0);
    hub.close();
  });
});

describe("a watcher that follows", () => {
  test("is handed what happens until it wants no more; then it pulls the rest", async () => {
    const { engine } = await openEngine();
    const watch = engine.watch();
    const seen: string[] = [];
    const followed = watch.follow((items) => seen.push(...items.map(told)) < 2);
    await setPolicies(engine, 1);
    await setPolicies(engine, 1);
    await followed;
    await setPolicies(engine, 1);
    expect([...seen, ...(await take(watch, 1))]).toEqual(
      [2, 3, 4].map((sequence) => `${sequence} policy.set`),
    );
    await engine.close();
  });

  test("is told when it was closed, and what goes wrong where it takes", async () => {
    const { engine } = await openEngine();
    const failed = engine.watch().follow(() => {
      throw new Error("no room");
    });
    const closed = engine.watch().follow(() => true);
    await setPolicies(engine, 1);
    await expect(failed).rejects.toThrow("no room");
    await engine.close();
    await expect(closed).resolves.toBe(undefined);
  });
});

describe("more in one batch than a watcher may be behind", () => {
  test("cuts nobody who waited for it, and they see all of it", async () => {
    const { hub, burst } = await openHub();
    const seen = take(hub.watch({}), WATCH.lagEvents + 2);
    const found = take(hub.watch({ prefixes: ["agent."] }), 1);
    await burst();
    expect((await seen).at(-1)).toBe(`${hub.head} agent.forgotten`);
    expect(await found).toEqual([`${hub.head} agent.forgotten`]);
    expect(hub.cuts).toBe(0);
  });

  test("is no excuse for who then falls behind as far again", async () => {
    const { hub, burst } = await openHub();
    const watch = hub.watch({});
    const pulled = watch.pull();
    await burst();
    await pulled;
    expect(watch.cut.aborted).toBe(false);
    await burst();
    expect(watch.cut.aborted).toBe(true);
  });
});

test("topics are bounded: a watcher keeps them for as long as it watches", async () => {
  const { engine } = await openEngine();
  const watching = (prefixes: readonly string[]) => () => engine.watch({ prefixes });
  expect(watching(["x".repeat(257)])).toThrow("topics has 257 characters");
  expect(watching(Array.from({ length: 65 }, () => "job."))).toThrow("topics has 65 entries");
  expect(engine.watches.open).toBe(0);
  await engine.close();
});

test("a log that fails to end a read that a watcher left ends nothing else", async () => {
  const { engine, log } = await openEngine();
  await register(engine);
  const read = log.read.bind(log);
  log.read = (after, afterId) => {
    const batches = read(after, afterId)[Symbol.asyncIterator]();
    const ending = () => Promise.reject(new Error("the connection is gone"));
    return { [Symbol.asyncIterator]: () => ({ next: () => batches.next(), return: ending }) };
  };
  const watch = engine.watch({ from: 0 });
  expect((await watch.pull()).length).toBeGreaterThan(0);
  watch.close();
  await quiet();
  expect(engine.watches.open).toBe(0);
  await engine.close();
});

describe("the end of a watch", () => {
  test("closing the engine ends it without an error", async () => {
    const { engine } = await openEngine();
    const watch = engine.watch();
    const ended = watch.pull();
    await engine.close();
    expect(await ended).toEqual([]);
  });

  test("with a signal that was aborted before it is closed, and does not count", async () => {
    const { engine } = await openEngine();
    const watch = engine.watch({ from: 0, signal: AbortSignal.abort() });
    expect(await watch.pull()).toEqual([]);
    expect(engine.watches.open).toBe(0);
    await engine.close();
  });

  test("its signal ends it, and leaving the loop closes it", async () => {
    const { engine } = await openEngine();
    const abort = new AbortController();
    const watch = engine.watch({ signal: abort.signal });
    const ended = watch.pull();
    abort.abort();
    expect(await ended).toEqual([]);
    for await (const item of engine.watch({ from: 0 })) {
      expect(told(item)).toBe("1 node.leading");
      break;
    }
    expect(engine.watches.open).toBe(0);
    await engine.close();
  });
});
