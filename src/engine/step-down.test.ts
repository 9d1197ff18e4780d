import { expect, test } from "vitest";
import { LIBRARY } from "../core/by.ts";
import { fingerprint } from "../core/snapshot.ts";
import type { AppendBatch, AppendOptions, LogPosition } from "../log/log.ts";
import { memoryStore } from "../log/memory/store.ts";
import { leaderOf, NAMES, openCluster } from "../../test/support/engine/cluster.ts";
import {
  openEngine,
  quiet,
  register,
  START_MS,
  TestLog,
} from "../../test/support/engine/fixture.ts";

test("when one node after the other steps down, somebody leads soon each time", async () => {
  const { first, second, third, clock } = await openCluster(NAMES);
  const nodes = [first, second, third];
  for (let turn = 0; turn < 6; turn += 1) {
    const leader = leaderOf(nodes);
    await leader?.stepDown();
    await clock.advance(2000);
    expect(leaderOf(nodes)).toBeDefined();
    expect(leaderOf(nodes)).not.toBe(leader);
  }
  for (const { engine } of nodes) await engine.close();
});

/** A log whose answer to a resignation comes late, or not at all; the others hear of it at once. */
class SlowToAnswer extends TestLog {
  isSlow = false;
  answer: () => void = () => undefined;
  resignations = 0;
  appendsAfter = 0;

  override async append(batch: AppendBatch, at: LogPosition, options: AppendOptions) {
    if (this.resignations > 0) this.appendsAfter += 1;
    const position = await super.append(batch, at, options);
    if (!this.isSlow || !batch.entries.some((text) => text.includes("node.resigned")))
      return position;
    this.resignations += 1;
    await new Promise<void>((resolve) => (this.answer = resolve));
    return position;
  }
}

test("who asks a leader that steps down sees what the next one has acknowledged", async () => {
  const { first, second, third, clock } = await openCluster(
    NAMES,
    {},
    (inner) => new SlowToAnswer(inner),
  );
  const known = await register(first.engine);
  first.log.isSlow = true;
  const gone = [first.engine.stepDown(), first.engine.stepDown()];
  await clock.advance(100);
  const leader = leaderOf([second, third]);
  if (!leader) throw new Error("nobody leads");
  const agentId = await register(leader);
  const sees = (agents: { readonly byId: ReadonlyMap<string, unknown> }) =>
    agents.byId.has(agentId);
  const answers = Promise.all([
    first.engine.read(({ agents }) => sees(agents)),
    first.engine.readPart("agents", sees),
    first.engine.heartbeat(known, LIBRARY),
  ]);
  // A member that has not heard of it yet still asks this one.
  const late = first.engine.barrierHere().catch((error: unknown) => error);
  await clock.advance(1000);
  first.log.answer();
  await clock.advance(1000);
  expect(await answers).toEqual([true, true, null]);
  expect(await late).toMatchObject({ code: "UNAVAILABLE" });
  expect(leader.peek((s) => s.agents.byId.get(known)?.seenAtMs)).toBeGreaterThan(START_MS + 100);
  expect([first.log.resignations, first.log.appendsAfter]).toEqual([1, 0]);
  await Promise.all(gone);
  for (const { engine } of [first, second, third]) await engine.close();
});

/** A log that counts what is loaded anew: snapshots, and all that comes after none. */
class CountedLog extends TestLog {
  loads = 0;

  override loadSnapshot(atOrBefore: number) {
    this.loads += 1;
    return super.loadSnapshot(atOrBefore);
  }

  override read(after: number, afterId?: string) {
    if (after === 0) this.loads += 1;
    return super.read(after, afterId);
  }
}

test("a leader that steps down goes on as a follower, without loading the state anew", async () => {
  const { first, second, third, clock } = await openCluster(
    NAMES,
    {},
    (inner) => new CountedLog(inner),
  );
  await register(first.engine);
  const told: string[] = [];
  const watch = first.engine.watch({ from: first.engine.head });
  void (async () => {
    for await (const item of watch) {
      if (item.kind === "event") told.push(item.recorded.event.type);
    }
  })();
  first.log.loads = 0;
  await first.engine.stepDown();
  expect(first.engine.mode).toBe("following");
  await clock.advance(500);
  const agentId = await register(second.engine);
  expect(await first.engine.read((s) => s.agents.byId.has(agentId))).toBe(true);
  expect(first.engine.peek(fingerprint)).toBe(leaderOf([second, third])?.peek(fingerprint));
  expect(told).toEqual(["node.resigned", "node.leading", "node.resumed", "agent.registered"]);
  expect(first.log.loads).toBe(0);
  expect(first.engine.stats.rebuilds).toBe(0);
  // It may lead again.
  await leaderOf([second, third])?.stepDown();
  for (const { engine } of [second, third]) await engine.close();
  await clock.advance(2000);
  expect(first.engine.mode).toBe("leading");
  await first.engine.close();
});

test("a leader that resigns decides nothing more, whatever falls due meanwhile", async () => {
  const { engine, log, clock } = await openEngine({ log: memoryStore({ shared: true }).log });
  await clock.advance(100);
  const facts = {
    liveness: { value: "exited", rule: "test" },
    process: { pid: 7, startedAtMs: 0, hasEnded: true },
  } as const;
  // So old that it is to be forgotten at once.
  const report = { alias: "test:1", agentId: "1", links: [], order: 4, reportedAtMs: 4, facts };
  const write = log.hold();
  const reporting = engine.execute({ type: "fleet.report", report }, LIBRARY);
  await quiet();
  const closing = engine.close();
  write();
  const resign = log.hold();
  await reporting;
  await clock.advance(100);
  expect(engine.peek((s) => s.reports.byAlias.has("test:1"))).toBe(true);
  resign();
  await closing;
});

test("who takes over counts from the newest snapshot, whoever took it", async () => {
  const retention = { snapshotEveryEvents: 20 };
  const { first, second, third, clock } = await openCluster(NAMES, { retention });
  for (let i = 0; i < 30; i += 1) await register(first.engine);
  await clock.advance(1000);
  expect(first.engine.snapshotCount).toBe(1);
  await first.engine.stepDown();
  await clock.advance(2000);
  const leader = leaderOf([second, third]);
  expect(leader?.snapshotCount).toBe(0);
  for (let i = 0; i < 20; i += 1) await register(leader ?? second.engine);
  await clock.advance(1000);
  expect(leader?.snapshotCount).toBe(1);
  for (const { engine } of [first, second, third]) await engine.close();
});
