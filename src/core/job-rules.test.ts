import { describe, expect, test } from "vitest";
import type { Event } from "./events.ts";
import { feel, newPulse } from "./job-progress.ts";
import { checkDelegation, type Ending } from "./job-rules.ts";
import { charge } from "./jobs/budget.ts";
import { amountOf, amountText } from "./jobs/decimal.ts";
import type { JobEvent } from "./jobs/events.ts";
import { TERMS } from "./jobs/limits.ts";
import type { Job, JobLimits } from "./jobs.ts";
import { COUNT } from "./limits.ts";
import { audit } from "../../test/support/core/audit.ts";
import { SECOND, START_MS, World } from "../../test/support/core/fixture.ts";

const DONE: Ending = { status: "success", code: "", reason: "" };
const FAILED: Ending = { status: "error", code: "INTERNAL", reason: "no disk" };

function worldWith(limits: Partial<JobLimits>): World {
  const world = new World();
  world.state.jobs.limits = { ...world.state.jobs.limits, ...limits };
  return world;
}

function end(world: World, jobId: string, ending: Ending = DONE): Event[] {
  return world.eventsOf(() => world.run({ type: "job.end", jobId, ending }));
}

function cancel(world: World, jobId: string, reason = "enough"): Event[] {
  return world.eventsOf(() => world.run({ type: "job.cancel", jobId, reason }));
}

/** `job.ended job_0001`, … */
function told(events: readonly Event[]): string[] {
  return events.map((event) => ("job" in event ? `${event.type} ${event.job.id}` : event.type));
}

function statuses(world: World, ids: readonly string[]): (Job["status"] | undefined)[] {
  return ids.map((id) => world.job(id)?.status);
}

/** What is left of a budget, in dollars. */
function left(world: World, jobId: string): string {
  return amountText(world.state.jobs.byId.get(jobId)?.purse.remaining.get("USD") ?? 0n);
}

function spend(world: World, jobId: string, amount: string): void {
  const entry = world.state.jobs.byId.get(jobId);
  if (!entry) throw new Error(`no job ${jobId}`);
  charge(entry.purse, "USD", amountOf(amount) ?? 0n);
}

function budget(amount: string) {
  return { lease: { "cost.budget": [`USD:${amount}`] } };
}

describe("a submit", () => {
  test("starts the job at once where a slot is free", () => {
    const world = new World();
    const order = world.order({ session: "s1", maxRuntimeSec: 60, requestId: "r1" });
    const { job, isRepeated } = world.run(order);
    expect(isRepeated).toBe(false);
    expect(job).toMatchObject({
      id: order.jobId,
      agent: "echo",
      principal: "ann",
      node: "n1",
      session: "s1",
      status: "running",
      submittedAtMs: START_MS,
      startedAtMs: START_MS,
      maxRuntimeSec: 60,
      requestId: "r1",
    });
    expect(told(world.history)).toEqual([`job.submitted ${job.id}`, `job.started ${job.id}`]);
    expect(world.history[0]).toMatchObject({ job: { status: "pending", startedAtMs: 0 } });
  });

  test("names what is wrong with it", () => {
    const world = new World();
    const refusal = (fields: object) => world.refusal(world.order(fields));
    expect(refusal({ jobId: "" })).toBe("INVALID_ARGUMENT: job_id is empty");
    expect(refusal({ agent: "" })).toBe("INVALID_ARGUMENT: agent is empty");
    expect(refusal({ principal: "a\nb" })).toContain("principal holds a control character");
    expect(refusal({ node: "n".repeat(200) })).toContain("node has 200 characters");
    expect(refusal({ lease: { nonsense: [] } })).toContain("no namespace");
    expect(refusal({ leaseExpiresAtMs: START_MS })).toContain("not in the future");
    const long = Array.from({ length: 256 }, (_, i) => `${i}${"x".repeat(900)}`);
    expect(refusal({ lease: { "tool.call": long } })).toMatch(/^TOO_LARGE/);
    expect(JSON.stringify(long).length).toBeGreaterThan(TERMS.leaseLength);
  });

  test("of an id that was used is refused: a job begins once", () => {
    const world = new World();
    const order = world.order();
    world.run(order);
    expect(world.refusal(order)).toBe(`ALREADY_EXISTS: ${order.jobId} was submitted already`);
    end(world, order.jobId);
    expect(world.refusal(order)).toMatch(/^ALREADY_EXISTS/);
  });

  test("has a bound over all daemons", () => {
    const world = new World();
    const { jobs } = world.state;
    Object.defineProperty(jobs, "unfinished", { value: COUNT.unfinishedJobs });
    expect(world.refusal(world.order())).toMatch(/^LIMIT_EXCEEDED: 200000 jobs have not ended/);
  });
});

