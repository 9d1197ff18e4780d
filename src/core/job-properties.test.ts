/** Properties of every life of jobs; those of all nouns are in properties.test.ts. */
import { asyncProperty, assert } from "fast-check";
import { expect, test, vi } from "vitest";
import type * as JobBounds from "./jobs/limits.ts";
import { isTerminal } from "./jobs/outcome.ts";
import { countersOf, type Counters } from "./jobs/budget.ts";
import { restoreBudget, type Job } from "./jobs.ts";
import { capture, restore } from "./snapshot.ts";
import type { State } from "./state.ts";
import { audit } from "../../test/support/core/audit.ts";
import { replayed } from "../../test/support/core/fixture.ts";
import { isUnfinished, jobsIn, KeptBudgets } from "../../test/support/core/jobs.ts";
import { play } from "../../test/support/core/play.ts";
import { aLife, always, SEED } from "../../test/support/core/lives.ts";

/** So little room that every life runs into the limits. */
vi.mock("./jobs/limits.ts", async (original) => {
  const { smallJobBounds } = await import("../../test/support/core/lives.ts");
  return smallJobBounds(await original<typeof JobBounds>());
});

// "A job ends exactly once." (design)
test("a job begins once and ends once, and then it can only be forgotten", () => {
  let ends = 0;
  always((steps) => {
    const jobs = new Map<string, "alive" | "over">();
    const ofJobs = play(steps).history.flatMap((event) =>
      jobsIn(event).map((id) => ({ event, id })),
    );
    for (const { event, id } of ofJobs) {
      const before = jobs.get(id);
      switch (event.type) {
        case "job.submitted":
          expect(before).toBeUndefined();
          jobs.set(id, "alive");
          break;
        case "job.imported":
          jobs.set(id, isTerminal(event.job.status) ? "over" : "alive");
          break;
        case "job.forgotten":
          expect(before).toBe("over");
          jobs.delete(id);
          break;
        case "job.ended":
          ends += 1;
          expect(before).toBe("alive");
          expect(isTerminal(event.job.status)).toBe(true);
          jobs.set(id, "over");
          break;
        default:
          expect(before).toBe("alive");
      }
    }
  });
  expect(ends).toBeGreaterThan(100);
});

test("a job that was cancelled ends as cancelled, unless its own time is over", () => {
  let cancelled = 0;
  always((steps) => {
    const promised = new Set<string>();
    for (const event of play(steps).history) {
      if (event.type === "job.cancelling") promised.add(event.job.id);
      if (event.type !== "job.ended" || !promised.has(event.job.id)) continue;
      const { status, code } = event.job;
      cancelled += 1;
      expect(["CANCELLED", "TIMED_OUT", "LEASE_EXPIRED"]).toContain(code);
      if (code === "CANCELLED") expect(status).toBe("cancelled");
    }
  });
  expect(cancelled).toBeGreaterThan(10);
});

// "Budgets never go up by themselves; children's reserved sums never exceed the parent's."
test("what is left of a budget goes up only by what a child gives back", () => {
  let returns = 0;
  always((steps) => {
    let before = new Map<string, Counters>();
    const family = new Family();
    play(steps, ({ world, events }) => {
      const { jobs } = world.state;
      for (const event of events) if (event.type === "job.submitted") family.add(event.job);
      const ended = events.flatMap((event) => (event.type === "job.ended" ? [event.job.id] : []));
      const isGivenBack = (jobId: string) => ended.some((id) => family.isAbove(jobId, id));
      const now = new Map<string, Counters>();
      for (const [id, entry] of jobs.byId) {
        const left = isUnfinished(entry) ? countersOf(entry.purse) : undefined;
        if (left) now.set(id, left);
        for (const [currency, amount] of Object.entries(left ?? {})) {
          const then = before.get(id)?.[currency];
          if (then === undefined || Number(amount) <= Number(then)) continue;
          returns += 1;
          expect(isGivenBack(id)).toBe(true);
        }
      }
      before = now;
    });
  }, 500);
  expect(returns).toBeGreaterThan(5);
});

// "A budget is as exact after a crash as before." (src/jobs/events.ts)
test("with what its stream says, a budget is after a start what it was before", async () => {
  let restored = 0;
  await assert(
    asyncProperty(aLife, async (steps) => {
      let budgets = new KeptBudgets();
      const world = play(steps, (played) => ({ budgets } = played));
      const lived = budgetsOf(world.state);
      restored += lived.length;
      for (const state of [await restore(capture(world.state)), replayed(world.recorded())]) {
        for (const [jobId, counters] of budgets.byJob) restoreBudget(state, jobId, counters);
        expect(budgetsOf(state)).toEqual(lived);
        expect(audit(state)).toEqual([]);
      }
    }),
    { numRuns: 60, seed: SEED },
  );
  expect(restored).toBeGreaterThan(20);
});

/** Who delegated to whom, also of jobs that are forgotten. */
class Family {
  readonly #parents = new Map<string, string>();

  add({ id, parent }: Job): void {
    this.#parents.set(id, parent);
  }

  isAbove(ancestor: string, id: string): boolean {
    const parent = this.#parents.get(id) ?? "";
    return parent !== "" && (parent === ancestor || this.isAbove(ancestor, parent));
  }
}

/** The remainder of each budget that may still be spent. */
function budgetsOf({ jobs }: State): (readonly [id: string, left: Counters | undefined])[] {
  return [...jobs.byId.values()]
    .filter((entry) => isUnfinished(entry) && entry.purse.granted.size > 0)
    .map((entry) => [entry.job.id, countersOf(entry.purse)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
