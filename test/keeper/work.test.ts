import { describe, expect, test, vi } from "vitest";
import { decodeJson } from "../../src/wires/keeper/client/tasks.ts";
import type { WorkOutcome } from "../../src/wires/keeper/client/work.ts";
import { TestClock } from "../support/engine/fixture.ts";
import { both, clientOf, daemonOf, during, folder, lineTo, pass, portOf } from "./fixture.ts";

function kinds(outcomes: readonly WorkOutcome[]): readonly string[] {
  return outcomes.map(({ kind }) => kind);
}

/** Resolves when it is told to. */
function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

test("a worker does what there is and what comes, several at once", async () => {
  const { keeper } = await both();
  const agent = await keeper.register({ name: "a" });
  const create = (n: number) => keeper.tasks.create({ type: "double", json: n });
  const tasks = await Promise.all([1, 2, 3, 4, 5].map(create));
  const outcomes: WorkOutcome[] = [];
  const { open, opened } = gate();
  await using worker = agent.work(
    async (task, { agentId, token }) => {
      expect(agentId).toBe(agent.id);
      expect(token).toBeGreaterThan(0);
      await opened;
      return Number(decodeJson(task.input)) * 2;
    },
    { concurrency: 2, onOutcome: (outcome) => outcomes.push(outcome) },
  );
  await vi.waitFor(() => expect(worker.running).toBe(2));
  expect(await keeper.tasks.list({ status: "pending" })).toHaveLength(3);
  open();
  await create(6);
  await vi.waitFor(() => expect(outcomes).toHaveLength(6), 5_000);
  expect(kinds(outcomes)).toEqual(Array(6).fill("completed"));
  const done = await Promise.all(tasks.map(({ id }) => keeper.tasks.get(id)));
  expect(done.map(({ output }) => decodeJson(output))).toEqual([2, 4, 6, 8, 10]);
});

test.each([
  ["bytes", Buffer.from([0, 255]), [0, 255]],
  ["nothing", undefined, []],
  ["JSON", { a: 1 }, [...Buffer.from('{"a":1}')]],
])("a handler that returns %s", async (_what, returned, expected) => {
  const { keeper } = await both();
  const agent = await keeper.register({ name: "a" });
  const { id } = await keeper.tasks.create({ type: "x" });
  await using worker = agent.work(() => returned);
  expect(worker.running).toBe(0);
  await vi.waitFor(async () => expect((await keeper.tasks.get(id)).status).toBe("completed"));
  expect([...(await keeper.tasks.get(id)).output]).toEqual(expected);
});

test("what a handler throws is why the task failed, and retries are bounded", async () => {
  const { keeper } = await both();
  const agent = await keeper.register({ name: "a" });
  const { id } = await keeper.tasks.create({ type: "x", maxRetries: 1 });
  const outcomes: WorkOutcome[] = [];
  await using worker = agent.work(
    (task) => {
      throw new Error(`try ${task.retryCount}`);
    },
    { onOutcome: (outcome) => outcomes.push(outcome) },
  );
  await vi.waitFor(() => expect(kinds(outcomes)).toEqual(["failed", "failed"]));
  const task = await keeper.tasks.get(id);
  expect(task).toMatchObject({ status: "dead", failureReason: "try 1" });
  await worker.close();
});