describe("an idempotency key", () => {
  const order = { key: "k", fingerprint: "f" };

  test("gives the same job for the same parameters, and a conflict for others", () => {
    const world = new World();
    const jobId = world.submit(order);
    const again = world.run(world.order(order));
    expect(again).toMatchObject({ isRepeated: true, job: { id: jobId } });
    expect(world.refusal(world.order({ ...order, fingerprint: "other" }))).toBe(
      'ALREADY_EXISTS: key "k" was used with other parameters',
    );
    const others = world.run(world.order({ ...order, principal: "bob" }));
    expect(others.isRepeated).toBe(false);
    end(world, jobId, FAILED);
    expect(world.run(world.order(order)).job).toMatchObject({ id: jobId, status: "error" });
  });

  test("may be used again when its time is over, also by a job that still runs", () => {
    const world = worldWith({ keyTtlMs: 10 * SECOND });
    const jobId = world.submit(order);
    world.pass(9 * SECOND);
    expect(world.run(world.order(order)).job.id).toBe(jobId);
    world.pass(SECOND);
    const later = world.run(world.order(order)).job.id;
    expect(later).not.toBe(jobId);
    end(world, jobId);
    world.pass(SECOND);
    expect(world.run(world.order(order)).job.id).toBe(later);
    expect(audit(world.state)).toEqual([]);
  });

  test("is refused where its principal has too many", () => {
    const world = worldWith({ keysPerPrincipal: 2 });
    for (const key of ["a", "b"]) world.submit({ key, fingerprint: "f" });
    const refused = world.order({ key: "c", fingerprint: "f" });
    expect(world.refusal(refused)).toBe("LIMIT_EXCEEDED: ann has 2 idempotency keys");
    expect(world.run(world.order({ key: "a", fingerprint: "f" })).isRepeated).toBe(true);
    world.submit({ key: "c", fingerprint: "f", principal: "bob" });
  });
});

describe("slots", () => {
  const LIMITS = { running: 2, runningPerPrincipal: 2, queuedPerPrincipal: 3 };

  test("that come free go to the principals in turn, and none is given twice", () => {
    const world = worldWith(LIMITS);
    const [first, second] = [world.submit(), world.submit()];
    const ann = [world.submit(), world.submit(), world.submit()];
    expect(statuses(world, ann)).toEqual(["pending", "pending", "pending"]);
    expect(world.refusal(world.order())).toBe("LIMIT_EXCEEDED: 3 jobs of ann wait already");
    const bob = world.submit({ principal: "bob" });
    const started = (events: readonly Event[]) => told(events).at(-1);
    expect(told(cancel(world, ann[1] ?? ""))).toEqual([`job.ended ${ann[1]}`]);
    expect(started(end(world, first))).toBe(`job.started ${ann[0]}`);
    expect(started(end(world, second))).toBe(`job.started ${bob}`);
    expect(started(end(world, bob))).toBe(`job.started ${ann[2]}`);
    expect(told(end(world, ann[0] ?? ""))).toEqual([`job.ended ${ann[0]}`]);
    expect(audit(world.state)).toEqual([]);
  });

  test("of one principal are fewer than those of all", () => {
    const world = worldWith({ ...LIMITS, runningPerPrincipal: 1 });
    const [first, second] = [world.submit(), world.submit()];
    expect(world.job(second)?.status).toBe("pending");
    const bob = world.submit({ principal: "bob" });
    expect(world.job(bob)?.status).toBe("running");
    expect(told(end(world, bob))).toEqual([`job.ended ${bob}`]);
    expect(told(end(world, first))).toEqual([`job.ended ${first}`, `job.started ${second}`]);
  });

  test("are counted on each node", () => {
    const world = worldWith({ ...LIMITS, running: 1 });
    const here = [world.submit(), world.submit()];
    const there = world.submit({ node: "n2" });
    expect(statuses(world, [...here, there])).toEqual(["running", "pending", "running"]);
  });

  test("are not needed by a child: its parent would wait for itself", () => {
    const world = worldWith({ ...LIMITS, running: 1 });
    const parent = world.submit();
    const waits = world.submit();
    const child = world.submit({ parent });
    expect(world.job(child)?.status).toBe("running");
    expect(told(end(world, child))).toEqual([`job.ended ${child}`]);
    expect(told(end(world, parent))).toEqual([`job.ended ${parent}`, `job.started ${waits}`]);
  });
});

