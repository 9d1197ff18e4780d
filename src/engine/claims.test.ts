import { afterEach, describe, expect, test } from "vitest";
import { codeOf } from "../core/errors.ts";
import type { Task } from "../core/tasks.ts";
import { TaskClaims } from "./claims.ts";
import { memoryStore, MemoryMedium } from "../log/memory/store.ts";
import type { Engine } from "./engine.ts";
import { InProcessForwarder } from "./forward.ts";
import {
  CARD,
  openEngine,
  quiet,
  TestClock,
  TestLog,
  type Fixture,
} from "../../test/support/engine/fixture.ts";
import { LIBRARY } from "../core/by.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Opening {
  readonly maxWaiting?: number;
  readonly onAppend?: () => void;
}

async function open(opening: Opening = {}): Promise<Fixture & { readonly claims: TaskClaims }> {
  const { maxWaiting = 100, onAppend = () => undefined } = opening;
  const fixture = await openEngine({ onAppend });
  const claims = new TaskClaims({ engine: fixture.engine, maxWaiting });
  cleanups.push(
    () => fixture.engine.close(),
    () => claims.close(),
  );
  return { ...fixture, claims };
}

async function worker(engine: Engine, ...tools: readonly string[]): Promise<string> {
  const card = { ...CARD, tools };
  return (await engine.execute({ type: "agent.register", card, ttlMs: 30_000 }, LIBRARY)).agentId;
}

interface TaskOptions {
  readonly tools?: readonly string[];
  readonly maxRetries?: number;
}

function create(engine: Engine, { tools = [], maxRetries = 0 }: TaskOptions = {}): Promise<Task> {
  return engine.execute(
    {
      type: "task.create",
      taskType: "any",
      input: "",
      requiredTools: tools,
      maxRetries,
      ttlMs: 10_000,
    },
    LIBRARY,
  );
}

/** A call that waits, and what became of it. */
function call(claims: TaskClaims, agentId: string) {
  const abort = new AbortController();
  const outcome: { task?: string; refusal?: string } = {};
  const done = claims.claim({ agentId, by: LIBRARY }, abort.signal).then(
    ({ id }) => (outcome.task = id),
    (error: unknown) => (outcome.refusal = codeOf(error)),
  );
  return { outcome, done, leave: () => abort.abort(new Error("gone")) };
}

function statusOf(engine: Engine, taskId: string) {
  return engine.peek(({ tasks }) => tasks.byId.get(taskId)?.task);
}

describe("a claim", () => {
  test("takes what is there, or waits for what comes", async () => {
    const { engine, claims } = await open();
    const agentId = await worker(engine);
    const first = await create(engine);
    const one = call(claims, agentId);
    await one.done;
    expect(one.outcome).toEqual({ task: first.id });
    const two = call(claims, agentId);
    await quiet();
    expect(claims.waiting).toBe(1);
    const second = await create(engine);
    await two.done;
    expect(two.outcome).toEqual({ task: second.id });
    expect(claims.waiting).toBe(0);
  });

  test("that has waited longest is served first, whatever agent it is of", async () => {
    const { engine, claims } = await open();
    const agents = [await worker(engine), await worker(engine, "a"), await worker(engine)];
    const calls = [];
    for (const agentId of agents) {
      calls.push(call(claims, agentId));
      await quiet();
    }
    const made = await Promise.all([create(engine), create(engine), create(engine)]);
    await Promise.all(calls.map(({ done }) => done));
    expect(calls.map(({ outcome }) => outcome.task)).toEqual(made.map(({ id }) => id));
  });

  test("gets only what its agent has the tools for, and holds up nobody else", async () => {
    const { engine, claims } = await open();
    const plain = call(claims, await worker(engine));
    await quiet();
    const able = call(claims, await worker(engine, "gpu", "browser"));
    await quiet();
    const { id } = await create(engine, { tools: ["gpu"] });
    await able.done;
    expect(able.outcome).toEqual({ task: id });
    expect(plain.outcome).toEqual({});
  });

  test("by a call that arrives while a task is being written does not jump the queue", async () => {
    const { engine, claims, log } = await open();
    const [early, late] = [await worker(engine), await worker(engine)];
    const first = call(claims, early);
    await quiet();
    const release = log.hold();
    const created = create(engine);
    const second = call(claims, late);
    release();
    const { id } = await created;
    await first.done;
    expect(first.outcome).toEqual({ task: id });
    expect(second.outcome).toEqual({});
  });

  test("that comes back to the queue is given to whoever waits", async () => {
    const { engine, claims, clock } = await open();
    const [one, two] = [await worker(engine), await worker(engine)];
    const { id } = await create(engine, { maxRetries: 1 });
    await call(claims, one).done;
    const heir = call(claims, two);
    await clock.advance(11_000);
    await heir.done;
    expect(heir.outcome).toEqual({ task: id });
  });
});

