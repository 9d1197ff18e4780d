import { describe, expect, test } from "vitest";
import { namedBy } from "./by.ts";
import type { Event } from "./events.ts";
import type { JobStreamEvent } from "./jobs/events.ts";
import { TERMS } from "./jobs/limits.ts";
import { audit } from "../../test/support/core/audit.ts";
import { SECOND, START_MS } from "../../test/support/core/fixture.ts";
import { DONE, FAILED, JobWorld, told } from "../../test/support/core/job-world.ts";

describe("a cancel", () => {
  const from = { session: "s1", scope: "session" } as const;

  test("comes from the session that submitted it, or from its principal if that counts", () => {
    const world = new JobWorld();
    const [one, other] = [world.submit({ session: "s1" }), world.submit({ session: "s2" })];
    const order = (jobId: string, more: object = {}) => {
      return { type: "job.cancel", jobId, reason: "", from: { ...from, ...more } } as const;
    };
    world.by = namedBy("bob", "arcp");
    const elsewhere = order(other, { session: "s3", scope: "principal" });
    expect(world.refusal(elsewhere)).toBe(`NOT_FOUND: no job "${other}"`);
    world.by = namedBy("ann", "arcp");
    expect(world.refusal(order(other))).toMatch(/^PERMISSION_DENIED/);
    expect(world.run(order(one))).toEqual({ isCancelled: true });
    expect(world.run(order(other, { scope: "principal" }))).toEqual({ isCancelled: true });
    expect(world.refusal({ type: "job.cancel", jobId: "job_none", reason: "" })).toMatch(
      /^NOT_FOUND/,
    );
  });

  test("from no session is no other principal's, also of a job without one", () => {
    const world = new JobWorld();
    const jobId = world.submit({ session: "" });
    world.by = namedBy("bob", "arcp");
    const nowhere = { session: "", scope: "principal" } as const;
    const order = { type: "job.cancel", jobId, reason: "", from: nowhere } as const;
    expect(world.refusal(order)).toMatch(/^NOT_FOUND/);
  });

  test("of a job that waits ends it at once", () => {
    const world = new JobWorld({ running: 1 });
    world.submit();
    const waits = world.submit();
    expect(told(world.cancel(waits))).toEqual([`job.ended ${waits}`]);
    expect(world.job(waits)).toMatchObject({
      status: "cancelled",
      code: "CANCELLED",
      reason: "enough",
      startedAtMs: 0,
      endedAtMs: START_MS,
    });
  });

  test("of one that runs reaches all below it, and ends them by force after the grace", () => {
    const world = new JobWorld();
    const parent = world.submit();
    const child = world.submit({ parent });
    const grandchild = world.submit({ parent: child });
    const family = [parent, child, grandchild];
    expect(told(world.cancel(parent))).toEqual(family.map((id) => `job.cancelling ${id}`));
    expect(world.job(child)?.cancelReason).toBe(`parent ${parent} was cancelled`);
    expect(world.statuses(family)).toEqual(["running", "running", "running"]);
    expect(world.cancel(parent)).toEqual([]);
    world.pass(world.state.jobs.limits.cancelGraceMs - 1);
    expect(world.statuses(family)).toEqual(["running", "running", "running"]);
    world.pass(1);
    expect(world.statuses(family)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect(world.job(parent)).toMatchObject({ reason: "enough", code: "CANCELLED" });
  });

  test("is a promise: whatever the agent returns, the job ends as cancelled", () => {
    const world = new JobWorld();
    const [result, failure] = [world.submit(), world.submit()];
    for (const jobId of [result, failure]) world.cancel(jobId);
    world.end(result, DONE);
    world.end(failure, FAILED);
    for (const jobId of [result, failure]) {
      expect(world.job(jobId)).toMatchObject({ status: "cancelled", reason: "enough" });
    }
  });

  test("gives way to the end of the job's own time", () => {
    const world = new JobWorld();
    const expires = world.submit({ leaseExpiresAtMs: START_MS + 5 * SECOND });
    const late = world.submit({ maxRuntimeSec: 5 });
    for (const jobId of [expires, late]) world.cancel(jobId);
    world.pass(5 * SECOND);
    expect(world.job(expires)).toMatchObject({ status: "error", code: "LEASE_EXPIRED" });
    expect(world.job(late)).toMatchObject({ status: "timed_out", code: "TIMED_OUT" });
  });

  test("of a job that ended changes nothing", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    world.end(jobId);
    const reply = world.run({ type: "job.cancel", jobId, reason: "late" });
    expect(reply).toEqual({ isCancelled: false });
    expect(world.job(jobId)?.status).toBe("success");
  });

  test("has a reason that fits on one line, whatever was given", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    world.cancel(jobId, `no\n\u001b[1m${"x".repeat(5_000)}`);
    const { cancelReason = "" } = world.job(jobId) ?? {};
    expect(cancelReason).toMatch(/^no {2}\[1mxxx/);
    expect(cancelReason).toHaveLength(TERMS.reasonLength);
  });
});

