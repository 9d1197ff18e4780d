import { describe, expect, test } from "vitest";
import type { JobEnding } from "../core/job-rules.ts";
import type { JobStreamEvent } from "../core/jobs/events.ts";
import type { Report } from "../core/reports.ts";
import { capture, restore } from "../core/snapshot.ts";
import type { State } from "../core/state.ts";
import { SECOND } from "../../test/support/core/fixture.ts";
import { DONE, FAILED, JobWorld } from "../../test/support/core/job-world.ts";
import { jobReport, jobsOfRow } from "./job-agents.ts";

const ROW = "arcp@n1:echo";
/** The agent is hosted: its row is there whether or not it runs a job. */
function hosted(): JobWorld {
  const world = new JobWorld();
  const facts = { name: "echo", liveness: { value: "alive", rule: "hosted" } } as const;
  const report = { alias: ROW, agentId: ROW, links: [], order: 1, reportedAtMs: 1, facts };
  world.run({ type: "fleet.report", report });
  return world;
}

function end(world: JobWorld, jobId: string, ending: JobEnding = DONE): void {
  world.pass(SECOND);
  world.end(jobId, ending);
}

function factsOf(state: State): Report["facts"] | undefined {
  return jobReport(state, ROW)?.facts;
}

describe("the row of an agent", () => {
  test("does what its only job does", () => {
    const world = hosted();
    const jobId = world.submit({ agent: "echo@1.0.0" });
    expect(factsOf(world.state)).toMatchObject({
      name: "echo",
      liveness: { value: "alive" },
      activity: { value: "working" },
    });
    world.say(jobId, { kind: "thought", body: { text: "hm" } });
    expect(factsOf(world.state)?.activity).toMatchObject({ value: "thinking", message: "hm" });
    world.submit();
    expect(factsOf(world.state)?.activity).toMatchObject({ message: "2 jobs" });
  });

  test("rests when none runs, and says how the last one went", () => {
    const world = hosted();
    end(world, world.submit(), FAILED);
    expect(factsOf(world.state)).toMatchObject({
      activity: { value: "idle" },
      outcome: { value: "failed", text: "no disk", atMs: world.nowMs },
    });
  });

  test("tells why a job was cancelled as that", () => {
    const world = hosted();
    const jobId = world.submit();
    world.run({ type: "job.cancel", jobId, reason: "wrong input" });
    end(world, jobId);
    expect(factsOf(world.state)?.outcome).toMatchObject({
      value: "cancelled",
      text: "cancelled: wrong input",
    });
  });

  test("asks what any of its jobs asks, the oldest question first", () => {
    const world = hosted();
    const [first, second] = [world.submit(), world.submit()];
    const asks = (message: string): JobStreamEvent => {
      return { kind: "status", body: { phase: "awaiting_approval", message } };
    };
    world.say(second, asks("first?"));
    world.pass(SECOND);
    world.say(first, asks("second?"));
    expect(factsOf(world.state)?.question?.value).toMatchObject({ text: "first?" });
    end(world, second);
    expect(factsOf(world.state)?.question?.value).toMatchObject({ text: "second?" });
  });

  test("is gone with its last job where nobody hosts the agent any more", () => {
    const world = new JobWorld();
    const jobId = world.submit();
    expect(factsOf(world.state)).toBeDefined();
    end(world, jobId);
    expect(factsOf(world.state)).toBeUndefined();
  });

  test("says the same after a restart: the job that ended last is the last one", async () => {
    const world = hosted();
    const [older, newer] = [world.submit(), world.submit()];
    end(world, newer, DONE);
    end(world, older, FAILED);
    const restored = await restore(capture(world.state));
    expect(factsOf(restored)).toEqual(factsOf(world.state));
    expect(factsOf(restored)?.outcome).toMatchObject({ value: "failed" });
    expect(jobsOfRow(restored, ROW)).toEqual(jobsOfRow(world.state, ROW));
  });
});

describe("the jobs in it", () => {
  test("are few, the newest first, those that have not ended before the others", () => {
    const world = hosted();
    world.limit({ running: 3 });
    const ids = Array.from({ length: 30 }, () => world.submit());
    for (const jobId of ids.slice(0, 25)) end(world, jobId);
    const row = jobsOfRow(world.state, ROW);
    expect(row).toMatchObject({ running: 3, waiting: 2 });
    expect(row?.newest.map(({ id }) => id)).toEqual([
      ...ids.slice(25).toReversed(),
      ...ids.slice(10, 25).toReversed(),
    ]);
    expect(row?.newest.slice(0, 3).map(({ why }) => why)).toEqual([
      "waits for a slot",
      "waits for a slot",
      "working",
    ]);
  });

  test("say what they do, ask or came to", () => {
    const world = hosted();
    const [runs, asks, failed] = [world.submit(), world.submit(), world.submit()];
    world.say(runs, { kind: "progress", body: { current: 1, total: 2, units: "files" } });
    world.say(asks, { kind: "status", body: { phase: "needs_login" } });
    end(world, failed, FAILED);
    const told = jobsOfRow(world.state, ROW)?.newest.map(({ id, activity, why, question }) => {
      return [id, activity, why, question?.kind];
    });
    expect(told).toEqual([
      [asks, "working", "needs login", "auth"],
      [runs, "working", "1/2 files", undefined],
      [failed, "idle", "no disk", undefined],
    ]);
    expect(jobsOfRow(world.state, "arcp@n1:other")).toBeNull();
  });
});