describe("a child", () => {
  test("has a part of its parent's lease, and no longer a life", () => {
    const world = new World();
    const leaseExpiresAtMs = START_MS + 10 * SECOND;
    const parent = world.submit({ lease: { "tool.call": ["fs.*"] }, leaseExpiresAtMs });
    const lease = (patterns: string[]) => ({ parent, lease: { "tool.call": patterns } });
    const child = world.submit(lease(["fs.read"]));
    expect(world.job(child)).toMatchObject({
      lease: { "tool.call": ["fs.read"] },
      leaseExpiresAtMs,
    });
    expect(world.refusal(world.order(lease(["net.*"])))).toMatch(/^LEASE_SUBSET_VIOLATION/);
    const late = { parent, leaseExpiresAtMs: leaseExpiresAtMs + 1 };
    expect(world.refusal(world.order(late))).toContain("later than the parent's");
  });

  test("takes its budget from what its parent has left, and gives back what it did not spend", () => {
    const world = new World();
    const parent = world.submit(budget("10"));
    const first = world.submit({ parent, ...budget("6") });
    expect(left(world, parent)).toBe("4");
    expect(world.refusal(world.order({ parent, ...budget("5") }))).toContain("the parent has 4");
    spend(world, first, "2.5");
    const events = end(world, first);
    expect(events[0]).toMatchObject({ job: { budget: { USD: "3.5" } } });
    expect(left(world, parent)).toBe("7.5");
    end(world, parent);
    expect(world.job(parent)?.budget).toEqual({ USD: "7.5" });
  });

  test("that spends what it was not granted spends its parent's", () => {
    const world = new World();
    const parent = world.submit(budget("10"));
    const child = world.submit({ parent });
    spend(world, child, "4");
    expect(left(world, parent)).toBe("6");
  });

  test("of a parent that is over, or never was, is refused", () => {
    const world = new World();
    const parent = world.submit();
    end(world, parent);
    expect(world.refusal(world.order({ parent }))).toBe(`WRONG_STATE: ${parent} is over`);
    expect(world.refusal(world.order({ parent: "job_none" }))).toBe('NOT_FOUND: no job "job_none"');
  });

  test("is one of few at once, of few ever, and not too far down", () => {
    const world = worldWith({ children: 3, childrenAtOnce: 2, depth: 2 });
    const parent = world.submit({ lease: { "agent.delegate": ["echo"] } });
    const [child, other] = [world.submit({ parent }), world.submit({ parent })];
    const tooMany = "LIMIT_EXCEEDED: a job has at most 3 children, 2 at once";
    expect(world.refusal(world.order({ parent }))).toBe(tooMany);
    end(world, other);
    end(world, world.submit({ parent }));
    expect(world.refusal(world.order({ parent }))).toBe(tooMany);
    const below = world.submit({ parent: child });
    expect(world.refusal(world.order({ parent: below }))).toBe(
      "LIMIT_EXCEEDED: delegated jobs nest at most 2 deep",
    );
    const asked = { parent, agent: "echo" };
    expect(checkDelegation(world.state, asked, world.nowMs)).toMatchObject({ ok: false });
  });

  test("is delegated to an agent that its parent's lease allows", () => {
    const world = new World();
    const parent = world.submit({
      lease: { "agent.delegate": ["echo"], "cost.budget": ["USD:1"] },
    });
    const check = (agent: string) => checkDelegation(world.state, { parent, agent }, world.nowMs);
    expect(check("echo")).toBeUndefined();
    expect(check("shell")).toMatchObject({ code: "PERMISSION_DENIED" });
    spend(world, parent, "1");
    expect(check("echo")).toMatchObject({ code: "BUDGET_EXHAUSTED" });
    end(world, parent);
    expect(check("echo")).toMatchObject({ code: "WRONG_STATE" });
  });
});

