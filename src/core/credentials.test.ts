import { expect, test } from "vitest";
import { CREDENTIALS } from "./jobs/limits.ts";
import { capture, restore } from "./snapshot.ts";
import { World } from "../../test/support/core/fixture.ts";

function out(world: World) {
  return [...world.state.credentials.byJob.values()];
}

test("that credentials are requested is known before anybody makes them", () => {
  const world = new World();
  world.run({ type: "credential.request", jobId: "job_1" });
  expect(out(world)).toEqual([{ jobId: "job_1", ids: [] }]);
  world.run({ type: "credential.issue", jobId: "job_1", ids: ["a", "b"] });
  expect(out(world)).toEqual([{ jobId: "job_1", ids: ["a", "b"] }]);
});

test("they are owed until they are revoked, also across a restart", async () => {
  const world = new World();
  world.run({ type: "credential.issue", jobId: "job_1", ids: ["a"] });
  const restored = await restore(capture(world.state));
  expect([...restored.credentials.byJob.keys()]).toEqual(["job_1"]);
  const revoke = () => world.run({ type: "credential.revoke", jobId: "job_1" });
  expect(world.topicsOf(revoke)).toEqual(["credential.revoked"]);
  expect(world.topicsOf(revoke)).toEqual([]);
  expect(out(world)).toEqual([]);
});

test("a job has a bounded number of them, and a name", () => {
  const world = new World();
  const ids = Array.from({ length: CREDENTIALS.perJob + 1 }, (_, i) => `c${i}`);
  expect(world.refusal({ type: "credential.issue", jobId: "job_1", ids })).toContain(
    "credentials has 17 entries, at most 16 are allowed",
  );
  expect(world.refusal({ type: "credential.request", jobId: "" })).toContain("jobId is empty");
});
