import { expect, test } from "vitest";
import { memoryStore } from "../log/memory/store.ts";
import { Engine } from "../engine/engine.ts";
import { quiet, TestClock, TestLog } from "../../test/support/engine/fixture.ts";
import { JobsCompanion, jobOrder, jobsOptions } from "../../test/support/jobs/fixture.ts";
import { JobAgents } from "./agents.ts";
import type { Provisioner } from "./provisioner.ts";

test("a submit whose term ends before credentials are asked for may be sent again", async () => {
  const clock = new TestClock();
  const { log: inner, streams } = memoryStore({ shared: false });
  const log = new TestLog(inner);
  const agents = new JobAgents();
  agents.register("echo", () => "done");
  const endpoint = "https://models.example/v1";
  const provisioner: Provisioner = {
    issue: async ({ jobId }) => [{ id: jobId, scheme: "bearer", value: "sk", endpoint }],
    revoke: async () => undefined,
  };
  const companion = new JobsCompanion(jobsOptions({ streams, agents, clock, provisioner }));
  const engine = await Engine.open({ log, node: "n1", clock, companion });
  await quiet();
  const submit = async () => {
    const order = jobOrder("echo", { key: "k", takesCredentials: true });
    return companion.jobs.submit(order);
  };
  log.faults = [{ error: new Error("disk full"), isWritten: false }];
  const first = submit();
  first.catch(() => undefined);
  await clock.advance(2_000);
  expect(companion.jobs.isLeading).toBe(true);
  await expect(first).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await submit()).toMatchObject({ isRepeated: false });
  await engine.close();
});
