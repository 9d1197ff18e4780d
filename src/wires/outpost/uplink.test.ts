import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { byOf, LIBRARY } from "../../core/by.ts";
import { LOCAL } from "../../core/principals.ts";
import { atOnce } from "../../core/steps.ts";
import { makeRows } from "../../fleet/rows.ts";
import { DEFAULT_PATIENCE } from "../../fleet/stuck.ts";
import type { Row } from "../../fleet/row.ts";
import { Box, POLICY } from "../../../test/support/outposts/box.ts";
import { FakeTeam } from "../../../test/support/outposts/fake-team.ts";
import type { UplinkOptions } from "./uplink.ts";
import { quiet, register, TestClock } from "../../../test/support/engine/fixture.ts";

let clock: TestClock;
let team: FakeTeam;
let box: Box;

beforeEach(async () => {
  clock = new TestClock();
  team = new FakeTeam(clock);
  await team.start();
  box = await Box.open(team, clock);
  await quiet();
});

afterEach(async () => {
  await box.close();
  await team.stop();
});

function rows(): Row[] {
  const { engine } = team;
  return engine.peek((state) =>
    atOnce(makeRows(state, { nowMs: engine.nowMs, patience: DEFAULT_PATIENCE })),
  );
}

function hostJobs() {
  return team.engine.peek((state) => Array.from(state.hostJobs.byId.values(), ({ job }) => job));
}

function row(id: string): Row | undefined {
  return rows().find((each) => each.id === id);
}

describe("the team's fleet", () => {
  test("has the agents of the machine, under its host", async () => {
    await box.say("nightly", "npm test");
    await clock.advance(300);
    expect(rows()).toMatchObject([
      { id: "nightly@box", host: "box", headline: "WORKING", why: "npm test" },
    ]);
    expect(rows()[0]?.aliases).toEqual(["file@box:nightly"]);
  });

  test("has what the sources of one agent say as one row", async () => {
    const facts = { liveness: { value: "alive", rule: "r" } } as const;
    await box.tell({ alias: "acp:7f", agentId: "nightly", order: 1, facts });
    await box.say("nightly", "reads");
    await clock.advance(300);
    expect(rows()).toHaveLength(1);
    expect(rows()[0]?.aliases).toEqual(["acp@box:7f", "file@box:nightly"]);
  });

  test("has agents of the machine's registry, and what they do", async () => {
    const agentId = await register(box.engine);
    await clock.advance(300);
    const id = `${agentId}@box`;
    expect(row(id)).toMatchObject({ name: "scraper-1", headline: "IDLE", host: "box" });
    const lease = { type: "lease.acquire", taskId: "deploy", agentId, ttlMs: 600_000 } as const;
    await box.engine.execute(lease, LIBRARY);
    await clock.advance(300);
    expect(row(id)).toMatchObject({ headline: "WORKING", why: "deploy" });
  });

  test("does not call one stuck whose heartbeats go on at the machine", async () => {
    const agentId = await register(box.engine, 600_000);
    const lease = { type: "lease.acquire", taskId: "deploy", agentId, ttlMs: 0 } as const;
    await box.engine.execute({ ...lease, ttlMs: 7_200_000 }, LIBRARY);
    for (let minute = 0; minute < 30; minute += 1) {
      await box.engine.heartbeat(agentId, LIBRARY);
      await clock.advance(60_000);
    }
    expect(row(`${agentId}@box`)).toMatchObject({ headline: "WORKING" });
  });

  test("says since when a host is silent, and as before when it is back", async () => {
    await box.say("nightly", "npm test");
    await clock.advance(20_000);
    team.isReachable = false;
    team.cut();
    await clock.advance(120_000);
    const silent = row("nightly@box");
    expect(silent).toMatchObject({ headline: "PROBLEM", because: "it fell silent at work" });
    expect(silent?.why).toMatch(/^silent since \d\d:\d\d · npm test$/);
    expect(silent?.liveness).toMatchObject({
      value: "stale",
      evidence: { rule: "its host box is silent" },
    });
    team.isReachable = true;
    await clock.advance(6_000);
    expect(row("nightly@box")).toMatchObject({ headline: "WORKING", why: "npm test" });
  });

  test("says it at once when the machine's daemon is stopped", async () => {
    await box.say("nightly", "npm test");
    await clock.advance(300);
    await box.uplink.close();
    expect(row("nightly@box")?.liveness.value).toBe("stale");
    expect(box.uplink.status.state).toBe("closed");
  });

  test("costs nothing while nothing happens", async () => {
    await box.say("nightly", "npm test");
    await clock.advance(1_000);
    const { head } = team.engine;
    await clock.advance(50_000);
    expect(team.engine.head).toBe(head);
    expect(team.calls.filter((path) => path.endsWith("/beat"))).toHaveLength(3);
  });
});

