import { beforeEach, describe, expect, test } from "vitest";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Report } from "../core/reports.ts";
import { TestClock } from "../../test/support/engine/fixture.ts";
import type { Job } from "./job.ts";
import { ROWS } from "./limits.ts";
import { JobRows } from "./rows.ts";
import { testJob } from "../../test/support/jobs/fixture.ts";

const DONE: Outcome = { status: "success", result: { form: "none" } };
const FAILED: Outcome = { status: "error", code: "INTERNAL", message: "no disk" };

let clock: TestClock;
let reports: Report[];
let forgotten: string[];
let rows: JobRows;
let failure: Error | undefined;

beforeEach(() => {
  clock = new TestClock();
  reports = [];
  forgotten = [];
  failure = undefined;
  rows = new JobRows({
    node: "n1",
    clock,
    report: async (report) => {
      if (failure) throw failure;
      reports.push(report);
    },
    forget: async (alias) => forgotten.push(alias),
    onTrouble: () => undefined,
  });
});

function start(job = testJob()): Job {
  job.status = "running";
  rows.onStarted(job);
  return job;
}

function end(job: Job, outcome: Outcome = DONE): void {
  job.status = outcome.status;
  job.endedAtMs = clock.wallMs();
  rows.onEnded(job, outcome);
}

function lastOf(name: string): Report | undefined {
  return reports.findLast(({ alias }) => alias === `arcp@n1:${name}`);
}

describe("jobs", () => {
  test("one that is over at once is no row, but its agent says how it went", async () => {
    const job = start();
    await clock.advance(100);
    end(job, FAILED);
    await clock.advance(5000);
    expect(lastOf(job.id)).toBeUndefined();
    expect(lastOf("echo")?.facts).toMatchObject({
      name: "echo",
      activity: { value: "idle" },
      outcome: { value: "failed", text: "no disk" },
    });
  });

  test("one that takes longer is a row, with what it does, and then gone", async () => {
    const job = start();
    await clock.advance(1000);
    rows.onEvent(job, { kind: "thought", body: { text: "hm" } });
    await clock.advance(2000);
    expect(lastOf(job.id)).toMatchObject({
      agentId: job.id,
      ttlMs: ROWS.ttlMs,
      facts: {
        name: "echo@1.0.0",
        liveness: { value: "alive" },
        activity: { value: "thinking", message: "hm" },
      },
    });
    expect(lastOf("echo")?.facts.activity).toMatchObject({ value: "thinking", message: "hm" });
    end(job);
    await clock.advance(1000);
    expect(lastOf(job.id)).toMatchObject({
      facts: { liveness: { value: "exited", rule: "the job is done" } },
    });
  });

  test("why one was cancelled is told as that", async () => {
    end(start(), { status: "cancelled", reason: "wrong input" });
    await clock.advance(2000);
    expect(lastOf("echo")?.facts.outcome?.text).toBe("cancelled: wrong input");
  });

  test("a question is told at the next tick, even of a job that just started", async () => {
    const job = start();
    rows.onEvent(job, { kind: "status", body: { phase: "awaiting_approval", message: "go?" } });
    await clock.advance(ROWS.tickMs);
    expect(lastOf(job.id)?.facts.question?.value).toMatchObject({
      kind: "permission",
      text: "go?",
    });
  });

  test("however much they say, few reports are made of it", async () => {
    const jobs = Array.from({ length: 10 }, () => start());
    await clock.advance(1000);
    reports = [];
    for (let second = 0; second < 5; second += 1) {
      for (let i = 0; i < 20_000; i += 1) {
        for (const job of jobs) {
          rows.onEvent(job, { kind: "log", body: { level: "info", message: `${second} ${i}` } });
        }
      }
      await clock.advance(1000);
    }
    expect(reports.length).toBeLessThanOrEqual(5 * (jobs.length + 1));
    expect(reports.length).toBeGreaterThan(4 * jobs.length);
    expect(lastOf(jobs[0]?.id ?? "")?.facts.activity?.message).toBe("4 19999");
  });

  test("that one does the same is told every ten seconds, and repeated in any case", async () => {
    const job = start();
    await clock.advance(1000);
    reports = [];
    for (let i = 0; i < 60; i += 1) {
      rows.onEvent(job, { kind: "log", body: { level: "info", message: "same" } });
      await clock.advance(1000);
    }
    const moments = new Set(
      reports
        .filter(({ alias }) => alias.endsWith(job.id))
        .map(({ facts }) => facts.lastActivityAtMs),
    );
    expect(moments.size).toBeGreaterThan(4);
    expect(moments.size).toBeLessThan(8);
    reports = [];
    await clock.advance(ROWS.repeatMs + 1000);
    expect(lastOf(job.id)).toBeDefined();
  });

  test("there are so many rows at once, the others are counted by their agent", async () => {
    const jobs = Array.from({ length: ROWS.jobs + 5 }, () => start());
    await clock.advance(30_000);
    const shown = new Set(reports.map(({ alias }) => alias));
    expect(shown.size).toBe(ROWS.jobs + 1);
    expect(lastOf("echo")?.facts.activity?.message).toBe(`${jobs.length} jobs`);
    for (const job of jobs) end(job);
    await clock.advance(60_000);
    expect(forgotten).toHaveLength(ROWS.jobs - ROWS.ended);
    expect(lastOf("echo")?.facts.activity?.value).toBe("idle");
  });

  test("what could not be told is told later", async () => {
    const job = start();
    await clock.advance(1000);
    failure = new Error("the disk is full");
    end(job);
    await clock.advance(2000);
    expect(lastOf(job.id)?.facts.liveness.value).toBe("alive");
    failure = undefined;
    await clock.advance(1000);
    expect(lastOf(job.id)?.facts.liveness.value).toBe("exited");
  });
});

describe("after a start", () => {
  test("the fleet is told what became of what it believes in", async () => {
    const [failed, again] = [testJob(), testJob()];
    failed.status = "error";
    failed.ending = FAILED;
    failed.endedAtMs = clock.wallMs();
    const alive = { liveness: { value: "alive", rule: "" } } as const;
    const known = [failed.id, again.id, "job_lost", "old-agent", "echo"].map((name, i) => ({
      alias: `arcp@n1:${name}`,
      agentId: name,
      links: [],
      order: clock.wallMs() + 1_000_000 + i,
      reportedAtMs: 0,
      facts: { name, ...alive },
    }));
    const other = { ...known[0], alias: "arcp@n2:job_9" } as Report;
    rows.setAgent("echo");
    const jobs = new Map([failed, again].map((job) => [job.id, job]));
    await rows.reconcile([...known, other], { get: (id) => jobs.get(id) });
    await clock.advance(1000);
    expect(lastOf(failed.id)?.facts).toMatchObject({
      liveness: { value: "exited", rule: "the job failed: no disk" },
      outcome: { value: "failed" },
    });
    expect(lastOf(again.id)?.facts.activity?.message).toBe("waits for its turn");
    expect(lastOf("job_lost")?.facts.liveness.value).toBe("exited");
    expect(lastOf("old-agent")?.facts.liveness.value).toBe("exited");
    expect(lastOf("echo")?.facts.liveness.value).toBe("alive");
    expect(reports.some(({ alias }) => alias.startsWith("arcp@n2:"))).toBe(false);
    // A clock that was set back must not make them look late.
    for (const { order } of reports) expect(order).toBeGreaterThan(known[4]?.order ?? Infinity);
  });

  test("closed, it leaves no timer", async () => {
    start();
    await rows.close();
    expect(clock.timers).toBe(0);
  });
});