test("time that nobody could use shortens neither a run nor the grace of a cancel", () => {
  const world = new JobWorld({ cancelGraceMs: 5 * SECOND });
  const [runs, cancelled] = [world.submit({ maxRuntimeSec: 60 }), world.submit()];
  const dated = world.submit({ leaseExpiresAtMs: START_MS + 60 * SECOND });
  world.cancel(cancelled);
  world.nowMs += 3600 * SECOND;
  world.record([{ type: "node.resumed", node: "n1", unseenMs: 3600 * SECOND }]);
  world.pass(0);
  expect(world.statuses([runs, cancelled, dated])).toEqual(["running", "running", "error"]);
  world.pass(5 * SECOND - 1);
  expect(world.statuses([runs, cancelled])).toEqual(["running", "running"]);
  world.pass(1);
  expect(world.statuses([runs, cancelled])).toEqual(["running", "cancelled"]);
  world.pass(55 * SECOND - 1);
  expect(world.statuses([runs])).toEqual(["running"]);
  world.pass(1);
  expect(world.job(runs)).toMatchObject({ status: "timed_out", code: "TIMED_OUT" });
});

describe("the end", () => {
  test("comes once, and nothing comes after it", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    expect(told(world.end(jobId, FAILED))).toEqual([`job.ended ${jobId}`]);
    expect(world.job(jobId)).toMatchObject({
      status: "error",
      code: "INTERNAL",
      reason: "no disk",
      endedAtMs: START_MS,
    });
    for (const ending of [DONE, FAILED]) {
      expect(world.run({ type: "job.end", jobId, ending })).toEqual({ isEnded: false });
    }
    expect(world.cancel(jobId)).toEqual([]);
    expect(world.revive(jobId, true)).toEqual([]);
    expect(world.topicsOf(() => world.run({ type: "job.progress", jobId }))).toEqual([]);
    expect(world.run({ type: "job.end", jobId: "job_none", ending: DONE })).toEqual({
      isEnded: false,
    });
  });

  test("of a parent cancels its children", () => {
    const world = new JobWorld();
    const parent = world.submit();
    const child = world.submit({ parent });
    expect(told(world.end(parent))).toEqual([`job.ended ${parent}`, `job.cancelling ${child}`]);
    expect(world.job(child)?.cancelReason).toBe(`parent ${parent} ended`);
  });

  test("is the next number of the session that submitted it", () => {
    const world = new JobWorld();
    world.open("s1");
    const [jobId, other] = [world.submit({ session: "s1" }), world.submit({ session: "gone" })];
    const session = world.state.sessions.byId.get("s1");
    if (session) session.seq = 7;
    for (const id of [jobId, other]) world.end(id);
    expect(world.job(jobId)?.lastSeq).toBe(8);
    expect(world.job(other)?.lastSeq).toBeUndefined();
  });

  test("has a reason that fits on one line, whatever the agent said", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    world.end(jobId, { ...FAILED, reason: "no\n\u001b[1mdisk" });
    expect(world.job(jobId)?.reason).toBe("no  [1mdisk");
  });
});

describe("time", () => {
  test("is over with the lease, also for a job that waits", () => {
    const world = new JobWorld({ running: 1 });
    const leaseExpiresAtMs = START_MS + SECOND;
    const runs = world.submit({ leaseExpiresAtMs });
    const waits = world.submit({ leaseExpiresAtMs });
    world.pass(SECOND - 1);
    expect(world.statuses([runs, waits])).toEqual(["running", "pending"]);
    world.pass(1);
    expect(world.statuses([runs, waits])).toEqual(["error", "error"]);
    expect(world.job(waits)).toMatchObject({ code: "LEASE_EXPIRED", endedAtMs: START_MS + SECOND });
  });

  test("counts from the start, not from the submit", () => {
    const world = new JobWorld({ running: 1 });
    const runs = world.submit();
    const waits = world.submit({ maxRuntimeSec: 5 });
    world.pass(8 * SECOND);
    world.end(runs);
    world.pass(5 * SECOND - 1);
    expect(world.job(waits)?.status).toBe("running");
    world.pass(1);
    expect(world.job(waits)).toMatchObject({ status: "timed_out", reason: "ran longer than 5 s" });
  });
});