describe("the jobs of the machine", () => {
  test("are in the row of their agent and in the list, under the machine's name", async () => {
    await box.submit("job_1");
    await clock.advance(300);
    expect(hostJobs()).toMatchObject([
      { id: "job_1@box", agent: "echo", principal: "local@box", host: "box", status: "running" },
    ]);
    expect(row("arcp@box:echo")).toMatchObject({
      headline: "WORKING",
      host: "box",
      jobs: { running: 1, waiting: 0, newest: [{ id: "job_1@box", activity: "working" }] },
    });
    await box.end("job_1", { status: "error", code: "INTERNAL", reason: "token=abc123secret" });
    await clock.advance(300);
    expect(hostJobs()).toMatchObject([{ status: "error", code: "INTERNAL", reason: "" }]);
    expect(row("arcp@box:echo")?.jobs).toMatchObject({ running: 0, newest: [{ why: "error" }] });
  });

  test("have the reason of their end where all is shared, without secrets", async () => {
    await box.uplink.close();
    box.start({ policy: { ...POLICY, share: "all" } });
    await box.submit("job_1");
    await box.end("job_1", { status: "error", code: "INTERNAL", reason: "token=abc123secret" });
    await clock.advance(300);
    expect(hostJobs()).toMatchObject([{ reason: "token=***" }]);
  });

  test("that began and ended while there was no link are told of once", async () => {
    team.isReachable = false;
    team.cut();
    await box.submit("job_1");
    await box.end("job_1", { status: "success", code: "", reason: "" });
    await box.submit("job_2");
    team.isReachable = true;
    await clock.advance(6_000);
    expect(hostJobs().map(({ id, status }) => `${id} ${status}`)).toEqual([
      "job_1@box success",
      "job_2@box running",
    ]);
    const told = (await team.events()).filter(({ type }) => type === "outpost.job_told");
    expect(told).toHaveLength(2);
  });

  test("are gone when the machine no longer knows them", async () => {
    await box.submit("job_1");
    await clock.advance(300);
    await box.close();
    box = await Box.open(team, clock, { facts: { instance: "two", machine: "m", version: "1" } });
    await clock.advance(300);
    expect(hostJobs()).toEqual([]);
    expect(row("arcp@box:echo")?.jobs ?? null).toBeNull();
  });

  test("of an agent in an excluded folder stay there", async () => {
    await box.uplink.close();
    box.start({ policy: { ...POLICY, exclude: ["/home/me/private"] } });
    const facts = {
      liveness: { value: "alive", rule: "r" },
      workspace: "/home/me/private",
    } as const;
    const alias = "script:echo";
    await box.tell({ alias, agentId: "arcp@laptop:echo", order: clock.wallMs(), facts });
    await box.submit("job_1");
    await clock.advance(300);
    expect(hostJobs()).toEqual([]);
  });
});

