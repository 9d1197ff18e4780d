import { describe, expect, test } from "vitest";
import { RollcallError } from "../core/errors.ts";
import { ENGINE } from "../core/limits.ts";
import { rules, type Rules } from "../core/rules.ts";
import { fingerprint } from "../core/snapshot.ts";
import { memoryStore } from "../log/memory/store.ts";
import { load } from "./replica.ts";
import {
  openEngine,
  quiet,
  register,
  TestClock,
  TestLog,
} from "../../test/support/engine/fixture.ts";
import { LIBRARY } from "../core/by.ts";

function acquire(agentId: string, taskId = "task:invoice-42") {
  return { type: "lease.acquire", taskId, agentId, ttlMs: 60_000 } as const;
}

const FULL = new RollcallError("STORAGE_FULL", "no space left on device");

describe("durability", () => {
  test("a command is not answered before its events are in the log", async () => {
    const { engine, log } = await openEngine();
    const release = log.hold();
    let isAnswered = false;
    const answered = register(engine).then(() => (isAnswered = true));
    await quiet();
    expect(isAnswered).toBe(false);
    release();
    await answered;
    await engine.close();
  });

  test("a reader does not see what could still be lost", async () => {
    const { engine, log } = await openEngine();
    const release = log.hold();
    const registering = register(engine);
    let seen: number | undefined;
    const read = engine.read((state) => state.agents.byId.size).then((size) => (seen = size));
    await quiet();
    expect(seen).toBeUndefined();
    release();
    await Promise.all([registering, read]);
    expect(seen).toBe(1);
    await engine.close();
  });

  test("a reader of one part waits for what changes that part, and for nothing else", async () => {
    const { engine, log } = await openEngine();
    const agentId = await register(engine);
    const release = log.hold();
    const acquiring = engine.execute(acquire(agentId), LIBRARY);
    expect(await engine.readPart("agents", ({ byId }) => byId.size)).toBe(1);
    const registering = register(engine);
    let seen: number | undefined;
    const read = engine.readPart("agents", ({ byId }) => byId.size).then((size) => (seen = size));
    expect(await engine.readPart("policies", ({ byId }) => byId.size)).toBe(0);
    await quiet();
    expect(seen).toBeUndefined();
    release();
    await Promise.all([acquiring, registering, read]);
    expect(seen).toBe(2);
    await engine.close();
  });

  test("a refusal that rests on an undecided write waits for that write", async () => {
    const { engine, log } = await openEngine();
    const agentId = await register(engine);
    const release = log.hold();
    const deregistering = engine.execute({ type: "agent.deregister", agentId }, LIBRARY);
    let refusal: unknown;
    const refused = engine
      .execute(acquire(agentId), LIBRARY)
      .catch((error: unknown) => (refusal = error));
    await quiet();
    expect(refusal).toBeUndefined();
    release();
    await Promise.all([deregistering, refused]);
    expect(refusal).toMatchObject({ code: "NOT_FOUND", message: `agent ${agentId} is dead` });
    await engine.close();
  });

  test("what arrives while an append is under way goes together in the next one", async () => {
    const { engine, log } = await openEngine();
    const agentId = await register(engine);
    const release = log.hold();
    const before = log.appends;
    const first = engine.execute(acquire(agentId, "task:0"), LIBRARY);
    await quiet();
    const rest = Array.from({ length: 100 }, (_, i) =>
      engine.execute(acquire(agentId, `task:${i + 1}`), LIBRARY),
    );
    release();
    await Promise.all([first, ...rest]);
    expect(log.appends - before).toBe(2);
    await engine.close();
  });

  test("so it does when the disk, quick so far, takes long for once", async () => {
    const { engine, log, clock } = await openEngine();
    const agentId = await register(engine);
    const before = log.appends;
    const release = log.hold();
    const acquiring = [];
    for (let i = 0; i < 100; i += 1) {
      acquiring.push(engine.execute(acquire(agentId, `task:${i}`), LIBRARY));
      await clock.advance(2);
    }
    release();
    await Promise.all(acquiring);
    expect(log.appends - before).toBeLessThanOrEqual(3);
    await engine.close();
  });

  test("a bad command names its field and leaves nothing behind", async () => {
    const { engine } = await openEngine();
    const agentId = await register(engine);
    const { head } = engine;
    await expect(
      engine.execute({ ...acquire(agentId), taskId: "" }, LIBRARY),
    ).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "taskId is empty",
    });
    expect(engine.head).toBe(head);
    await engine.close();
  });
});

