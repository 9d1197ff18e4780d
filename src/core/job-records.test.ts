import { describe, expect, test } from "vitest";
import type { JobRecord } from "./job-records.ts";
import { RETENTION } from "./limits.ts";
import { sentenceOf } from "./words.ts";
import { DAY, replayed, SECOND, START_MS, World } from "../../test/support/core/fixture.ts";
import { fingerprint } from "./snapshot.ts";

function job(fields: Partial<JobRecord> = {}): JobRecord {
  return {
    id: "job_1",
    agent: "echo",
    principal: "local",
    node: "n1",
    parent: "",
    status: "pending",
    submittedAtMs: START_MS,
    startedAtMs: 0,
    endedAtMs: 0,
    restarts: 0,
    code: "",
    reason: "",
    ...fields,
  };
}

const RUNNING = job({ status: "running", startedAtMs: START_MS });
const DONE = job({ status: "success", startedAtMs: START_MS, endedAtMs: START_MS });

describe("what happened is made of how a job is", () => {
  test("each step is told once, however often it is told", () => {
    const world = new World();
    const tell = (...jobs: JobRecord[]) =>
      world.topicsOf(() => world.run({ type: "job.track", jobs }));
    expect(tell(job())).toEqual(["job.submitted"]);
    expect(tell(job())).toEqual([]);
    expect(tell(RUNNING)).toEqual(["job.started"]);
    expect(tell(job(), job({ id: "job_2" }))).toEqual(["job.submitted"]);
    expect(tell(RUNNING)).toEqual([]);
    expect(tell(DONE)).toEqual(["job.ended"]);
    expect(tell(DONE)).toEqual([]);
    expect(tell(RUNNING)).toEqual([]);
    expect(world.state.jobs.unfinished).toBe(1);
  });

  test("a job that was over before anybody told of it began, ran and ended", () => {
    const world = new World();
    const events = world.eventsOf(() => world.run({ type: "job.track", jobs: [DONE] }));
    expect(events.map(({ type }) => type)).toEqual(["job.submitted", "job.started", "job.ended"]);
    expect(events[0]).toMatchObject({ job: { status: "pending", startedAtMs: 0, endedAtMs: 0 } });
    expect(events[1]).toMatchObject({ job: { status: "running", endedAtMs: 0 } });
  });

  test("after a crash the start is remembered, and one that never ran has none", () => {
    const world = new World();
    world.run({ type: "job.track", jobs: [RUNNING, job({ id: "job_2" })] });
    const lost = { status: "error", code: "UNAVAILABLE", endedAtMs: START_MS } as const;
    const jobs = [job(lost), job({ ...lost, id: "job_2" })];
    const events = world.eventsOf(() => world.run({ type: "job.track", jobs }));
    expect(events).toMatchObject([
      { type: "job.ended", job: { id: "job_1", startedAtMs: START_MS } },
      { type: "job.ended", job: { id: "job_2", startedAtMs: 0 } },
    ]);
  });

  test("one that runs again after its daemon died starts again", () => {
    const world = new World();
    world.run({ type: "job.track", jobs: [RUNNING] });
    const again = { ...RUNNING, restarts: 1 };
    expect(world.topicsOf(() => world.run({ type: "job.track", jobs: [again] }))).toEqual([
      "job.started",
    ]);
    expect(world.topicsOf(() => world.run({ type: "job.track", jobs: [again] }))).toEqual([]);
  });
});

describe("what is over", () => {
  test("is forgotten after a day, and not taken for new when it is told again", () => {
    const world = new World();
    world.run({ type: "job.track", jobs: [DONE] });
    expect(world.topicsOf(() => world.pass(DAY))).toEqual(["job.forgotten"]);
    expect(world.topicsOf(() => world.run({ type: "job.track", jobs: [DONE] }))).toEqual([]);
    const later = job({ ...DONE, id: "job_2", endedAtMs: world.nowMs });
    expect(world.topicsOf(() => world.run({ type: "job.track", jobs: [later] }))).toHaveLength(3);
  });

  test("makes room, the oldest first, when there is more than is kept", () => {
    const world = new World();
    for (let i = 0; i < RETENTION.endedJobs + 2; i += 500) {
      const jobs = Array.from({ length: 500 }, (_, j) => job({ ...DONE, id: `job_${i + j}` }));
      world.run({ type: "job.track", jobs: jobs.slice(0, RETENTION.endedJobs + 2 - i) });
      world.nowMs += SECOND;
    }
    world.pass(0);
    expect(world.state.jobs.ended.size).toBe(RETENTION.endedJobs);
    expect(fingerprint(replayed(world.recorded()))).toBe(fingerprint(world.state));
  });
});

test("what is wrong with a job is named", () => {
  const world = new World();
  const refusal = (fields: Partial<JobRecord>) =>
    world.refusal({ type: "job.track", jobs: [job(fields)] });
  expect(refusal({ id: "" })).toBe("INVALID_ARGUMENT: job.id is empty");
  expect(refusal({ reason: "a\u001bb" })).toContain("job.reason holds a control character");
  expect(refusal({ endedAtMs: -1 })).toContain("not a whole one");
  expect(world.refusal({ type: "job.track", jobs: [job(), job()] })).toContain("one twice");
});

test("in words", () => {
  const words = (fields: Partial<JobRecord>, type: "job.submitted" | "job.started" | "job.ended") =>
    sentenceOf({ type, job: job(fields) }, () => undefined);
  expect(words({}, "job.submitted")).toBe("job_1 for echo, by local");
  expect(words({ restarts: 1 }, "job.started")).toBe("job_1 runs on echo, again (1)");
  const took = { startedAtMs: START_MS, endedAtMs: START_MS + 1500 };
  expect(words({ ...took, status: "success" }, "job.ended")).toBe(
    "job_1 of echo is done after 1.5s",
  );
  const failed = { status: "error", code: "INTERNAL", reason: "no disk" } as const;
  expect(words({ ...failed, endedAtMs: 1 }, "job.ended")).toBe(
    "job_1 of echo failed: INTERNAL, no disk",
  );
});
