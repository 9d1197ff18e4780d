import { afterEach, describe, expect, test } from "vitest";
import type { Facts, Report } from "../core/reports.ts";
import { CARD, openEngine, type Fixture } from "../../test/support/engine/fixture.ts";
import { Fleet } from "./fleet.ts";
import type { FleetChange } from "./changes.ts";
import { LIBRARY, namedBy } from "../core/by.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(): Promise<Fixture & { readonly fleet: Fleet }> {
  const fixture = await openEngine();
  const fleet = new Fleet({ engine: fixture.engine, clock: fixture.clock });
  cleanups.push(
    () => fixture.engine.close(),
    () => fleet.close(),
  );
  return { ...fixture, fleet };
}

const ALIVE = { liveness: { value: "alive", rule: "fresh" } } as const;
const WORKING: Facts = { ...ALIVE, activity: { value: "working", rule: "task.state" } };
const IDLE: Facts = { ...ALIVE, activity: { value: "idle", rule: "no task" } };

function report(order: number, facts: Facts, rest: Partial<Report> = {}): Report {
  const about = { alias: "file@box:claude", agentId: "claude", links: [] };
  return { ...about, order, reportedAtMs: order, facts, ...rest };
}

describe("one agent", () => {
  test("is one row under all its names", async () => {
    const { fleet, engine } = await open();
    const metadata = { "rollcall.agent_id": "claude" };
    const card = { ...CARD, metadata };
    const { agentId } = await engine.execute(
      { type: "agent.register", card, ttlMs: 60_000 },
      LIBRARY,
    );
    await fleet.report(report(1, WORKING, { links: ["a2a:http://127.0.0.1:9/card"] }), LIBRARY);
    await fleet.report(
      report(1, IDLE, { alias: "a2a:http://127.0.0.1:9/card", agentId: "http://127.0.0.1:9" }),
      LIBRARY,
    );
    const { rows } = await fleet.rows();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      id: "claude",
      aliases: ["a2a:http://127.0.0.1:9/card", "file@box:claude", `keeper:${agentId}`],
      activity: { value: "working", evidence: { wire: "file" } },
    });
  });

  test("whose names claim each other is still one", async () => {
    const { fleet } = await open();
    await fleet.report(report(1, IDLE, { alias: "a:1", agentId: "b", links: ["a:2"] }), LIBRARY);
    await fleet.report(report(1, IDLE, { alias: "a:2", agentId: "a", links: ["a:1"] }), LIBRARY);
    const { rows } = await fleet.rows();
    expect(rows.map(({ id, aliases }) => ({ id, aliases }))).toEqual([
      { id: "a", aliases: ["a:1", "a:2"] },
    ]);
  });

  test("of the registry works while it holds something", async () => {
    const { fleet, engine, clock } = await open();
    const made = { type: "agent.register", card: CARD, ttlMs: 10_000 } as const;
    const { agentId } = await engine.execute(made, LIBRARY);
    expect(await fleet.row(agentId)).toMatchObject({ headline: "IDLE", name: CARD.name });
    await engine.execute(
      { type: "lease.acquire", taskId: "deploy", agentId, ttlMs: 60_000 },
      LIBRARY,
    );
    expect(await fleet.row(agentId)).toMatchObject({
      headline: "WORKING",
      activity: { task: "deploy", evidence: { rule: "it holds a lease" } },
    });
    await clock.advance(25_000);
    expect(await fleet.row(agentId)).toMatchObject({
      headline: "PROBLEM",
      liveness: { value: "dead", evidence: { rule: "its heartbeats stopped" } },
    });
  });

  test("that nobody knows is not found", async () => {
    const { fleet } = await open();
    await expect(fleet.row("nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("an agent whose card names a row that another owner reports on", () => {
  const [ann, bob] = [namedBy("token:ann", "http"), namedBy("token:bob", "http")];
  const value = { kind: "permission", text: "may I deploy?", sinceMs: 1 } as const;
  const asking: Facts = { ...WORKING, question: { value, rule: "it asks" } };
  const about = { alias: "script:nightly", agentId: "nightly" };
  const card = { ...CARD, name: "all is well", metadata: { "rollcall.agent_id": "nightly" } };
  const registration = { type: "agent.register", card, ttlMs: 60_000 } as const;

  test.each(["first", "last"])("has a row of its own, if it came %s", async (when) => {
    const { fleet, engine } = await open();
    if (when === "last") await fleet.report(report(1, asking, about), ann);
    const { agentId } = await engine.execute(registration, bob);
    const own = when === "first" ? "nightly" : agentId;
    expect((await fleet.row(own)).aliases).toEqual([`keeper:${agentId}`]);
    await fleet.report(report(2, asking, about), ann);
    const { rows } = await fleet.rows();
    expect(rows).toMatchObject([
      { id: "nightly", headline: "NEEDS YOU", name: "nightly", aliases: ["script:nightly"] },
      { id: agentId, headline: "IDLE", name: "all is well" },
    ]);
    await fleet.dismiss(["script:nightly"], LIBRARY);
    expect((await fleet.row("nightly")).aliases).toEqual([`keeper:${agentId}`]);
  });

  test("leaves no trace in the timeline of that row", async () => {
    const { fleet, engine } = await open();
    await fleet.report(report(1, WORKING, about), ann);
    await engine.execute(registration, bob);
    const { events } = await fleet.timeline(await fleet.row("nightly"));
    expect(events.map(({ event }) => event.type)).toEqual(["fleet.reported"]);
  });

  test("is in its own row for its owner, who learns nothing of the other", async () => {
    const { fleet, engine } = await open();
    await fleet.report(report(1, WORKING, about), ann);
    const { agentId } = await engine.execute(registration, bob);
    const { rows } = await fleet.seenBy(bob.principal).rows();
    expect(rows).toMatchObject([{ id: "nightly", aliases: [`keeper:${agentId}`] }]);
  });

  test("joins it where the reports are its owner's, or of the daemon's own user", async () => {
    const { fleet, engine } = await open();
    const { agentId } = await engine.execute(registration, ann);
    await fleet.report(report(1, asking, about), ann);
    const aliases = [`keeper:${agentId}`, "script:nightly"];
    expect(await fleet.row("nightly")).toMatchObject({ headline: "NEEDS YOU", aliases });
    await fleet.report(report(2, asking, about), LIBRARY);
    expect(await fleet.row("nightly")).toMatchObject({ headline: "NEEDS YOU", aliases });
  });
});

test("an agent that was killed stays gone when a report of it arrives late", async () => {
  const { fleet, engine, clock } = await open();
  const process = { pid: 7, startedAtMs: engine.nowMs - 60_000 };
  const alias = { alias: "acp:claude", ttlMs: 60_000 };
  const value = { kind: "permission", text: "run rm?", sinceMs: engine.nowMs } as const;
  const asking: Facts = { ...WORKING, process, question: { value, rule: "it asks" } };
  await fleet.report(report(engine.nowMs, { ...WORKING, process }, alias), LIBRARY);
  const liveness = { value: "exited", rule: "process 7 is gone" } as const;
  const ended: Facts = { liveness, process: { ...process, hasEnded: true } };
  await fleet.report(report(engine.nowMs, ended), LIBRARY);
  const underWay = report(engine.nowMs, asking, alias);
  await clock.advance(50);
  await fleet.report({ ...underWay, reportedAtMs: engine.nowMs }, LIBRARY);
  expect(await fleet.row("claude")).toMatchObject({ headline: "GONE", blockedOn: null });
  expect((await fleet.questions(["open"])).questions).toEqual([]);
});

test("questions are made once for all who ask, and anew when one of them changes", async () => {
  const { fleet, engine } = await open();
  const value = { kind: "permission", text: "run rm?", sinceMs: engine.nowMs } as const;
  const asking: Facts = { ...WORKING, question: { value, rule: "it asks" } };
  await fleet.report(report(1, asking), LIBRARY);
  const [first, again] = await Promise.all([fleet.questions(), fleet.questions()]);
  expect(first.questions).toMatchObject([{ agentId: "claude", name: "claude", state: "open" }]);
  expect(again.questions).toBe(first.questions);
  await engine.execute({ type: "agent.register", card: CARD, ttlMs: 60_000 }, LIBRARY);
  const later = await fleet.questions();
  expect(later.questions).toBe(first.questions);
  expect(later.sequence).toBe(first.sequence + 1);
  await fleet.report(report(2, { ...asking, name: "the coder" }), LIBRARY);
  expect((await fleet.questions(["open"])).questions).toMatchObject([{ name: "the coder" }]);
  await fleet.report(report(3, IDLE), LIBRARY);
  expect((await fleet.questions(["open"])).questions).toEqual([]);
  expect((await fleet.questions(["withdrawn"])).questions).toHaveLength(1);
});

test("the fleet of a past moment is the one of that moment", async () => {
  const { fleet, engine, clock } = await open();
  const thenMs = engine.nowMs;
  await fleet.report(report(thenMs, WORKING), LIBRARY);
  await clock.advance(20 * 60_000);
  await fleet.report(
    report(engine.nowMs, { liveness: { value: "exited", rule: "its process is gone" } }),
    LIBRARY,
  );
  expect((await fleet.rows()).rows[0]?.headline).toBe("GONE");
  const { rows } = await fleet.at(thenMs + 1);
  expect(rows.map(({ headline }) => headline)).toEqual(["WORKING"]);
  // Half an hour of nothing was a problem then, too.
  const later = await fleet.at(thenMs + 15 * 60_000);
  expect(later.rows[0]).toMatchObject({ headline: "PROBLEM", stuckSinceMs: thenMs });
  expect((await fleet.at(thenMs - 10_000)).rows).toEqual([]);
});

test("a timeline tells what happened under every name, and nothing else", async () => {
  const { fleet, engine } = await open();
  const card = { ...CARD, metadata: { "rollcall.agent_id": "claude" } };
  const { agentId } = await engine.execute(
    { type: "agent.register", card, ttlMs: 60_000 },
    LIBRARY,
  );
  await fleet.report(report(1, WORKING), LIBRARY);
  await fleet.report(report(1, IDLE, { alias: "file@box:other", agentId: "other" }), LIBRARY);
  await engine.execute(
    { type: "lease.acquire", taskId: "deploy", agentId, ttlMs: 60_000 },
    LIBRARY,
  );
  const { events } = await fleet.timeline(await fleet.row("claude"));
  expect(events.map(({ event }) => event.type)).toEqual([
    "agent.registered",
    "fleet.reported",
    "lease.acquired",
  ]);
});

test("a timeline is not taken in by what others call themselves, or say", async () => {
  const { fleet, engine } = await open();
  await fleet.report(report(1, IDLE), LIBRARY);
  const card = { ...CARD, name: "claude", description: "claude", tools: ["file@box:claude"] };
  const { agentId } = await engine.execute(
    { type: "agent.register", card, ttlMs: 60_000 },
    LIBRARY,
  );
  await engine.execute(
    { type: "lease.acquire", taskId: "claude", agentId, ttlMs: 60_000 },
    LIBRARY,
  );
  const { events } = await fleet.timeline(await fleet.row("claude"));
  expect(events.map(({ event }) => event.type)).toEqual(["fleet.reported"]);
});

test("a timeline goes back to names that its agent no longer has", async () => {
  const { fleet, engine } = await open();
  const gone = { liveness: { value: "exited", rule: "it left" } } as const;
  await fleet.report(report(engine.nowMs, gone, { alias: "hook:old" }), LIBRARY);
  await fleet.report(
    report(engine.nowMs, gone, { alias: "file@box:else", agentId: "else" }),
    LIBRARY,
  );
  await engine.execute({ type: "fleet.report", report: report(engine.nowMs, WORKING) }, LIBRARY);
  const { events } = await fleet.timeline(await fleet.row("claude"));
  expect(events.map(({ event }) => "report" in event && event.report.alias)).toEqual([
    "hook:old",
    "file@box:claude",
  ]);
});

test("the last thousand events of a timeline are told, and no more than can be sent", async () => {
  const { fleet } = await open();
  const long = (i: number): Facts => ({ ...IDLE, goal: `${i}` });
  for (let i = 1; i <= 1_010; i += 1) await fleet.report(report(i, long(i)), LIBRARY);
  const { events } = await fleet.timeline(await fleet.row("claude"));
  expect(events).toHaveLength(1_000);
  expect(events.at(-1)?.event).toMatchObject({ report: { order: 1_010 } });
});

test("only a few may wait for the past at once", async () => {
  const { fleet, engine } = await open();
  const asked = Array.from({ length: 12 }, (_, i) => fleet.at(engine.nowMs - i));
  const settled = await Promise.allSettled(asked);
  expect(settled.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 8 }, () => "fulfilled"),
    ...Array.from({ length: 4 }, () => "rejected"),
  ]);
  await expect(fleet.at(engine.nowMs)).resolves.toMatchObject({ rows: [] });
});

