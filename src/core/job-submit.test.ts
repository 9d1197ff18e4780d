import { describe, expect, test } from "vitest";
import { checkDelegation } from "./job-submit.ts";
import { TERMS } from "./jobs/limits.ts";
import { COUNT } from "./limits.ts";
import { audit } from "../../test/support/core/audit.ts";
import { SECOND, START_MS } from "../../test/support/core/fixture.ts";
import { sessionDefaults } from "../../test/support/core/jobs.ts";
import { budget, FAILED, JobWorld, told } from "../../test/support/core/job-world.ts";

test("a job of another principal is no parent, and its session is nobody else's", () => {
  const world = new JobWorld();
  const theirs = world.submit({ principal: "ann" });
  const child = world.order({ parent: theirs, principal: "bob" });
  expect(world.refusal(child)).toBe(`NOT_FOUND: no job "${theirs}"`);
  world.run({ ...sessionDefaults(), sessionId: "s9", principal: "ann" });
  const foreign = world.order({ session: "s9", principal: "bob" });
  expect(world.refusal(foreign)).toBe('NOT_FOUND: no session "s9"');
});

describe("a submit", () => {
  test("starts the job at once where a slot is free", () => {
    const world = new JobWorld();
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
    expect(told(world.history)).toEqual([`job.submitted ${job.id}`]);
    expect(world.history[0]).toMatchObject({ job: { status: "running", startedAtMs: START_MS } });
  });

  test("names what is wrong with it", () => {
    const world = new JobWorld();
    const refusal = (fields: object) => world.refusal(world.order(fields));
    expect(refusal({ jobId: "" })).toBe("INVALID_ARGUMENT: jobId is empty");
    expect(refusal({ agent: "" })).toBe("INVALID_ARGUMENT: agent is empty");
    expect(refusal({ principal: "a\nb" })).toContain("principal holds a control character");
    expect(refusal({ node: "n".repeat(200) })).toContain("node has 200 characters");
    expect(refusal({ lease: { nonsense: [] } })).toContain("unknown lease namespace");
    expect(refusal({ leaseExpiresAtMs: START_MS })).toContain("not in the future");
    const long = Array.from({ length: 256 }, (_, i) => `${i}${"x".repeat(900)}`);
    expect(refusal({ lease: { "tool.call": long } })).toMatch(/^TOO_LARGE/);
    expect(JSON.stringify(long).length).toBeGreaterThan(TERMS.leaseLength);
  });

  test("of an id that was used is refused: a job begins once", () => {
    const world = new JobWorld();
    const order = world.order();
    world.run(order);
    expect(world.refusal(order)).toBe(`ALREADY_EXISTS: ${order.jobId} was submitted already`);
    world.end(order.jobId);
    expect(world.refusal(order)).toMatch(/^ALREADY_EXISTS/);
  });

  test("has a bound over all daemons", () => {
    const world = new JobWorld();
    world.state.jobs.holdings.add("ann", COUNT.unfinishedJobs / 2);
    expect(world.refusal(world.order({ principal: "ann" }))).toBe(
      "LIMIT_EXCEEDED: ann already has 100000 unfinished jobs: " +
        "its share of the limit 200000 is 100000",
    );
    expect(world.submit({ principal: "bob" })).not.toBe("");
  });
});

describe("an idempotency key", () => {
  const order = { key: "k", fingerprint: "f" };

  test("gives the same job for the same parameters, and a conflict for others", () => {
    const world = new JobWorld();
    const jobId = world.submit(order);
    const again = world.run(world.order(order));
    expect(again).toMatchObject({ isRepeated: true, job: { id: jobId } });
    expect(world.refusal(world.order({ ...order, fingerprint: "other" }))).toBe(
      'ALREADY_EXISTS: key "k" was used with other parameters',
    );
    const others = world.run(world.order({ ...order, principal: "bob" }));
    expect(others.isRepeated).toBe(false);
    world.end(jobId, FAILED);
    expect(world.run(world.order(order)).job).toMatchObject({ id: jobId, status: "error" });
  });

  test("may be used again when its time is over, also by a job that still runs", () => {
    const world = new JobWorld({ keyTtlMs: 10 * SECOND });
    const jobId = world.submit(order);
    world.pass(9 * SECOND);
    expect(world.run(world.order(order)).job.id).toBe(jobId);
    world.pass(SECOND);
    const later = world.run(world.order(order)).job.id;
    expect(later).not.toBe(jobId);
    world.end(jobId);
    world.pass(SECOND);
    expect(world.run(world.order(order)).job.id).toBe(later);
    expect(audit(world.state)).toEqual([]);
  });

  test("is refused where its principal has too many", () => {
    const world = new JobWorld({ keysPerPrincipal: 2 });
    for (const key of ["a", "b"]) world.submit({ key, fingerprint: "f" });
    const refused = world.order({ key: "c", fingerprint: "f" });
    expect(world.refusal(refused)).toBe("LIMIT_EXCEEDED: ann already has 2 idempotency keys");
    expect(world.run(world.order({ key: "a", fingerprint: "f" })).isRepeated).toBe(true);
    world.submit({ key: "c", fingerprint: "f", principal: "bob" });
  });
});

