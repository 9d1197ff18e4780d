import { describe, expect, test } from "vitest";
import { amountText } from "./jobs/decimal.ts";
import { summaryOf } from "./job-listing.ts";
import type { Event } from "./events.ts";
import { restoreBudget, type Job, type JobLimits } from "./jobs.ts";
import { capture, fingerprint, restore } from "./snapshot.ts";
import type { State } from "./state.ts";
import { sentenceOf } from "./words.ts";
import { audit } from "../../test/support/core/audit.ts";
import { DAY, replayed, SECOND, START_MS } from "../../test/support/core/fixture.ts";
import { budget, JobWorld } from "../../test/support/core/job-world.ts";
import { jobsIn, oldJob } from "../../test/support/core/jobs.ts";

function known(world: JobWorld): string[] {
  return [...world.state.jobs.byId.keys()];
}

describe("a job that ended", () => {
  test("is forgotten after a day", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    world.pass(10 * DAY);
    world.end(jobId);
    world.pass(DAY - 1);
    expect(known(world)).toEqual([jobId]);
    expect(world.eventsOf(() => world.pass(1))).toEqual([{ type: "job.forgotten", jobId }]);
    expect(known(world)).toEqual([]);
    expect([...world.state.jobs.index.after({ owner: "ann" }, undefined)]).toEqual([]);
  });

  test("makes room where too many ended, the one that ended first first", () => {
    const world = new JobWorld({ finished: 2 });
    const [first, second, third] = [world.submit(), world.submit(), world.submit()];
    for (const jobId of [second, first, third]) {
      world.end(jobId);
      world.pass(SECOND);
    }
    expect(known(world)).toEqual([first, third]);
    expect(fingerprint(replayed(world.recorded()))).toBe(fingerprint(world.state));
  });

  test("waits for a hundredth more where many are kept, so that most ends forget nothing", () => {
    const world = new JobWorld({ finished: 200 });
    const end = (count: number) =>
      world.eventsOf(() => {
        for (let i = 0; i < count; i += 1) world.end(world.submit());
        world.pass(SECOND);
      });
    const isForgotten = ({ type }: Event) => type === "job.forgotten";
    expect(end(202).filter(isForgotten)).toEqual([]);
    expect(
      end(1)
        .filter(isForgotten)
        .map((event) => [...jobsIn(event)].length),
    ).toEqual([3]);
    expect(known(world)).toHaveLength(200);
  });

  test("goes with all others that are due, by one event", () => {
    const world = new JobWorld();
    const ended = [world.submit(), world.submit(), world.submit()];
    for (const jobId of ended) world.end(jobId);
    const events = world.eventsOf(() => world.pass(DAY));
    expect(events.map((event) => [...jobsIn(event)].sort())).toEqual([ended]);
    expect(known(world)).toEqual([]);
    expect(fingerprint(replayed(world.recorded()))).toBe(fingerprint(world.state));
    const words = events.map((event) => sentenceOf(event, () => undefined));
    expect(words).toEqual([`${ended[0]} and 2 other jobs are forgotten`]);
  });

  test("stays while its key is alive, whatever room the others need", () => {
    const world = new JobWorld({ finished: 1, keyTtlMs: 10 * SECOND, finishedMs: 60 * SECOND });
    const order = { key: "k", fingerprint: "f" };
    const keyed = world.submit(order);
    const others = [world.submit(), world.submit(), world.submit()];
    for (const jobId of [keyed, ...others]) {
      world.end(jobId);
      world.pass(SECOND);
    }
    world.pass(5 * SECOND);
    expect(known(world)).toEqual([keyed, others[2]]);
    expect(world.run(world.order(order)).isRepeated).toBe(true);
    // The key's time is over: from here on it is one of the others, and the oldest.
    world.pass(SECOND);
    expect(known(world)).toEqual([others[2]]);
    expect(world.state.jobs.index.keyCount("ann")).toBe(0);
    world.pass(53 * SECOND);
    expect(known(world)).toEqual([]);
  });

  test("holds no lease, no children and no pulse", () => {
    const world = new JobWorld();
    const parent = world.submit({ lease: { "tool.call": ["fs.*"] } });
    world.submit({ parent });
    world.end(parent);
    expect(world.state.jobs.byId.get(parent)).toMatchObject({
      children: undefined,
      pulse: undefined,
      progress: undefined,
      lease: { granted: {} },
    });
    expect(world.job(parent)?.lease).toEqual({ "tool.call": ["fs.*"] });
  });
});