test("the past is made for one caller at a time, whichever rows each sees", async () => {
  const { fleet, engine } = await open();
  let [making, most] = [0, 0];
  const past = engine.past.bind(engine);
  engine.past = async (atMs) => {
    making += 1;
    most = Math.max(most, making);
    const made = await past(atMs);
    making -= 1;
    return made;
  };
  const owners = ["token:a", "token:b", "token:c"];
  const asked = owners.map((name) => fleet.seenBy({ name, roles: ["agent"] }).at(engine.nowMs));
  await Promise.all([...asked, fleet.at(engine.nowMs)]);
  expect(most).toBe(1);
});

test("numbers are those of this moment", async () => {
  const { fleet, engine } = await open();
  const sinceMs = engine.nowMs - 7;
  const question = { value: { kind: "text", text: "?", sinceMs }, rule: "asks" } as const;
  await fleet.report(report(1, { ...WORKING, question }), LIBRARY);
  const first = fleet.numbers();
  expect(first).toMatchObject({ openQuestions: 1, askedAtMs: sinceMs });
  expect(first.headlines).toEqual({ "NEEDS YOU": 1, PROBLEM: 0, WORKING: 0, IDLE: 0, GONE: 0 });
  await fleet.report(report(2, IDLE), LIBRARY);
  expect(fleet.numbers()).toMatchObject({ openQuestions: 0, askedAtMs: null });
  expect(fleet.numbers().headlines).toMatchObject({ "NEEDS YOU": 0, IDLE: 1 });
});

