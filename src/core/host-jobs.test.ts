import { expect, test } from "vitest";
import { World } from "../../test/support/core/fixture.ts";
import { introduction } from "../../test/support/core/members.ts";
import { placeOfJob, type SentJob } from "./host-jobs.ts";
import { OUTPOST, RETENTION } from "./limits.ts";
import { capture } from "./snapshot.ts";

const FACTS = {
  instance: "one",
  machine: "laptop",
  version: "1",
  share: "questions",
  accept: "jobs",
} as const;

function joined(world: World) {
  const clockMs = world.nowMs;
  return world.run({ type: "outpost.join", host: "box", facts: FACTS, clockMs });
}

/** Sends jobs; each time from where the last one ended. */
function sender(world: World) {
  const { session } = joined(world);
  let at = "";
  return (jobs: readonly SentJob[], jobsGone: readonly string[] = []) => {
    const [from, to] = [at, String(Number(at) + 1)];
    at = to;
    const told = { reports: [], gone: [], jobs, jobsGone };
    return world.run({ type: "outpost.take", host: "box", session, from, to, ...told });
  };
}

function job(id: string, atMs: number, fields: Partial<SentJob> = {}): SentJob {
  return {
    id,
    agent: "echo",
    principal: "local",
    parent: "",
    status: "running",
    submittedAtMs: atMs,
    startedAtMs: atMs,
    endedAtMs: 0,
    restarts: 0,
    code: "",
    reason: "",
    ...fields,
  };
}

const idsIn = ({ state }: World) => [...state.hostJobs.byId.keys()];

test("a job stands under its machine's name, and is news only when it changed", () => {
  const world = new World();
  const send = sender(world);
  const running = job("job_1", world.nowMs, { parent: "job_0" });
  expect(world.topicsOf(() => send([running]))).toEqual(["outpost.job_told", "outpost.took"]);
  expect(world.topicsOf(() => send([running]))).toEqual(["outpost.took"]);
  expect(world.state.hostJobs.byId.get("job_1@box")?.job).toMatchObject({
    id: "job_1@box",
    parent: "job_0@box",
    principal: "local@box",
    node: "box",
    host: "box",
  });
});

test("one that ended is forgotten after a day, one that runs is not", () => {
  const world = new World();
  const send = sender(world);
  const ended = { status: "success", endedAtMs: world.nowMs } as const;
  send([job("job_1", world.nowMs, ended), job("job_2", world.nowMs)]);
  world.pass(RETENTION.endedJobMs);
  expect(idsIn(world)).toEqual(["job_2@box"]);
});

test("when a machine has too many, those that ended make room, and those that run do not", () => {
  const world = new World();
  const send = sender(world);
  const ended = (id: string) => job(id, world.nowMs, { status: "success", endedAtMs: world.nowMs });
  send([ended("job_a"), ended("job_b")]);
  for (let i = 2; i < OUTPOST.jobs; i += 1) send([job(`job_${i}`, world.nowMs)]);
  send([job("job_x", world.nowMs)]);
  expect(idsIn(world)).not.toContain("job_a@box");
  expect(idsIn(world)).toContain("job_b@box");
  const { refused } = send([job("job_y", world.nowMs), job("job_z", world.nowMs)]);
  expect(refused).toMatchObject([{ alias: "job_z@box", code: "LIMIT_EXCEEDED" }]);
  expect(idsIn(world)).toHaveLength(OUTPOST.jobs);
});

test("an outpost cannot end or forget the jobs of another machine", () => {
  const world = new World();
  const send = sender(world);
  send([job("job_1", world.nowMs)]);
  send([], ["job_1@other", "job_9@box"]);
  expect(idsIn(world)).toEqual(["job_1@box"]);
  send([], ["job_1@box"]);
  expect(idsIn(world)).toEqual([]);
});

test.each([
  [{ id: "" }, "id"],
  [{ agent: "a\nb" }, "agent"],
  [{ status: "done" as "success" }, "status"],
  [{ submittedAtMs: -1 }, "whole numbers"],
  [{ reason: "x".repeat(5_000) }, "reason"],
])("a job with %j is refused, and the others are taken", (wrong, problem) => {
  const world = new World();
  const send = sender(world);
  const { refused } = send([job("job_1", world.nowMs, wrong), job("job_2", world.nowMs)]);
  expect(refused).toMatchObject([{ code: "INVALID_ARGUMENT" }]);
  expect(refused[0]?.reason).toContain(problem);
  expect(idsIn(world)).toEqual(["job_2@box"]);
});

test("with a host that is forgotten go its jobs", () => {
  const world = new World();
  const send = sender(world);
  send([job("job_1", world.nowMs)]);
  world.pass(OUTPOST.silentMs + 1);
  expect(idsIn(world)).toHaveLength(1);
  world.pass(OUTPOST.forgottenMs);
  expect(idsIn(world)).toHaveLength(0);
});

test.each([
  ["job_1@box", { host: "box", jobId: "job_1" }],
  ["job_1", undefined],
  ["echo@1.0.0", undefined],
])("the place of %s is %j", (id, place) => {
  expect(placeOfJob(id)).toEqual(place);
});

test("members of two versions share a log without jobs of machines until it is finalized", () => {
  const world = new World();
  world.run({ type: "node.join", member: introduction() });
  const send = sender(world);
  const running = job("job_1", world.nowMs);
  const early = world.topicsOf(() => {
    expect(send([running], ["job_0"]).refused).toMatchObject([
      { alias: "job_1@box", code: "UNIMPLEMENTED" },
    ]);
  });
  expect(early).toEqual(["outpost.took"]);
  expect([...capture(world.state)][0]).toContain('"version":8');
  world.run({ type: "node.finalize" });
  expect(world.topicsOf(() => send([running]))).toContain("outpost.job_told");
  expect(idsIn(world)).toEqual(["job_1@box"]);
});

test("jobs from before the log was shared go on, and no older program takes their snapshot", () => {
  const world = new World();
  const send = sender(world);
  send([job("job_1", world.nowMs)]);
  world.run({ type: "node.join", member: introduction() });
  const ended = job("job_1", world.nowMs, { status: "success", endedAtMs: world.nowMs });
  expect(world.topicsOf(() => send([ended]))).toContain("outpost.job_told");
  expect([...capture(world.state)][0]).toContain('"version":9');
});