describe("on a line that fails", () => {
  async function working(claimTtlMs: number, agentTtlMs = 3_600_000) {
    const clock = new TestClock();
    const daemon = await daemonOf({ clock });
    const line = await lineTo(daemon.grpcAddress);
    const near = clientOf(line.address, { clock, random: () => 0.5 });
    const far = clientOf(daemon.grpcAddress, { clock, random: () => 0.5 });
    const agent = await near.register({ name: "a", ttlMs: agentTtlMs, reregister: false });
    const { id } = await far.tasks.create({ type: "x", ttlMs: claimTtlMs, maxRetries: 3 });
    const { open, opened } = gate();
    const outcomes: WorkOutcome[] = [];
    let signal: AbortSignal | undefined;
    const worker = agent.work(
      async (_task, context) => {
        signal = context.signal;
        await opened;
      },
      { onOutcome: (outcome) => outcomes.push(outcome) },
    );
    await vi.waitFor(() => expect(signal).toBeDefined());
    return { clock, line, near, far, agent, id, open, outcomes, worker, signalNow: () => signal };
  }

  test("a claim is kept for as long as the work takes", async () => {
    const { clock, far, id, open, outcomes } = await working(5_000);
    await pass(clock, far, 25_000);
    expect(await far.tasks.get(id)).toMatchObject({ status: "claimed", retryCount: 0 });
    open();
    await vi.waitFor(() => expect(kinds(outcomes)).toEqual(["completed"]));
  });

  test("a claim that cannot be kept is given up before another can have the task", async () => {
    const { clock, line, far, id, outcomes, signalNow } = await working(5_000);
    const other = await far.register({ name: "other", ttlMs: 3_600_000 });
    const at = { lost: 0, granted: 0 };
    signalNow()?.addEventListener("abort", () => (at.lost = clock.monotonicMs()));
    line.freeze();
    void far.tasks.claim(other.id).then(() => (at.granted = clock.monotonicMs()));
    while (at.granted === 0) {
      await pass(clock, far, 500);
      expect(clock.monotonicMs()).toBeLessThan(60_000);
    }
    expect(at.lost).toBeGreaterThan(0);
    expect(at.granted - at.lost).toBeGreaterThan(0);
    expect(kinds(outcomes)).toEqual(["lost"]);
    expect(await far.tasks.get(id)).toMatchObject({ status: "claimed", claimedBy: other.id });
  });

  test("a task whose result got lost on the way is completed once, and known to be", async () => {
    const { clock, line, far, id, open, outcomes } = await working(60_000);
    line.freeze();
    open();
    await pass(clock, far, 3_000);
    line.cut();
    line.thaw();
    await pass(clock, far, 3_000);
    expect(kinds(outcomes)).toEqual(["completed"]);
    expect(await far.tasks.get(id)).toMatchObject({ status: "completed", retryCount: 0 });
  });

  test("stopping waits for what runs, then gives it back to the queue", async () => {
    const { clock, far, id, outcomes, worker, signalNow } = await working(60_000);
    const closing = worker.close();
    await pass(clock, far, 9_000);
    expect(signalNow()?.aborted).toBe(false);
    await pass(clock, far, 2_000);
    await during(clock, closing);
    expect(signalNow()?.aborted).toBe(true);
    expect(kinds(outcomes)).toEqual(["failed"]);
    expect(await far.tasks.get(id)).toMatchObject({
      status: "pending",
      failureReason: "the worker was stopped before it was done",
    });
  });
});

test("a worker goes on across a restart of the daemon", async () => {
  const dataDir = folder();
  const first = await daemonOf({ dataDir });
  const keeper = clientOf(first.grpcAddress, { timeoutMs: 20_000 });
  const agent = await keeper.register({ name: "a" });
  await using worker = agent.work(() => "done");
  await first.close();
  await daemonOf({ dataDir, port: portOf(first.grpcAddress) });
  const { id } = await keeper.tasks.create({ type: "x" });
  await vi.waitFor(
    async () => expect((await keeper.tasks.get(id)).status).toBe("completed"),
    5_000,
  );
  expect(worker.running).toBe(0);
});

test("closing an agent ends its worker, and an aborted signal starts none", async () => {
  const { keeper } = await both();
  const agent = await keeper.register({ name: "a" });
  const worker = agent.work(() => undefined);
  await agent.close();
  await worker.finished;
  const idle = agent.work(() => undefined, { signal: AbortSignal.abort() });
  await idle.finished;
});