describe("limits that another daemon has", () => {
  /** A start: replayed with the defaults, then led by a daemon with settings of its own. */
  function restarted(world: JobWorld, limits: Partial<JobLimits>): JobWorld {
    const again = new JobWorld();
    again.nowMs = world.nowMs;
    for (const { event } of world.recorded()) again.record([event]);
    again.limit(limits);
    expect(audit(again.state)).toEqual([]);
    return again;
  }

  test("hold for what ended before: a key is kept for as long as it was promised", () => {
    const world = new JobWorld({ keyTtlMs: 3 * DAY, finishedMs: 2 * DAY });
    const order = { key: "k", fingerprint: "f" };
    const [keyed, plain] = [world.submit(order), world.submit()];
    for (const jobId of [keyed, plain]) world.end(jobId);
    const again = restarted(world, { keyTtlMs: 3 * DAY, finishedMs: 2 * DAY });
    again.pass(2 * DAY - 1);
    expect(known(again)).toEqual([keyed, plain]);
    again.pass(1);
    expect(known(again)).toEqual([keyed]);
    expect(again.run({ ...world.order(order) })).toMatchObject({ isRepeated: true });
  });

  test("forget sooner where they are shorter", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    world.end(jobId);
    const again = restarted(world, { finishedMs: SECOND });
    again.pass(SECOND);
    expect(known(again)).toEqual([]);
  });
});

describe("what is left of a budget", () => {
  function left(state: State, jobId: string): string {
    return amountText(state.jobs.byId.get(jobId)?.purse.remaining.get("USD") ?? -1n);
  }

  test("is what the job's stream says, as long as the job has not ended", () => {
    const world = new JobWorld();
    const jobId = world.submit(budget("5"));
    const { state } = world;
    restoreBudget(state, jobId, { USD: "1.25" });
    expect(left(state, jobId)).toBe("1.25");
    world.end(jobId);
    expect(world.job(jobId)?.budget).toEqual({ USD: "1.25" });
    restoreBudget(state, jobId, { USD: "4" });
    restoreBudget(state, "job_none", { USD: "4" });
    expect(world.job(jobId)?.budget).toEqual({ USD: "1.25" });
  });

  test("is never more than was granted, also where a parent ended before its child", async () => {
    const world = new JobWorld();
    const top = world.submit(budget("10"));
    const middle = world.submit({ parent: top, ...budget("6") });
    const child = world.submit({ parent: middle, ...budget("5") });
    world.end(middle);
    expect(left(world.state, top)).toBe("5");
    for (const state of [await restore(capture(world.state)), replayed(world.recorded())]) {
      expect(left(state, top)).toBe("5");
      expect(audit(state)).toEqual([]);
      const again = new JobWorld();
      Object.assign(again, { state });
      again.end(child);
      expect(left(state, top)).toBe("10");
    }
  });
});

describe("a job of an older program's file", () => {
  test("is imported once, with all that its own store knew of it", () => {
    const world = new JobWorld();
    // As the fleet knew of it, without what only the store of the ARCP wire had.
    const { id } = oldJob();
    world.run({ type: "job.import", job: oldJob({ status: "running", endedAtMs: 0 }) });
    const whole = oldJob({ session: "s1", key: "k", endedAtMs: START_MS });
    expect(world.topicsOf(() => world.run({ type: "job.import", job: whole }))).toEqual([
      "job.imported",
    ]);
    expect(world.topicsOf(() => world.run({ type: "job.import", job: whole }))).toEqual([]);
    expect(world.job(id)).toEqual(whole);
    expect(world.state.jobs.running).toBe(0);
    expect(audit(world.state)).toEqual([]);
  });

  test("that has not ended stands in its slot, with its deadline", () => {
    const world = new JobWorld({ running: 1 });
    const running = {
      session: "",
      status: "running",
      endedAtMs: 0,
      startedAtMs: START_MS,
    } as const;
    const job = oldJob({ ...running, maxRuntimeSec: 5 });
    world.run({ type: "job.import", job });
    expect(world.job(world.submit())?.status).toBe("pending");
    world.pass(5 * SECOND);
    expect(world.job(job.id)?.status).toBe("timed_out");
  });
});

test("a summary has what everybody may know, and nothing else", () => {
  const world = new JobWorld();
  const jobId = world.submit({ key: "k", fingerprint: "f", lease: { "tool.call": ["x"] } });
  const job = world.job(jobId) ?? oldJob();
  expect(summaryOf(job)).toEqual({
    id: jobId,
    agent: "echo",
    principal: "ann",
    node: "n1",
    host: "",
    silentSinceMs: 0,
    parent: "",
    status: "running",
    submittedAtMs: START_MS,
    startedAtMs: START_MS,
    endedAtMs: 0,
    restarts: 0,
    code: "",
    reason: "",
  });
});

test("in words", () => {
  type Step = "job.submitted" | "job.started" | "job.cancelling" | "job.ended";
  const words = (type: Step, fields: Partial<Job> = {}) =>
    sentenceOf({ type, job: oldJob({ id: "job_1", ...fields }) }, () => undefined);
  expect(words("job.submitted")).toBe("job_1 for echo, by ann");
  expect(words("job.started", { restarts: 1 })).toBe("job_1 runs on echo, again (1)");
  expect(words("job.cancelling", { cancelReason: "enough" })).toBe(
    "job_1 is being cancelled: enough",
  );
  const took = { startedAtMs: START_MS, endedAtMs: START_MS + 1500 };
  expect(words("job.ended", took)).toBe("job_1 of echo is done after 1.5s");
  const failed = { status: "error", code: "INTERNAL", reason: "no disk", startedAtMs: 0 } as const;
  expect(words("job.ended", failed)).toBe("job_1 of echo failed: INTERNAL, no disk");
});