describe("slots", () => {
  const LIMITS = { running: 2, runningPerPrincipal: 2, queuedPerPrincipal: 3 };

  test("that come free go to the principals in turn, and none is given twice", () => {
    const world = new JobWorld(LIMITS);
    const [first, second] = [world.submit(), world.submit()];
    const ann = [world.submit(), world.submit(), world.submit()];
    expect(world.statuses(ann)).toEqual(["pending", "pending", "pending"]);
    expect(world.refusal(world.order())).toBe("LIMIT_EXCEEDED: ann already has 3 waiting jobs");
    const bob = world.submit({ principal: "bob" });
    expect(told(world.cancel(ann[1] ?? ""))).toEqual([`job.ended ${ann[1]}`]);
    expect(told(world.end(first)).at(-1)).toBe(`job.started ${ann[0]}`);
    expect(told(world.end(second)).at(-1)).toBe(`job.started ${bob}`);
    expect(told(world.end(bob)).at(-1)).toBe(`job.started ${ann[2]}`);
    expect(told(world.end(ann[0] ?? ""))).toEqual([`job.ended ${ann[0]}`]);
    expect(audit(world.state)).toEqual([]);
  });

  test("of one principal are fewer than those of all", () => {
    const world = new JobWorld({ ...LIMITS, runningPerPrincipal: 1 });
    const [first, second] = [world.submit(), world.submit()];
    expect(world.job(second)?.status).toBe("pending");
    const bob = world.submit({ principal: "bob" });
    expect(world.job(bob)?.status).toBe("running");
    expect(told(world.end(bob))).toEqual([`job.ended ${bob}`]);
    expect(told(world.end(first))).toEqual([`job.ended ${first}`, `job.started ${second}`]);
  });

  test("are counted on each node", () => {
    const world = new JobWorld({ ...LIMITS, running: 1 });
    const here = [world.submit(), world.submit()];
    const there = world.submit({ node: "n2" });
    expect(world.statuses([...here, there])).toEqual(["running", "pending", "running"]);
  });

  test("are not needed by a child: its parent would wait for itself", () => {
    const world = new JobWorld({ ...LIMITS, running: 1 });
    const parent = world.submit();
    const waits = world.submit();
    const child = world.submit({ parent });
    expect(world.job(child)?.status).toBe("running");
    expect(told(world.end(child))).toEqual([`job.ended ${child}`]);
    expect(told(world.end(parent))).toEqual([`job.ended ${parent}`, `job.started ${waits}`]);
  });
});

describe("a child", () => {
  test("has a part of its parent's lease, and no longer a life", () => {
    const world = new JobWorld();
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

  test("takes its budget from what its parent has left, and gives back what it keeps", () => {
    const world = new JobWorld();
    const parent = world.submit(budget("10"));
    const first = world.submit({ parent, ...budget("6") });
    expect(world.left(parent)).toBe("4");
    expect(world.refusal(world.order({ parent, ...budget("5") }))).toContain("the parent has 4");
    world.spend(first, "2.5");
    const events = world.end(first);
    expect(events[0]).toMatchObject({ job: { budget: { USD: "3.5" } } });
    expect(world.left(parent)).toBe("7.5");
    world.end(parent);
    expect(world.job(parent)?.budget).toEqual({ USD: "7.5" });
  });

  test("that spends what it was not granted spends its parent's", () => {
    const world = new JobWorld();
    const parent = world.submit(budget("10"));
    const child = world.submit({ parent });
    world.spend(child, "4");
    expect(world.left(parent)).toBe("6");
  });

  test("of a parent that is over, or never was, is refused", () => {
    const world = new JobWorld();
    const parent = world.submit();
    world.end(parent);
    expect(world.refusal(world.order({ parent }))).toBe(`WRONG_STATE: ${parent} is over`);
    expect(world.refusal(world.order({ parent: "job_none" }))).toBe('NOT_FOUND: no job "job_none"');
  });

  test("is one of few at once, of few ever, and not too far down", () => {
    const world = new JobWorld({ children: 3, childrenAtOnce: 2, depth: 2 });
    const parent = world.submit({ lease: { "agent.delegate": ["echo"] } });
    const [child, other] = [world.submit({ parent }), world.submit({ parent })];
    const tooMany = "LIMIT_EXCEEDED: a job has at most 3 children, 2 at once";
    expect(world.refusal(world.order({ parent }))).toBe(tooMany);
    world.end(other);
    world.end(world.submit({ parent }));
    expect(world.refusal(world.order({ parent }))).toBe(tooMany);
    const below = world.submit({ parent: child });
    expect(world.refusal(world.order({ parent: below }))).toBe(
      "LIMIT_EXCEEDED: delegated jobs nest at most 2 deep",
    );
    const asked = { parent, agent: "echo" };
    expect(checkDelegation(world.state, asked, world.nowMs)).toMatchObject({ ok: false });
  });

  test("is delegated to an agent that its parent's lease allows", () => {
    const world = new JobWorld();
    const parent = world.submit({
      lease: { "agent.delegate": ["echo"], "cost.budget": ["USD:1"] },
    });
    const check = (agent: string) => checkDelegation(world.state, { parent, agent }, world.nowMs);
    expect(check("echo")).toBeUndefined();
    expect(check("shell")).toMatchObject({ code: "PERMISSION_DENIED" });
    world.spend(parent, "1");
    expect(check("echo")).toMatchObject({ code: "BUDGET_EXHAUSTED" });
    world.end(parent);
    expect(check("echo")).toMatchObject({ code: "WRONG_STATE" });
  });
});
