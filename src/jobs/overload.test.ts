/** The service beside callers and jobs that have more to write than the disk takes. */
import { expect, test } from "vitest";
import { LIBRARY } from "../core/by.ts";
import { ENGINE, FIELD } from "../core/limits.ts";
import { Engine } from "../engine/engine.ts";
import { MemoryMedium, memoryStore } from "../log/memory/store.ts";
import { quiet, TestClock, TestLog } from "../../test/support/engine/fixture.ts";
import { JobsCompanion, jobOrder, jobsOptions } from "../../test/support/jobs/fixture.ts";
import { JobAgents } from "./agents.ts";
import type { AgentFunction } from "./driver.ts";

const MANY = 3_000;

/** A daemon whose agents all do this; it may run as many as are submitted. */
async function start(given: {
  readonly medium: MemoryMedium;
  readonly shared: boolean;
  readonly names: readonly string[];
  readonly agent: AgentFunction;
}) {
  const clock = new TestClock();
  const { medium, shared, names } = given;
  const { log: inner, streams } = memoryStore({ medium, shared });
  const log = new TestLog(inner);
  const agents = new JobAgents();
  for (const name of names) agents.register(name, given.agent, { restart: "always" });
  const limits = { running: MANY, runningPerPrincipal: MANY };
  const companion = new JobsCompanion(jobsOptions({ streams, agents, clock, limits }));
  const engine = await Engine.open({ log, node: "n1", clock, companion });
  await clock.advance(10);
  return { engine, jobs: companion.jobs, log, clock };
}

test("a job ends whose agent is done while callers are told to come back", async () => {
  let end: () => void = () => undefined;
  const { engine, jobs, log } = await start({
    medium: new MemoryMedium(),
    shared: false,
    names: ["agent"],
    agent: () => new Promise<void>((resolve) => (end = resolve)),
  });
  const { job } = await jobs.submit(jobOrder("agent"));
  await quiet();
  const release = log.hold();
  const input = Buffer.alloc(FIELD.taskInputBytes).toString("base64");
  const task = { taskType: "t", input, requiredTools: [], maxRetries: 0, ttlMs: 0 } as const;
  const calls = Array.from({ length: (2 * ENGINE.queuedBytes) / input.length }, () =>
    engine.execute({ type: "task.create", ...task }, LIBRARY),
  );
  const answers = Promise.allSettled(calls);
  end();
  await quiet();
  release();
  expect((await answers).at(-1)).toMatchObject({ status: "rejected" });
  expect(jobs.state.jobs.byId.get(job.id)?.job.status).toBe("success");
  await engine.close();
});

test.each([1, 3, 8])(
  "jobs that run again are not too many for an append of a shared log (%i)",
  async (longer) => {
    const medium = new MemoryMedium();
    // Where an append is full depends on how long they are.
    const name = "phoenix".padEnd(7 + longer, "x");
    const agent = () => new Promise<void>(() => undefined);
    const first = await start({ medium, shared: true, names: [name], agent });
    for (let i = 0; i < MANY; i += 1) void first.jobs.submit(jobOrder(name));
    await quiet();
    await first.engine.close();
    const second = await start({ medium, shared: true, names: [name], agent });
    await second.clock.advance(2_000);
    expect(second.engine.mode).toBe("leading");
    expect(second.engine.peek(({ leadership }) => leadership.epoch)).toBe(2);
    expect(second.engine.peek(({ jobs }) => jobs.running)).toBe(MANY);
    await second.engine.close();
  },
);