describe("a cancel", () => {
  const by = { principal: "ann", session: "s1", scope: "session" } as const;

  test("comes from the session that submitted the job, or from its principal where that counts", () => {
    const world = new World();
    const [one, other] = [world.submit({ session: "s1" }), world.submit({ session: "s2" })];
    const order = (jobId: string, more: object = {}) => {
      return { type: "job.cancel", jobId, reason: "", by: { ...by, ...more } } as const;
    };
    expect(world.refusal(order(other))).toMatch(/^PERMISSION_DENIED/);
    expect(world.refusal(order(other, { principal: "bob", session: "s3" }))).toBe(
      `NOT_FOUND: no job "${other}"`,
    );
    expect(world.run(order(one))).toEqual({ isCancelled: true });
    expect(world.run(order(other, { scope: "principal" }))).toEqual({ isCancelled: true });
    expect(world.refusal({ type: "job.cancel", jobId: "job_none", reason: "" })).toMatch(
      /^NOT_FOUND/,
    );
  });

  test("of a job that waits ends it at once", () => {
    const world = worldWith({ running: 1 });
    world.submit();
    const waits = world.submit();
    expect(told(cancel(world, waits))).toEqual([`job.ended ${waits}`]);
    expect(world.job(waits)).toMatchObject({
      status: "cancelled",
      code: "CANCELLED",
      reason: "enough",
      startedAtMs: 0,
      endedAtMs: START_MS,
    });
  });

  test("of one that runs reaches all below it, and ends them by force after the grace", () => {
    const world = new World();
    const parent = world.submit();
    const child = world.submit({ parent });
    const grandchild = world.submit({ parent: child });
    const family = [parent, child, grandchild];
    expect(told(cancel(world, parent))).toEqual(family.map((id) => `job.cancelling ${id}`));
    expect(world.job(child)?.cancelReason).toBe(`parent ${parent} was cancelled`);
    expect(statuses(world, family)).toEqual(["running", "running", "running"]);
    expect(cancel(world, parent)).toEqual([]);
    world.pass(world.state.jobs.limits.cancelGraceMs - 1);
    expect(statuses(world, family)).toEqual(["running", "running", "running"]);
    world.pass(1);
    expect(statuses(world, family)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect(world.job(parent)).toMatchObject({ reason: "enough", code: "CANCELLED" });
  });

  test("is a promise: whatever the agent returns, the job ends as cancelled", () => {
    const world = new World();
    const [result, failure] = [world.submit(), world.submit()];
    for (const jobId of [result, failure]) cancel(world, jobId);
    end(world, result, DONE);
    end(world, failure, FAILED);
    for (const jobId of [result, failure]) {
      expect(world.job(jobId)).toMatchObject({ status: "cancelled", reason: "enough" });
    }
  });

  test("gives way to the end of the job's own time", () => {
    const world = new World();
    const expires = world.submit({ leaseExpiresAtMs: START_MS + 5 * SECOND });
    const late = world.submit({ maxRuntimeSec: 5 });
    for (const jobId of [expires, late]) cancel(world, jobId);
    world.pass(5 * SECOND);
    expect(world.job(expires)).toMatchObject({ status: "error", code: "LEASE_EXPIRED" });
    expect(world.job(late)).toMatchObject({ status: "timed_out", code: "TIMED_OUT" });
  });

  test("of a job that ended changes nothing", () => {
    const world = new World();
    const jobId = world.submit();
    end(world, jobId);
    const reply = world.run({ type: "job.cancel", jobId, reason: "late" });
    expect(reply).toEqual({ isCancelled: false });
    expect(world.job(jobId)?.status).toBe("success");
  });

  test("has a reason that fits on one line, whatever was given", () => {
    const world = new World();
    const jobId = world.submit();
    cancel(world, jobId, `no\n\u001b[1m${"x".repeat(5_000)}`);
    const { cancelReason = "" } = world.job(jobId) ?? {};
    expect(cancelReason).toMatch(/^no {2}\[1mxxx/);
    expect(cancelReason).toHaveLength(TERMS.reasonLength);
  });
});

describe("the end", () => {
  test("comes once, and nothing comes after it", () => {
    const world = new World();
    const jobId = world.submit();
    expect(told(end(world, jobId, FAILED))).toEqual([`job.ended ${jobId}`]);
    expect(world.job(jobId)).toMatchObject({
      status: "error",
      code: "INTERNAL",
      reason: "no disk",
      endedAtMs: START_MS,
    });
    for (const ending of [DONE, FAILED]) {
      expect(world.run({ type: "job.end", jobId, ending })).toEqual({ isEnded: false });
    }
    expect(cancel(world, jobId)).toEqual([]);
    expect(world.topicsOf(() => world.run({ type: "job.revive", jobId, again: true }))).toEqual([]);
    expect(world.topicsOf(() => world.run({ type: "job.progress", jobId }))).toEqual([]);
    expect(world.run({ type: "job.end", jobId: "job_none", ending: DONE })).toEqual({
      isEnded: false,
    });
  });

  test("of a parent cancels its children", () => {
    const world = new World();
    const parent = world.submit();
    const child = world.submit({ parent });
    expect(told(end(world, parent))).toEqual([`job.ended ${parent}`, `job.cancelling ${child}`]);
    expect(world.job(child)?.cancelReason).toBe(`parent ${parent} ended`);
  });

  test("is the next number of the session that submitted it", () => {
    const world = new World();
    world.open("s1");
    const [jobId, other] = [world.submit({ session: "s1" }), world.submit({ session: "gone" })];
    const session = world.state.sessions.byId.get("s1");
    if (session) session.seq = 7;
    for (const id of [jobId, other]) end(world, id);
    expect(world.job(jobId)?.lastSeq).toBe(8);
    expect(world.job(other)?.lastSeq).toBeUndefined();
  });

  test("has a reason that fits on one line, whatever the agent said", () => {
    const world = new World();
    const jobId = world.submit();
    end(world, jobId, { ...FAILED, reason: "no\n\u001b[1mdisk" });
    expect(world.job(jobId)?.reason).toBe("no  [1mdisk");
  });
});

describe("time", () => {
  test("is over with the lease, also for a job that waits", () => {
    const world = worldWith({ running: 1 });
    const leaseExpiresAtMs = START_MS + SECOND;
    const runs = world.submit({ leaseExpiresAtMs });
    const waits = world.submit({ leaseExpiresAtMs });
    world.pass(SECOND - 1);
    expect(statuses(world, [runs, waits])).toEqual(["running", "pending"]);
    world.pass(1);
    expect(statuses(world, [runs, waits])).toEqual(["error", "error"]);
    expect(world.job(waits)).toMatchObject({ code: "LEASE_EXPIRED", endedAtMs: START_MS + SECOND });
  });

  test("counts from the start, not from the submit", () => {
    const world = worldWith({ running: 1 });
    const runs = world.submit();
    const waits = world.submit({ maxRuntimeSec: 5 });
    world.pass(8 * SECOND);
    end(world, runs);
    world.pass(5 * SECOND - 1);
    expect(world.job(waits)?.status).toBe("running");
    world.pass(1);
    expect(world.job(waits)).toMatchObject({ status: "timed_out", reason: "ran longer than 5 s" });
  });
});

describe("after the process that ran it died, a job", () => {
  function revive(world: World, jobId: string, again: boolean): Event[] {
    return world.eventsOf(() => world.run({ type: "job.revive", jobId, again }));
  }

  test("that waited waits on, or starts where a slot is free", () => {
    const world = worldWith({ running: 1 });
    const [runs, waits] = [world.submit(), world.submit()];
    expect(revive(world, waits, true)).toEqual([]);
    world.state.jobs.limits = { ...world.state.jobs.limits, running: 2 };
    expect(told(revive(world, waits, false))).toEqual([`job.started ${waits}`]);
    expect(world.job(waits)).toMatchObject({ status: "running", restarts: 0 });
    expect(world.job(runs)?.status).toBe("running");
  });

  test("starts in its turn where there are more slots than before, whichever is revived", () => {
    const world = worldWith({ running: 1 });
    const runs = world.submit();
    const waiting = [world.submit(), world.submit(), world.submit({ principal: "bob" })];
    world.state.jobs.limits = { ...world.state.jobs.limits, running: 4 };
    const [first, second, bob = ""] = waiting;
    expect(told(revive(world, bob, false))).toEqual([`job.started ${first}`]);
    expect(told(revive(world, bob, false))).toEqual([`job.started ${bob}`]);
    expect(told(revive(world, second ?? "", false))).toEqual([`job.started ${second}`]);
    expect(world.job(runs)?.status).toBe("running");
    expect(audit(world.state)).toEqual([]);
  });

  test("that was cancelled ends as cancelled, even if it may run again", () => {
    const world = new World();
    const jobId = world.submit();
    cancel(world, jobId);
    expect(told(revive(world, jobId, true))).toEqual([`job.ended ${jobId}`]);
    expect(world.job(jobId)).toMatchObject({ status: "cancelled", reason: "enough" });
  });

  test("that may run again does so from its beginning, a few times", () => {
    const world = worldWith({ restarts: 2 });
    const jobId = world.submit({ maxRuntimeSec: 60 });
    for (const restarts of [1, 2]) {
      world.pass(30 * SECOND);
      expect(told(revive(world, jobId, true))).toEqual([`job.started ${jobId}`]);
      expect(world.job(jobId)).toMatchObject({ restarts, startedAtMs: world.nowMs });
    }
    expect(world.state.jobs.running).toBe(1);
    revive(world, jobId, true);
    expect(world.job(jobId)).toMatchObject({ status: "error", code: "UNAVAILABLE" });
  });

  test("ends otherwise, with an error that may be retried; children always", () => {
    const world = new World();
    const parent = world.submit();
    const child = world.submit({ parent });
    revive(world, child, true);
    revive(world, parent, false);
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
  const ASKS: JobEvent = {
    kind: "status",
    body: { phase: "awaiting_approval", message: "go on?" },
  };

  function say(world: World, jobId: string, event: JobEvent): Event[] {
    const entry = world.state.jobs.byId.get(jobId);
    if (!entry) throw new Error(`no job ${jobId}`);
    entry.pulse ??= newPulse(world.nowMs);
    feel(entry.pulse, event, world.nowMs);
    return world.eventsOf(() => world.run({ type: "job.progress", jobId }));
  }

  test("is in the log when it is asked for, in words", () => {
    const world = new World();
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
    const world = new World();
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
    const world = new World();
    const jobId = world.submit();
    say(world, jobId, ASKS);
    expect(end(world, jobId).map(({ type }) => type)).toEqual(["job.ended", "question.expired"]);
    const other = world.submit({ leaseExpiresAtMs: world.nowMs + SECOND });
    say(world, other, ASKS);
    expect(world.topicsOf(() => world.pass(SECOND))).toEqual(["job.ended", "question.expired"]);
    expect(world.state.questions.openOf.size).toBe(0);
  });

  test("is forgotten when it begins again: nobody waits for an answer any more", () => {
    const world = new World();
    const jobId = world.submit();
    say(world, jobId, ASKS);
    const events = world.topicsOf(() => world.run({ type: "job.revive", jobId, again: true }));
    expect(events).toEqual(["job.started", "question.withdrawn"]);
    expect(world.state.jobs.byId.get(jobId)).toMatchObject({
      pulse: undefined,
      progress: undefined,
    });
    expect(audit(world.state)).toEqual([]);
  });
});
