import { describe, expect, test } from "vitest";
import { matchesFilter, pageOfJobs, type JobFilter, type JobQuery } from "./job-listing.ts";
import { JOB_LISTING } from "./jobs/limits.ts";
import { EVERYTHING, type Sight } from "./visibility.ts";
import { DAY, SECOND, START_MS, World } from "../../test/support/core/fixture.ts";
import { oldJob } from "../../test/support/core/jobs.ts";

function page(world: World, query: Partial<JobQuery> = {}, sight: Sight = { owner: "ann" }) {
  const { jobs, next } = pageOfJobs(world.state.jobs, sight, {
    filter: {},
    limit: 10,
    after: undefined,
    ...query,
  });
  return { ids: jobs.map(({ id }) => id), next };
}

function some(count: number): { readonly world: World; readonly ids: readonly string[] } {
  const world = new World();
  return { world, ids: Array.from({ length: count }, () => world.submit()) };
}

describe("a page", () => {
  test("has a principal's own jobs, in the order in which they were made", () => {
    const { world, ids } = some(3);
    const bobs = world.submit({ principal: "bob" });
    expect(page(world)).toEqual({ ids, next: undefined });
    expect(page(world, {}, { owner: "bob" }).ids).toEqual([bobs]);
    expect(page(world, {}, { owner: "nobody" }).ids).toEqual([]);
    const late = world.submit();
    expect(page(world, {}, EVERYTHING).ids).toEqual([...ids, bobs, late]);
  });

  test("ends with a cursor where there is more, and only there", () => {
    const { world, ids } = some(5);
    const first = page(world, { limit: 2 });
    expect(first).toEqual({ ids: ids.slice(0, 2), next: ids[1] });
    const second = page(world, { limit: 3, after: first.next });
    expect(second).toEqual({ ids: ids.slice(2), next: undefined });
  });

  test("neither repeats nor hides a job when others come and go between two", () => {
    const { world, ids } = some(200);
    const first = page(world, { limit: 50 });
    // The cursor itself goes, many before it and some after it; others come.
    for (const jobId of [...ids.slice(0, 120), ids[150] ?? ""]) {
      world.record([{ type: "job.forgotten", jobId }]);
    }
    const added = world.submit();
    const second = page(world, { limit: 500, after: first.next });
    expect(second.ids).toEqual([...ids.slice(120, 150), ...ids.slice(151), added]);
  });

  test("of a filter that matches little looks at a bounded number of jobs", () => {
    const world = new World();
    const { jobs } = world.state;
    for (let i = 0; i < JOB_LISTING.scanned + 10; i += 1) {
      const id = `job_${String(i).padStart(6, "0")}`;
      world.record([{ type: "job.imported", job: oldJob({ id, endedAtMs: START_MS }) }]);
    }
    const filter: JobFilter = { statuses: ["running"] };
    const query = { filter, limit: 10, after: undefined };
    const first = pageOfJobs(jobs, { owner: "ann" }, query);
    expect(first).toEqual({ jobs: [], next: "job_009999" });
    expect(
      pageOfJobs(jobs, { owner: "ann" }, { ...query, after: first.next }).next,
    ).toBeUndefined();
  });

  test("of long leases is shorter: it has to fit into a frame", () => {
    const world = new World();
    const tools = Array.from({ length: 100 }, (_, i) => `${i}${"x".repeat(900)}`);
    for (let i = 0; i < 12; i += 1) world.submit({ lease: { "tool.call": tools } });
    const { ids, next } = page(world, { limit: 100 });
    expect(ids.length).toBeLessThan(10);
    expect(next).toBe(ids.at(-1));
    expect(page(world, { limit: 100, after: next }).ids).toHaveLength(12 - ids.length);
  });
});

describe("a filter", () => {
  const job = oldJob({ agent: "echo@1.2.0", status: "running", submittedAtMs: START_MS });

  test.each<readonly [filter: JobFilter, isMatch: boolean]>([
    [{}, true],
    [{ statuses: ["pending", "running"] }, true],
    [{ statuses: ["success"] }, false],
    [{ statuses: [] }, false],
    [{ agent: "echo" }, true],
    [{ agent: "echo@1.2.0" }, true],
    [{ agent: "echo@1.2" }, false],
    [{ agent: "ech" }, false],
    [{ createdAfterMs: START_MS }, false],
    [{ createdAfterMs: START_MS - 1, createdBeforeMs: START_MS + 1 }, true],
    [{ createdBeforeMs: START_MS }, false],
  ])("%j", (filter, isMatch) => expect(matchesFilter(job, filter)).toBe(isMatch));
});

test("a principal whose jobs are all forgotten is forgotten as well", () => {
  const { world, ids } = some(70);
  for (const jobId of ids) {
    world.run({ type: "job.end", jobId, ending: { status: "success", code: "", reason: "" } });
    world.pass(SECOND);
  }
  world.pass(DAY);
  expect([...world.state.jobs.index.principals()]).toEqual([]);
});