describe("failure", () => {
  test("a failed append fails its commands and all built on it; then work goes on", async () => {
    const { engine, log, clock } = await openEngine();
    const agentId = await register(engine);
    const release = log.hold();
    log.faults = [{ error: FULL, isWritten: false }];
    const doomed = [engine.execute(acquire(agentId, "a"), LIBRARY)];
    await quiet();
    doomed.push(engine.execute(acquire(agentId, "b"), LIBRARY));
    release();
    for (const each of doomed) await expect(each).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await clock.advance(1000);
    expect(engine.mode).toBe("leading");
    expect(engine.stats.rebuilds).toBe(1);
    expect(await engine.read((state) => state.leases.byTask.size)).toBe(0);
    expect((await engine.execute(acquire(agentId, "a"), LIBRARY)).acquired).toBe(true);
    await engine.close();
  });

  test("an append that failed after it was written is found in the log again", async () => {
    const { engine, log, clock } = await openEngine();
    const agentId = await register(engine);
    log.faults = [{ error: new Error("connection lost"), isWritten: true }];
    await expect(engine.execute(acquire(agentId), LIBRARY)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await clock.advance(1000);
    const holder = await engine.read((s) => s.leases.byTask.get("task:invoice-42")?.lease.holder);
    expect(holder).toBe(agentId);
    await engine.close();
  });

  test("a full disk refuses commands, not reads and heartbeats, until there is room", async () => {
    const { engine, log, clock, troubles } = await openEngine();
    const agentId = await register(engine);
    const isFull = { error: FULL, isWritten: false };
    log.faults = Array.from({ length: 10 }, () => isFull);
    await expect(engine.execute(acquire(agentId), LIBRARY)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await quiet();
    for (let tries = 0; tries < 3; tries += 1) {
      await clock.advance(1000);
      expect(engine.mode).toBe("following");
      await expect(engine.execute(acquire(agentId), LIBRARY)).rejects.toMatchObject({
        code: "UNAVAILABLE",
        message: expect.stringContaining("no space left on device") as string,
      });
      expect(await engine.read((state) => state.agents.byId.size)).toBe(1);
      await engine.heartbeat(agentId, LIBRARY);
    }
    log.faults = [];
    await clock.advance(1000);
    expect((await engine.execute(acquire(agentId), LIBRARY)).acquired).toBe(true);
    expect(troubles).toContain("could not lead");
    await engine.close();
  });

  test("a read that meets a failure is answered from the rebuilt state", async () => {
    const { engine, log, clock } = await openEngine();
    const release = log.hold();
    log.faults = [{ error: FULL, isWritten: false }];
    const registering = register(engine).catch(() => "refused");
    const read = engine.read((state) => state.agents.byId.size);
    await quiet();
    release();
    await clock.advance(1000);
    expect(await registering).toBe("refused");
    expect(await read).toBe(0);
    await engine.close();
  });

  test("a rule that breaks off costs its caller an error, and the state is rebuilt", async () => {
    const broken: Rules = {
      ...rules,
      evolve(state, event, atMs) {
        rules.evolve(state, event, atMs);
        if (event.type === "lease.acquired" && event.lease.taskId === "poison") {
          throw new Error("half-way");
        }
      },
    };
    const { engine, clock } = await openEngine({ rules: broken });
    const agentId = await register(engine);
    await expect(engine.execute(acquire(agentId, "poison"), LIBRARY)).rejects.toMatchObject({
      code: "INTERNAL",
    });
    await clock.advance(1000);
    expect(engine.mode).toBe("leading");
    expect(await engine.read((state) => [...state.leases.byTask.keys()])).toEqual([]);
    expect((await engine.execute(acquire(agentId), LIBRARY)).acquired).toBe(true);
    await engine.close();
  });

  test("more callers than may wait are told to come back", async () => {
    const { engine, log } = await openEngine();
    const agentId = await register(engine);
    const release = log.hold();
    const calls = Array.from({ length: 65_550 }, () => engine.execute(acquire(agentId), LIBRARY));
    const results = Promise.allSettled(calls);
    release();
    const refused = (await results).filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ reason: { code: "LIMIT_EXCEEDED" } });
    await engine.close();
  });
});

