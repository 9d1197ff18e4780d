import { describe, expect, test } from "vitest";
import { audit } from "../../test/support/core/audit.ts";
import { JobWorld } from "../../test/support/core/job-world.ts";
import { limitJobs } from "./job-deadlines.ts";
import { JOBS } from "./jobs/limits.ts";

describe("a job whose member is gone", () => {
  /** In the format that knows of moves. */
  function upgraded(): JobWorld {
    const world = new JobWorld();
    world.run({ type: "node.finalize" });
    return world;
  }

  function standing({ state }: JobWorld, jobId: string) {
    const { node, status, restarts } = state.jobs.byId.get(jobId)?.job ?? {};
    return { node, status, restarts };
  }

  test("goes on at the member that leads, from its beginning, if its agent may", () => {
    const world = upgraded();
    const jobId = world.submit();
    const events = world.revive(jobId, true, "n2");
    expect(events.map(({ type }) => type)).toEqual(["job.moved", "job.started"]);
    expect(events[0]).toMatchObject({ from: "n1", job: { id: jobId, node: "n2" } });
    expect(standing(world, jobId)).toEqual({ node: "n2", status: "running", restarts: 1 });
    const rows = [...world.state.jobs.byAgent.keys()];
    expect(rows).toEqual(["arcp@n2:echo"]);
    expect(world.end(jobId).map(({ type }) => type)).toEqual(["job.ended"]);
    expect(world.revive(jobId, true, "n1")).toEqual([]);
    expect(audit(world.state)).toEqual([]);
  });

  test("ends where it may not begin again, was cancelled, or is another's child", () => {
    const world = upgraded();
    const [once, cancelled] = [world.submit(), world.submit()];
    world.cancel(cancelled);
    const child = world.submit({ parent: once });
    for (const [jobId, again] of [
      [child, true],
      [once, false],
      [cancelled, true],
    ] as const) {
      expect(world.revive(jobId, again, "n2")[0]).toMatchObject({ type: "job.ended" });
    }
    expect(world.state.jobs.byId.get(once)?.job).toMatchObject({
      code: "UNAVAILABLE",
      reason: "n1 is gone",
    });
    expect(audit(world.state)).toEqual([]);
  });

  test("waits on in the line of the other member, and gets a slot there", () => {
    const world = upgraded();
    limitJobs(world.state, { ...JOBS, running: 1 });
    const [first, second] = [world.submit(), world.submit()];
    expect(world.revive(second, false, "n2").map(({ type }) => type)).toEqual(["job.moved"]);
    expect(standing(world, second)).toMatchObject({ node: "n2", status: "pending" });
    expect(world.revive(first, false, "n2").map(({ type }) => type)).toEqual(["job.ended"]);
    expect(world.revive(second, false, "n2").map(({ type }) => type)).toEqual(["job.started"]);
    expect(audit(world.state)).toEqual([]);
  });

  test("ends in a log that a member of the version before may still read", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    expect(world.revive(jobId, true, "n2").map(({ type }) => type)).toEqual(["job.ended"]);
  });
});