describe("everything is told anew", () => {
  test("by a machine whose state is gone: what it no longer knows is over", async () => {
    await box.say("old", "works");
    await clock.advance(300);
    await box.close();
    box = await Box.open(team, clock, { facts: { instance: "two", machine: "m", version: "1" } });
    await box.say("new", "works");
    await clock.advance(300);
    expect(row("new@box")).toMatchObject({ headline: "WORKING" });
    expect(row("old@box")).toMatchObject({ headline: "GONE", why: "its host no longer knows it" });
  });

  test("when less may leave than before", async () => {
    await box.say("nightly", "cat secret.txt", { goal: "ship" });
    await box.say("private", "works", { workspace: "/home/me/private/x" });
    await clock.advance(300);
    await box.uplink.close();
    const exclude = ["/home/me/private"];
    box.start({ policy: { ...POLICY, exclude, redact: ["goals", "commands"] } });
    await clock.advance(300);
    expect(row("nightly@box")).toMatchObject({ why: "working", goal: null });
    expect(row("private@box")).toMatchObject({ headline: "GONE" });
  });

  test("in parts, where it is much", async () => {
    await box.uplink.close();
    const goal = "x".repeat(900);
    for (let i = 0; i < 1_000; i += 1) await box.say(`agent-${i}`, "works", { goal });
    team.calls.length = 0;
    box.start();
    await clock.advance(2_000);
    expect(rows().filter(({ headline }) => headline === "WORKING")).toHaveLength(1_000);
    expect(team.calls.filter((path) => path.endsWith("/take")).length).toBeGreaterThan(1);
  });
});

describe("what is asked of a machine", () => {
  const OPERATOR = byOf({ ...LOCAL, name: "token:ann" }, "http");
  const task = { kind: "job.cancel", jobId: "job_1", reason: "" } as const;

  test("is refused unless the machine accepts it", async () => {
    await expect(team.service.ask("box", task, OPERATOR)).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: 'box: this outpost accepts answers, job.cancel needs accept = "jobs"',
    });
  });

  test("is decided by the machine's own rules, in the name of the caller", async () => {
    await box.uplink.close();
    box.start({ policy: { ...POLICY, accept: "jobs" } });
    await quiet();
    await expect(team.service.ask("box", task, OPERATOR)).rejects.toThrow(/^box: .*job_1/);
    await box.submit("job_1");
    await team.service.ask("box", task, OPERATOR);
    await clock.advance(60_000);
    expect(hostJobs()).toMatchObject([{ id: "job_1@box", status: "cancelled" }]);
  });

  test("may be a job, which is submitted in the name of the caller", async () => {
    await box.uplink.close();
    const orders: unknown[] = [];
    const submit: UplinkOptions["submit"] = (order) => {
      orders.push({ ...order, by: order.by.principal.name });
      return box.submit("job_7");
    };
    const order = { kind: "job.submit", agent: "echo", input: '{"hi":1}', key: "k" } as const;
    box.start({ submit });
    await quiet();
    await expect(team.service.ask("box", order, OPERATOR)).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    await box.uplink.close();
    box.start({ submit, policy: { ...POLICY, accept: "jobs" } });
    await quiet();
    expect(await team.service.ask("box", order, OPERATOR)).toBe("job_7");
    const by = "team:token:ann";
    expect(orders).toEqual([
      { by, session: "", agent: "echo", input: { hi: 1 }, lease: {}, key: "k" },
    ]);
    await clock.advance(300);
    expect(hostJobs()).toMatchObject([{ id: "job_7@box", status: "running" }]);
  });

  test("is refused while the machine is not connected, or is not known", async () => {
    team.isReachable = false;
    team.cut();
    await quiet();
    await expect(team.service.ask("box", task, OPERATOR)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "the outpost of box has no connection",
    });
    await expect(team.service.ask("x", task, OPERATOR)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("a machine that is not let in", () => {
  test("waits longer, says why, and is let in when that is mended", async () => {
    const other = await Box.open(team, clock, {
      facts: { instance: "two", machine: "spare", version: "1" },
    });
    await quiet();
    expect(other.uplink.status).toMatchObject({ state: "refused" });
    expect(other.uplink.status.reason).toMatch(/^box has an outpost already \(on laptop, heard/);
    await box.uplink.close();
    await clock.advance(10_000);
    expect(other.uplink.status.state).toBe("connected");
    await other.close();
  });
});