describe("time", () => {
  test("a silent agent becomes unreachable, then dies and frees what it held", async () => {
    const { engine, clock } = await openEngine();
    const agentId = await register(engine, 2000);
    await engine.execute(acquire(agentId), LIBRARY);
    const statusOf = () => engine.peek((s) => s.agents.byId.get(agentId)?.agent.status);
    await clock.advance(2100);
    expect(statusOf()).toBe("unreachable");
    await clock.advance(2100);
    expect(statusOf()).toBe("dead");
    expect(engine.peek((s) => s.leases.byTask.size)).toBe(0);
    await engine.close();
  });

  test("commands of one turn let happen no more than a bounded part of what is due", async () => {
    const { engine, clock } = await openEngine();
    const agents = Array.from({ length: 4 * ENGINE.expiriesPerTurn }, () => register(engine, 2000));
    const [agentId = ""] = await Promise.all(agents);
    const unreachable = () => engine.peek(({ agents: { unreachable: all } }) => all.size);
    // All of them fall silent at once, and this turn of the loop is a long one.
    clock.suspend(2_500);
    const commands = Array.from({ length: 10 }, async (_, i) => {
      clock.suspend(10);
      await engine.execute(acquire(agentId, `task:${i}`), LIBRARY);
    });
    expect(unreachable()).toBe(ENGINE.expiriesPerTurn);
    await Promise.all(commands);
    await clock.advance(20);
    expect(unreachable()).toBe(agents.length);
    await engine.close();
  });

  test("heartbeats keep an agent alive and write nothing", async () => {
    const { engine, clock } = await openEngine();
    const agentId = await register(engine, 2000);
    const { head } = engine;
    for (let i = 0; i < 20; i += 1) {
      await clock.advance(1000);
      await engine.heartbeat(agentId, LIBRARY);
    }
    expect(engine.head).toBe(head);
    expect(engine.peek((s) => s.agents.byId.get(agentId)?.agent.status)).toBe("alive");
    await engine.close();
  });

  test("a restart kills nobody: every live deadline starts over", async () => {
    const store = memoryStore();
    const first = await openEngine({ log: store.log });
    const agentId = await register(first.engine, 2000);
    await first.engine.execute({ ...acquire(agentId), ttlMs: 2000 }, LIBRARY);
    await first.engine.close();
    const clock = new TestClock();
    clock.stepWall(3600_000);
    const { engine } = await openEngine({ log: store.log, clock });
    await clock.advance(1900);
    expect(engine.peek((s) => s.agents.byId.get(agentId)?.agent.status)).toBe("alive");
    expect(engine.peek((s) => s.leases.byTask.size)).toBe(1);
    await clock.advance(200);
    expect(engine.peek((s) => s.agents.byId.get(agentId)?.agent.status)).toBe("unreachable");
    await engine.close();
  });

  test.each([
    ["a machine that slept", (clock: TestClock) => clock.suspend(60_000)],
    ["a clock that was put forward", (clock: TestClock) => clock.stepWall(3600_000)],
    ["a clock that was put forward a little", (clock: TestClock) => clock.stepWall(3000)],
  ])("%s kills nobody", async (_, happen) => {
    const { engine, clock } = await openEngine();
    const agentId = await register(engine, 2000);
    happen(clock);
    await clock.advance(1000);
    expect(engine.peek((s) => s.agents.byId.get(agentId)?.agent.status)).toBe("alive");
    await engine.close();
  });

  test("a clock that was put back stops no deadline", async () => {
    const { engine, clock } = await openEngine();
    const agentId = await register(engine, 2000);
    clock.stepWall(-3600_000);
    await clock.advance(4500);
    expect(engine.peek((s) => s.agents.byId.get(agentId)?.agent.status)).toBe("dead");
    await engine.close();
  });
});

describe("the log", () => {
  test("replaying it gives the very state that wrote it", async () => {
    const { engine, log, clock } = await openEngine();
    for (let i = 0; i < 20; i += 1) {
      const agentId = await register(engine, 1000 + 500 * i);
      await engine.execute(acquire(agentId, `task:${i}`), LIBRARY);
      await clock.advance(700);
    }
    const replayed = await load(log, rules);
    expect(replayed.head).toBe(engine.head);
    expect(fingerprint(replayed.state)).toBe(engine.peek(fingerprint));
    await engine.close();
  });

  test("closing waits for what is under way and leaves no timer behind", async () => {
    const log = new TestLog();
    const { engine, clock } = await openEngine({ log });
    const release = log.hold();
    const registering = register(engine);
    const closing = engine.close();
    release();
    await expect(registering).resolves.toHaveLength(32);
    await closing;
    expect(clock.timers).toBe(0);
    await expect(register(engine)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await engine.close();
  });
});
