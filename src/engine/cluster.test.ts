import { expect, test } from "vitest";
import { fingerprint } from "../core/snapshot.ts";
import type { LogBatch } from "../log/log.ts";
import { memoryStore, MemoryMedium } from "../log/memory/store.ts";
import type { Companion } from "./companion.ts";
import { InProcessForwarder } from "./forward.ts";
import { leaderOf, NAMES, openCluster } from "../../test/support/engine/cluster.ts";
import { openEngine, register, TestClock, TestLog } from "../../test/support/engine/fixture.ts";

test("one node leads; the others forward to it and read what it acknowledged", async () => {
  const { first, second, third } = await openCluster(NAMES);
  expect(first.engine.mode).toBe("leading");
  expect(second.engine.mode).toBe("following");
  const agentId = await register(second.engine);
  expect(await third.engine.read((s) => s.agents.byId.has(agentId))).toBe(true);
  expect(third.engine.peek(fingerprint)).toBe(first.engine.peek(fingerprint));
  for (const { engine } of [first, second, third]) await engine.close();
});

test("an idle leader keeps its followers from taking over, and fills no log with it", async () => {
  const { first, second, third, clock } = await openCluster(NAMES);
  const { head } = first.engine;
  await clock.advance(60_000);
  expect(first.engine.mode).toBe("leading");
  expect(first.engine.head).toBe(head);
  for (const { engine } of [first, second, third]) await engine.close();
});

test("when the leader closes another leads at once, and nobody dies of it", async () => {
  const { first, second, third, clock, forwarder } = await openCluster(NAMES);
  const agentId = await register(first.engine, 1000);
  await clock.advance(900);
  forwarder.nodes.delete("a");
  await first.engine.close();
  await clock.advance(300);
  const leader = leaderOf([second, third]);
  expect(leader?.peek((s) => s.agents.byId.get(agentId)?.agent.status)).toBe("alive");
  expect(leader?.peek((s) => s.leadership)).toEqual({ node: leader?.node, epoch: 2 });
  for (const { engine } of [second, third]) await engine.close();
});

test.each([
  { failover: "fast", earliestMs: 1000, latestMs: 2000 },
  { failover: "calm", earliestMs: 3000, latestMs: 6100 },
] as const)("$failover: when the leader falls silent another takes over", async (given) => {
  const { failover, earliestMs, latestMs } = given;
  const { first, second, third, clock } = await openCluster(NAMES, { failover });
  await register(first.engine);
  const release = first.log.hold();
  await clock.advance(earliestMs - 1);
  expect(leaderOf([second, third])).toBeUndefined();
  await clock.advance(latestMs - earliestMs);
  const leader = leaderOf([second, third]);
  expect(leader?.peek((s) => s.leadership.epoch)).toBe(2);
  release();
  await clock.advance(100);
  for (const { engine } of [first, second, third]) await engine.close();
});

test("who was patient with one leader need not be with the next", async () => {
  let chance = 0.9;
  const { first, second, third, clock } = await openCluster(NAMES, { random: () => chance });
  chance = 0;
  const releases = [first.log.hold()];
  await clock.advance(1500);
  const [next, other] = second.engine.mode === "leading" ? [second, third] : [third, second];
  expect(next.engine.mode).toBe("leading");
  releases.push(next.log.hold());
  await clock.advance(1300);
  expect(other.engine.mode).toBe("leading");
  for (const release of releases) release();
  await clock.advance(100);
  for (const { engine } of [first, second, third]) await engine.close();
});

test("every term begins with a grace, from the moment that the new leader listens", async () => {
  const { first, second, third, clock } = await openCluster(NAMES);
  const told: string[] = [];
  const watch = third.engine.watch({ from: 0 });
  void (async () => {
    for await (const item of watch) {
      if (item.kind === "event") told.push(item.recorded.event.type);
    }
  })();
  await first.engine.close();
  await clock.advance(2000);
  const term = ["node.leading", "node.resumed"];
  expect(told).toEqual([...term, "node.resigned", ...term]);
  for (const { engine } of [second, third]) await engine.close();
});

test("a leader that takes its time to get ready is not taken for dead", async () => {
  const medium = new MemoryMedium();
  const clock = new TestClock();
  let isReady: () => void = () => undefined;
  const companion: Companion = {
    prepare: () => new Promise((resolve) => (isReady = resolve)),
    lead: () => undefined,
    onEvent: () => undefined,
    end: () => undefined,
  };
  const log = () => memoryStore({ medium }).log;
  const slow = await openEngine({ node: "a", clock, companion, log: log() });
  await clock.advance(10);
  const other = await openEngine({ node: "b", clock, log: log() });
  await clock.advance(20_000);
  expect(other.engine.mode).toBe("following");
  isReady();
  await clock.advance(10);
  expect(slow.engine.mode).toBe("leading");
  expect(slow.engine.peek((s) => s.leadership.epoch)).toBe(1);
  await slow.engine.close();
  await other.engine.close();
});

test("a leader that fails to get ready while it shows a sign of life tries again", async () => {
  const clock = new TestClock();
  let fail: (error: Error) => void = () => undefined;
  let isReady: () => void = () => undefined;
  const companion: Companion = {
    prepare: () =>
      new Promise((resolve, reject) => {
        isReady = resolve;
        fail = reject;
      }),
    lead: () => undefined,
    onEvent: () => undefined,
    end: () => undefined,
  };
  const log = new TestLog(memoryStore({ medium: new MemoryMedium() }).log);
  const { engine, troubles } = await openEngine({ node: "a", clock, companion, log });
  await clock.advance(10);
  const release = log.hold();
  const { appends } = log;
  await clock.advance(2000);
  expect(log.appends).toBe(appends + 1);
  // Nobody may be left to catch it: that would end the program, and fails this run.
  fail(new Error("the streams cannot be read"));
  await clock.advance(10);
  release();
  await clock.advance(2000);
  expect(troubles).toEqual(["could not lead"]);
  isReady();
  await clock.advance(10);
  expect(engine.mode).toBe("leading");
  await engine.close();
});