test("whoever looks on sees all rows, then what changes, by events and by time alone", async () => {
  const { fleet, engine, clock } = await open();
  await fleet.report(report(engine.nowMs, WORKING), LIBRARY);
  const timers = clock.timers;
  const abort = new AbortController();
  const changes = fleet.changes({ signal: abort.signal });
  const next = async (): Promise<FleetChange> => {
    const pending = changes.next();
    await clock.advance(200);
    const item = await pending;
    if (item.done) throw new Error("it ended");
    return item.value;
  };
  const told = ({ rows, gone }: FleetChange) => [
    rows.map(({ id, headline }) => [id, headline]),
    gone,
  ];
  expect(told(await next())).toEqual([[["claude", "WORKING"]], []]);
  await fleet.report(report(1, IDLE, { alias: "file@box:b", agentId: "b" }), LIBRARY);
  expect(told(await next())).toEqual([[["b", "IDLE"]], []]);
  const stuck = changes.next();
  await clock.advance(11 * 60_000);
  expect(told((await stuck).value as FleetChange)).toEqual([[["claude", "PROBLEM"]], []]);
  const ended = changes.next();
  abort.abort();
  expect((await ended).done).toBe(true);
  expect(clock.timers).toBe(timers);
});

test("a subscriber whose place is ahead of this log is told everything", async () => {
  const { fleet, engine, clock } = await open();
  await fleet.report(report(engine.nowMs, WORKING), LIBRARY);
  await fleet.rows();
  const changes = fleet.changes({ from: engine.head + 1_000 });
  const first = changes.next();
  await clock.advance(10_000);
  await engine.close();
  fleet.close();
  expect((await first).value).toMatchObject({ kind: "whole", rows: [{ id: "claude" }] });
});
