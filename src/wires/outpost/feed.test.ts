import { expect, onTestFinished, test } from "vitest";
import { LIBRARY } from "../../core/by.ts";
import { RETENTION } from "../../core/limits.ts";
import { openEngine, register } from "../../../test/support/engine/fixture.ts";
import { POLICY } from "../../../test/support/outposts/box.ts";
import { TeamFeed } from "./feed.ts";
import { HostNames } from "./names.ts";

test("nothing is kept of what this machine forgot, however many come and go", async () => {
  const { engine, clock } = await openEngine();
  const feed = new TeamFeed({ engine, names: new HostNames("box", []), policy: POLICY });
  onTestFinished(async () => {
    feed.close();
    await engine.close();
  });
  await feed.begin("");
  const agentId = await register(engine);
  const facts = { liveness: { value: "exited", rule: "r" } } as const;
  const about = { alias: "script:x", agentId: "x", links: [], order: 1, reportedAtMs: 1, facts };
  await engine.execute({ type: "fleet.report", report: about }, LIBRARY);
  await engine.execute({ type: "agent.deregister", agentId }, LIBRARY);
  await feed.next();
  expect(feed.size).toBe(2);
  clock.suspend(RETENTION.overReportMs + RETENTION.deadAgentMs);
  await clock.advance(1_000);
  await feed.next();
  expect(feed.size).toBe(0);
});