test("a leader that was cut off is fenced, and follows when it comes back", async () => {
  const { first, second, third, clock } = await openCluster(NAMES);
  const release = first.log.hold();
  const lost = register(first.engine).catch((error: unknown) => error);
  await clock.advance(8000);
  const leader = [second, third].find(({ engine }) => engine.mode === "leading");
  const kept = await register((leader ?? second).engine);
  release();
  expect(await lost).toMatchObject({ code: "UNAVAILABLE" });
  await clock.advance(1000);
  expect(first.engine.mode).toBe("following");
  expect(await first.engine.read((s) => [...s.agents.byId.keys()])).toEqual([kept]);
  for (const { engine } of [first, second, third]) await engine.close();
});

test("a deposed leader that does not know it yet does not answer reads from memory", async () => {
  const { first, second, third, clock } = await openCluster(NAMES);
  const release = first.log.hold();
  await clock.advance(8000);
  expect(first.engine.mode).toBe("leading");
  const leader = [second, third].find(({ engine }) => engine.mode === "leading");
  const agentId = await register((leader ?? second).engine);
  const read = first.engine.read((s) => s.agents.byId.has(agentId));
  release();
  await clock.advance(1000);
  expect(await read).toBe(true);
  for (const { engine } of [first, second, third]) await engine.close();
});

/** A log that appends as ever, and lets its node hear nothing of what others write. */
class DeafLog extends TestLog {
  isDeaf = false;

  override async *follow(
    after: number,
    afterId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
    for await (const batch of this.inner.follow(after, afterId, signal)) {
      if (this.isDeaf) await stopped;
      if (!signal.aborted) yield batch;
    }
  }
}

test("who missed the signs of life does not take over from a leader that lives", async () => {
  const medium = new MemoryMedium();
  const clock = new TestClock();
  const forwarder = new InProcessForwarder();
  const log = new DeafLog(memoryStore({ medium }).log);
  const old = await openEngine({ node: "a", clock, forwarder, log: memoryStore({ medium }).log });
  await clock.advance(10);
  const { engine } = await openEngine({ node: "b", clock, forwarder, log });
  forwarder.nodes.set("a", old.engine).set("b", engine);
  await clock.advance(10);
  log.isDeaf = true;
  await clock.advance(60_000);
  expect(old.engine.mode).toBe("leading");
  expect(old.engine.peek((s) => s.leadership.epoch)).toBe(1);
  // When that falls silent it leads, deaf as it is: it has asked for the last sign there is.
  const release = old.log.hold();
  await clock.advance(5000);
  expect(engine.mode).toBe("leading");
  release();
  await clock.advance(100);
  await old.engine.close();
  await engine.close();
});

test("a node whose wall is put forward does not take over from a leader that lives", async () => {
  const medium = new MemoryMedium();
  const clocks = [new TestClock(), new TestClock()] as const;
  const advance = (ms: number) => Promise.all(clocks.map((clock) => clock.advance(ms)));
  const log = () => memoryStore({ medium }).log;
  const { engine: leader } = await openEngine({ node: "a", clock: clocks[0], log: log() });
  await advance(10);
  const { engine: other } = await openEngine({ node: "b", clock: clocks[1], log: log() });
  await advance(10);
  // Also right before it looks: until its next sign of life the leader answers from memory.
  for (let i = 0; i < 200; i += 1) {
    clocks[1].stepWall(60_000);
    await advance(10);
  }
  expect([leader.mode, other.mode]).toEqual(["leading", "following"]);
  expect(leader.peek((state) => state.leadership.epoch)).toBe(1);
  await leader.close();
  await other.close();
});

test("a leader whose machine slept with its clock asks before it answers from memory", async () => {
  const { first, second, third, clock } = await openCluster(NAMES);
  const release = first.log.hold();
  // Its monotonic clock stood still; only the wall tells that somebody else may lead by now.
  clock.stepWall(60_000);
  let answers = 0;
  const read = first.engine.read(() => 1).then((one) => (answers += one));
  await clock.advance(10);
  expect(answers).toBe(0);
  release();
  await clock.advance(1000);
  expect(await read).toBe(1);
  for (const { engine } of [first, second, third]) await engine.close();
});

test("a watcher moves from one node to another without a gap", async () => {
  const { first, second, third } = await openCluster(NAMES);
  const sequences: number[] = [];
  for (const { engine } of [first, second, third, first]) {
    await register(second.engine);
    const from = sequences.at(-1) ?? 0;
    for await (const item of engine.watch({ from })) {
      if (item.kind !== "event") continue;
      sequences.push(item.recorded.sequence);
      if (item.recorded.sequence >= first.engine.head) break;
    }
  }
  expect(sequences).toEqual(Array.from({ length: first.engine.head }, (_, i) => i + 1));
  for (const { engine } of [first, second, third]) await engine.close();
});

test("without a way to the leader a follower says so", async () => {
  const { first, second, third, clock, forwarder } = await openCluster(NAMES);
  forwarder.nodes.clear();
  const failures = [register(second.engine), second.engine.read(() => 1)].map((asked) =>
    asked.catch((error: unknown) => error),
  );
  await clock.advance(20_000);
  const unreachable = { code: "UNAVAILABLE", message: "node a cannot be reached" };
  for (const failure of failures) expect(await failure).toMatchObject(unreachable);
  for (const { engine } of [first, second, third]) await engine.close();
});