describe("a claim that does not wait", () => {
  const staying = new AbortController().signal;

  test("takes what is there, or nothing", async () => {
    const { engine, claims } = await open();
    const agentId = await worker(engine);
    expect(await claims.claimNow({ agentId, by: LIBRARY }, staying)).toBeNull();
    const { id } = await create(engine);
    expect(await claims.claimNow({ agentId, by: LIBRARY }, staying)).toMatchObject({
      id,
      claimedBy: agentId,
    });
    expect(claims.waiting).toBe(0);
    await expect(
      claims.claimNow({ agentId: "nobody", by: LIBRARY }, staying),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("returns what was written for a caller who left meanwhile", async () => {
    const { engine, claims, log } = await open();
    const agentId = await worker(engine);
    const { id } = await create(engine);
    const release = log.hold();
    const leaving = new AbortController();
    const gone = claims.claimNow({ agentId, by: LIBRARY }, leaving.signal);
    gone.catch(() => undefined);
    await quiet();
    expect(statusOf(engine, id)?.status).toBe("claimed");
    leaving.abort(new Error("gone"));
    release();
    await expect(gone).rejects.toThrow("gone");
    await quiet();
    expect(statusOf(engine, id)).toMatchObject({ status: "pending", retryCount: 0 });
  });
});

describe("a call that goes away", () => {
  test("claims nothing", async () => {
    const { engine, claims } = await open();
    const agentId = await worker(engine);
    const gone = call(claims, agentId);
    await quiet();
    gone.leave();
    await gone.done;
    const { id } = await create(engine);
    await quiet();
    expect(statusOf(engine, id)).toMatchObject({ status: "pending", retryCount: 0 });
    expect(claims.waiting).toBe(0);
  });

  /** A call that leaves while its claim is being written. */
  async function leaveInTheAct(opening: Opening = {}) {
    const opened = await open(opening);
    const { engine, claims, log } = opened;
    const agentId = await worker(engine);
    const { id } = await create(engine);
    await quiet();
    const release = log.hold();
    const gone = call(claims, agentId);
    await quiet();
    expect(statusOf(engine, id)?.status).toBe("claimed");
    gone.leave();
    return { ...opened, id, release };
  }

  test("in the act leaves the task to another call of its agent", async () => {
    let onAppend = () => {};
    const { engine, claims, log } = await open({ onAppend: () => onAppend() });
    const agentId = await worker(engine);
    const [gone, other] = [call(claims, agentId), call(claims, agentId)];
    await quiet();
    let release = () => {};
    onAppend = () => {
      release = log.hold();
      onAppend = () => {};
    };
    const { id } = await create(engine);
    await quiet();
    expect(statusOf(engine, id)?.status).toBe("claimed");
    gone.leave();
    release();
    await other.done;
    expect(other.outcome).toEqual({ task: id });
    expect(statusOf(engine, id)).toMatchObject({ status: "claimed", retryCount: 0 });
  });

  // "… when the caller cancels or its deadline passes, nothing is claimed."
  test("in the act leaves the task where it was, its only try not spent", async () => {
    const { engine, claims, id, release } = await leaveInTheAct();
    const later = create(engine);
    release();
    await later;
    await quiet();
    expect(statusOf(engine, id)).toMatchObject({ status: "pending", retryCount: 0, token: 0 });
    const next = call(claims, await worker(engine));
    await next.done;
    expect(next.outcome).toEqual({ task: id });
  });

  test("in the act leaves the claim to run out when the task cannot be returned", async () => {
    let onAppend = () => {};
    const left = await leaveInTheAct({ onAppend: () => onAppend() });
    const { engine, claims, clock, log, id, release } = left;
    onAppend = () => {
      log.faults.push({ error: new Error("no disk"), isWritten: false });
      onAppend = () => {};
    };
    release();
    await quiet();
    await clock.advance(2_000);
    expect(engine.stats.rebuilds).toBe(1);
    expect(statusOf(engine, id)?.status).toBe("claimed");
    await clock.advance(30_000);
    expect(statusOf(engine, id)?.status).toBe("dead");
    expect(claims.waiting).toBe(0);
  });
});

describe("whoever waits is told", () => {
  test("when its agent dies, or never was", async () => {
    const { engine, claims } = await open();
    const agentId = await worker(engine);
    const waiting = call(claims, agentId);
    await quiet();
    await engine.execute({ type: "agent.deregister", agentId }, LIBRARY);
    await waiting.done;
    expect(waiting.outcome).toEqual({ refusal: "NOT_FOUND" });
    for (const nobody of [agentId, "nobody"]) {
      const refused = call(claims, nobody);
      await refused.done;
      expect(refused.outcome).toEqual({ refusal: "NOT_FOUND" });
    }
  });

  test("when the engine closes, or the claims do", async () => {
    for (const what of ["engine", "claims"] as const) {
      const opened = await open();
      const waiting = call(opened.claims, await worker(opened.engine));
      await quiet();
      await opened[what].close();
      await waiting.done;
      expect(waiting.outcome).toEqual({ refusal: "UNAVAILABLE" });
    }
  });

  test("when too many wait already", async () => {
    const { engine, claims } = await open({ maxWaiting: 1 });
    const agentId = await worker(engine);
    const first = call(claims, agentId);
    await quiet();
    const second = call(claims, agentId);
    await second.done;
    expect(second.outcome).toEqual({ refusal: "LIMIT_EXCEEDED" });
    expect(first.outcome).toEqual({});
  });

  test("when its claim could not be written", async () => {
    const { engine, claims, log } = await open();
    const agentId = await worker(engine);
    await create(engine);
    log.faults.push({ error: new Error("no disk"), isWritten: false });
    const refused = call(claims, agentId);
    await refused.done;
    expect(refused.outcome).toEqual({ refusal: "UNAVAILABLE" });
  });
});

test("claims wait on nodes that follow as well, and all get their task", async () => {
  const medium = new MemoryMedium();
  const clock = new TestClock();
  const forwarder = new InProcessForwarder();
  const nodes: { readonly engine: Engine; readonly claims: TaskClaims }[] = [];
  for (const node of ["a", "b", "c"]) {
    const log = new TestLog(memoryStore({ medium }).log);
    const { engine } = await openEngine({ node, log, clock, forwarder });
    forwarder.nodes.set(node, engine);
    const claims = new TaskClaims({ engine });
    nodes.push({ engine, claims });
    cleanups.push(() => engine.close());
    await clock.advance(10);
  }
  const calls = [];
  for (const { engine, claims } of [...nodes, ...nodes]) {
    calls.push(call(claims, await worker(engine)));
  }
  await clock.advance(10);
  const [leader] = nodes;
  if (!leader) throw new Error("there is no node");
  const made = await Promise.all(calls.map(() => create(leader.engine)));
  await clock.advance(10);
  const claimed = new Set(calls.map(({ outcome }) => outcome.task));
  expect(claimed).toEqual(new Set(made.map(({ id }) => id)));
  // No waiter claims in vain more than a few times: no polling.
  expect(leader.engine.stats.commands).toBeLessThan(40);
});