describe("after the process that ran it died, a job", () => {
  test("that waited waits on, or starts where a slot is free", () => {
    const world = new JobWorld({ running: 1 });
    const [runs, waits] = [world.submit(), world.submit()];
    expect(world.revive(waits, true)).toEqual([]);
    world.limit({ running: 2 });
    expect(told(world.revive(waits, false))).toEqual([`job.started ${waits}`]);
    expect(world.job(waits)).toMatchObject({ status: "running", restarts: 0 });
    expect(world.job(runs)?.status).toBe("running");
  });

  test("starts in its turn where there are more slots than before, whichever is revived", () => {
    const world = new JobWorld({ running: 1 });
    const runs = world.submit();
    const waiting = [world.submit(), world.submit(), world.submit({ principal: "bob" })];
    world.limit({ running: 4 });
    const [first, second, bob = ""] = waiting;
    expect(told(world.revive(bob, false))).toEqual([`job.started ${first}`]);
    expect(told(world.revive(bob, false))).toEqual([`job.started ${bob}`]);
    expect(told(world.revive(second ?? "", false))).toEqual([`job.started ${second}`]);
    expect(world.job(runs)?.status).toBe("running");
    expect(audit(world.state)).toEqual([]);
  });

  test("that was cancelled ends as cancelled, even if it may run again", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    world.cancel(jobId);
    expect(told(world.revive(jobId, true))).toEqual([`job.ended ${jobId}`]);
    expect(world.job(jobId)).toMatchObject({ status: "cancelled", reason: "enough" });
  });

  test("that may run again does so from its beginning, a few times", () => {
    const world = new JobWorld({ restarts: 2 });
    const jobId = world.submit({ maxRuntimeSec: 60 });
    for (const restarts of [1, 2]) {
      world.pass(30 * SECOND);
      expect(told(world.revive(jobId, true))).toEqual([`job.started ${jobId}`]);
      expect(world.job(jobId)).toMatchObject({ restarts, startedAtMs: world.nowMs });
    }
    expect(world.state.jobs.running).toBe(1);
    world.revive(jobId, true);
    expect(world.job(jobId)).toMatchObject({ status: "error", code: "UNAVAILABLE" });
  });

  test("ends otherwise, with an error that may be retried; children always", () => {
    const world = new JobWorld();
    const parent = world.submit();
    const child = world.submit({ parent });
    world.revive(child, true);
    world.revive(parent, false);
    for (const jobId of [child, parent]) {
      expect(world.job(jobId)).toMatchObject({
        status: "error",
        code: "UNAVAILABLE",
        reason: "the process that ran the agent died",
      });
    }
  });
});

describe("what a job does", () => {
  const ASKS: JobStreamEvent = {
    kind: "status",
    body: { phase: "awaiting_approval", message: "go on?" },
  };

  function say(world: JobWorld, jobId: string, event: JobStreamEvent): Event[] {
    world.say(jobId, event);
    return world.eventsOf(() => world.run({ type: "job.progress", jobId }));
  }

  test("is in the log when it is asked for, in words", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    expect(world.topicsOf(() => world.run({ type: "job.progress", jobId }))).toEqual([]);
    const events = say(world, jobId, { kind: "progress", body: { current: 3, total: 10 } });
    expect(events).toEqual([
      {
        type: "job.progressed",
        jobId,
        progress: {
          activity: { value: "working", rule: "the job runs", task: "3/10" },
          percent: 30,
          atMs: world.nowMs,
        },
      },
    ]);
    expect(world.state.jobs.byId.get(jobId)?.progress).toMatchObject({ percent: 30 });
  });

  test("may be a question, which ends when the job goes on", () => {
    const world = new JobWorld();
    const jobId = world.submit({ agent: "echo@1.0.0" });
    const asked = say(world, jobId, ASKS);
    expect(asked.map(({ type }) => type)).toEqual(["job.progressed", "question.asked"]);
    expect(asked[1]).toMatchObject({
      question: {
        agentId: "arcp@n1:echo",
        alias: `job:${jobId}`,
        kind: "permission",
        text: "go on?",
      },
    });
    expect(say(world, jobId, ASKS).map(({ type }) => type)).toEqual(["job.progressed"]);
    const goesOn = say(world, jobId, { kind: "thought", body: { text: "hm" } });
    expect(goesOn.map(({ type }) => type)).toEqual(["job.progressed", "question.answered"]);
  });

  test("ends with it: its question expires", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    say(world, jobId, ASKS);
    expect(world.end(jobId).map(({ type }) => type)).toEqual(["job.ended", "question.expired"]);
    const other = world.submit({ leaseExpiresAtMs: world.nowMs + SECOND });
    say(world, other, ASKS);
    expect(world.topicsOf(() => world.pass(SECOND))).toEqual(["job.ended", "question.expired"]);
    expect(world.state.questions.openOf.size).toBe(0);
  });

  test("is forgotten when it begins again: nobody waits for an answer any more", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    say(world, jobId, ASKS);
    const events = world.revive(jobId, true).map(({ type }) => type);
    expect(events).toEqual(["job.started", "question.withdrawn"]);
    expect(world.state.jobs.byId.get(jobId)).toMatchObject({
      pulse: undefined,
      progress: undefined,
    });
    expect(audit(world.state)).toEqual([]);
  });
});
