import { describe, expect, test } from "vitest";
import { FLEET, RETENTION } from "./limits.ts";
import type { Facts, Report } from "./reports.ts";
import { SECOND, World } from "../../test/support/core/fixture.ts";

const ALIVE = { liveness: { value: "alive", rule: "fresh" } } as const;
const WORKING: Facts = { ...ALIVE, activity: { value: "working", rule: "task.state" } };
const IDLE: Facts = { ...ALIVE, activity: { value: "idle", rule: "no task" } };
const GONE: Facts = { liveness: { value: "exited", rule: "its process is gone" } };

function asking(text: string, sinceMs = 1): Facts {
  return { ...ALIVE, question: { value: { kind: "text", text, sinceMs }, rule: "input-required" } };
}

function report(order: number, facts: Facts, rest: Partial<Report> = {}): Report {
  const about = { alias: "file:claude", agentId: "claude", links: [] };
  return { ...about, order, reportedAtMs: order, facts, ...rest };
}

function topics(world: World, given: Report): string[] {
  return world.topicsOf(() => world.run({ type: "fleet.report", report: given }));
}

function refusal(given: Report): string {
  return new World().refusal({ type: "fleet.report", report: given });
}

describe("a report", () => {
  test("replaces the one before, and a late one changes nothing", () => {
    const world = new World();
    expect(topics(world, report(10, WORKING))).toEqual(["fleet.reported"]);
    expect(topics(world, report(9, IDLE))).toEqual([]);
    expect(topics(world, report(10, IDLE))).toEqual(["fleet.reported"]);
    expect(world.state.reports.byAlias.get("file:claude")?.report.facts).toEqual(IDLE);
  });

  test("cannot lie in the future, but for what the clocks of two machines differ", () => {
    const { nowMs } = new World();
    const ahead = nowMs + FLEET.skewMs;
    expect(topics(new World(), report(ahead, IDLE))).toEqual(["fleet.reported"]);
    expect(refusal(report(ahead + 1, IDLE))).toContain(`order is ${ahead + 1}, 5001 ms ahead`);
    expect(refusal(report(Number.MAX_SAFE_INTEGER, IDLE))).toContain("order is 9007199254740991");
  });

  test("of one source more than an agent may have takes the place of one that is over", () => {
    const world = new World();
    const from = (i: number, facts = IDLE) =>
      report(10 + i, facts, { alias: `script:run-${i}`, agentId: "nightly" });
    for (let i = 0; i < FLEET.sources; i += 1) topics(world, from(i, i === 7 ? GONE : IDLE));
    expect(topics(world, from(1_000))).toEqual(["fleet.forgotten", "fleet.reported"]);
    expect(world.state.reports.byAlias.has("script:run-7")).toBe(false);
    const another = { type: "fleet.report", report: from(2_000) } as const;
    const reason = `agent nightly already has ${FLEET.sources} sources`;
    expect(world.refusal(another)).toBe(`LIMIT_EXCEEDED: ${reason}`);
    for (const known of [from(1_000, WORKING), report(99, IDLE)]) {
      expect(topics(world, known)).toEqual(["fleet.reported"]);
    }
  });

  test("of an old log that lies in the future is followed by the next one", () => {
    const world = new World();
    const ahead = report(Number.MAX_SAFE_INTEGER, asking("paste your key"));
    world.record([{ type: "fleet.reported", report: ahead }]);
    expect(topics(world, report(world.nowMs, IDLE))).toContain("fleet.reported");
  });

  test("that says the same again is not recorded", () => {
    const world = new World();
    topics(world, report(10, WORKING));
    expect(topics(world, report(20, WORKING))).toEqual([]);
  });

  test("without a ttl is recorded whenever its agent did something", () => {
    const world = new World();
    topics(world, report(10, { ...WORKING, lastActivityAtMs: 10 }));
    expect(topics(world, report(20, { ...WORKING, lastActivityAtMs: 20 }))).toHaveLength(1);
  });

  test("keeps since when its agent works, rests or asks, whatever it does meanwhile", () => {
    const world = new World();
    const sinceMs = () => world.state.reports.byAlias.get("file:claude")?.report.sinceMs;
    const since = (atMs: number, facts: Facts, rest: Partial<Report> = {}) => {
      topics(world, report(atMs, facts, rest));
      return sinceMs();
    };
    const writing: Facts = { ...ALIVE, activity: { value: "writing", rule: "Edit" } };
    expect(since(10, WORKING)).toBe(10);
    expect(since(20, writing)).toBe(10);
    expect(since(30, { ...writing, ...asking("a") })).toBe(30);
    expect(since(40, { ...writing, ...asking("b") })).toBe(30);
    expect(since(50, WORKING)).toBe(50);
    expect(since(60, IDLE)).toBe(60);
    expect(since(70, { ...IDLE, goal: "the same" })).toBe(60);
    // A source that knows better is believed.
    expect(since(80, WORKING, { sinceMs: 77 })).toBe(77);
    // Silence and an end interrupt it.
    expect(since(90, { ...WORKING, liveness: { value: "stale", rule: "old" } })).toBe(77);
    expect(since(100, WORKING)).toBe(100);
    expect(since(110, { ...WORKING, ...GONE })).toBe(100);
    expect(since(120, WORKING)).toBe(120);
  });

  describe("with a ttl", () => {
    const ttlMs = 10 * SECOND;
    const liveness = (world: World) =>
      world.state.reports.byAlias.get("file:claude")?.report.facts.liveness.value;
    const say = (world: World) => topics(world, report(world.nowMs, WORKING, { ttlMs }));

    test("is stale when its source falls silent, and current when it speaks again", () => {
      const world = new World();
      say(world);
      world.pass(1.5 * ttlMs - 1);
      expect(liveness(world)).toBe("alive");
      world.pass(1);
      expect(liveness(world)).toBe("stale");
      expect(say(world)).toEqual(["fleet.reported"]);
      expect(liveness(world)).toBe("alive");
    });

    test("stays current while it is repeated, recorded once in half a ttl", () => {
      const world = new World();
      say(world);
      const recorded = Array.from({ length: 30 }, () => {
        world.pass(SECOND);
        return say(world).length;
      });
      expect(liveness(world)).toBe("alive");
      expect(recorded.filter((count) => count > 0)).toHaveLength(6);
    });

    test("that only goes on is recorded once a minute", () => {
      const world = new World();
      const goOn = () => {
        const facts = { ...WORKING, lastActivityAtMs: world.nowMs };
        return topics(world, report(world.nowMs, facts, { ttlMs: 600 * SECOND })).length;
      };
      const recorded = Array.from({ length: 180 }, () => {
        world.pass(SECOND);
        return goOn();
      });
      expect(recorded.filter((count) => count > 0)).toHaveLength(3);
    });

    test("has a whole one after a new node took over", () => {
      const world = new World();
      say(world);
      world.pass(ttlMs - 1);
      world.record([{ type: "node.leading", node: "b", epoch: 2 }]);
      world.pass(ttlMs - 1);
      expect(liveness(world)).toBe("alive");
      world.pass(2);
      expect(liveness(world)).toBe("stale");
    });

    test("that is over is never silent", () => {
      const world = new World();
      topics(world, report(world.nowMs, GONE, { ttlMs }));
      world.pass(2 * ttlMs);
      expect(liveness(world)).toBe("exited");
    });
  });

  test("from the future is from now", () => {
    const world = new World();
    const ahead = world.nowMs + 5_000;
    topics(world, report(ahead, { ...WORKING, lastActivityAtMs: ahead }));
    const { report: kept } = world.state.reports.byAlias.get("file:claude") ?? {};
    expect(kept?.reportedAtMs).toBe(world.nowMs);
    expect(kept?.facts.lastActivityAtMs).toBe(world.nowMs);
  });

  test("of what is over is forgotten a day later", () => {
    const world = new World();
    topics(world, report(world.nowMs, GONE));
    world.pass(RETENTION.overReportMs + SECOND);
    expect(world.state.reports.byAlias.size).toBe(0);
  });

  test.each([
    ["alias is not WIRE:NAME", { alias: "claude" }],
    ["alias is empty", { alias: "" }],
    ["agentId is empty", { agentId: "" }],
    ["links has 9 entries", { links: Array.from({ length: 9 }, (_, i) => `a2a:${i}`) }],
    ["order is not a whole number", { order: -1 }],
    ["reportedAtMs is not a whole number", { reportedAtMs: 0.5 }],
    ["ttlMs is 0.01 s", { ttlMs: 10 }],
    ["name holds a control character", { facts: { ...IDLE, name: "\u001b[31m" } }],
    ["goal has 2000 characters", { facts: { ...IDLE, goal: "x".repeat(2_000) } }],
    ["question.text has", { facts: asking("x".repeat(FLEET.questionLength + 1)) }],
  ])("is refused when %s", (why, rest) => {
    expect(refusal(report(1, IDLE, rest))).toContain(why);
  });
});

describe("a process that one source proved to have ended", () => {
  const process = { pid: 7, startedAtMs: 5_000 };
  const ended = (order: number, rest: Partial<Facts["process"]> = {}) =>
    report(order, { ...GONE, process: { ...process, hasEnded: true, ...rest } });
  const proxy = (order: number, facts: Facts, rest: Partial<Report> = {}) =>
    report(order, { ...facts, process }, { alias: "acp:claude", ttlMs: 60 * SECOND, ...rest });
  const livenessOf = (world: World, alias = "acp:claude") =>
    world.state.reports.byAlias.get(alias)?.report.facts.liveness.value;
  const openIn = (world: World) => [...world.state.questions.openOf.keys()];

  test("has ended for all that speak for it, in the same batch, and so has what they asked", () => {
    const world = new World();
    topics(world, proxy(10, asking("run rm?")));
    expect(topics(world, ended(11))).toEqual([
      "fleet.reported",
      "fleet.reported",
      "question.expired",
    ]);
    expect(livenessOf(world)).toBe("exited");
    world.pass(RETENTION.overReportMs + SECOND);
    expect(world.state.reports.byAlias.size).toBe(0);
  });

  test("does not come back by a report that was under way when it died", () => {
    const world = new World();
    topics(world, proxy(10, WORKING));
    topics(world, ended(12));
    // The daemon says when it arrived: after the end was found out.
    topics(world, proxy(11, asking("run rm?"), { reportedAtMs: 20 }));
    expect(livenessOf(world)).toBe("exited");
    expect(openIn(world)).toEqual([]);
  });

  test("nor by the first report of a source that arrives after its end", () => {
    const world = new World();
    topics(world, ended(12));
    expect(topics(world, proxy(11, asking("run rm?")))).toEqual(["fleet.reported"]);
    expect(livenessOf(world)).toBe("exited");
  });

  test("is not another one that got its number, nor one of another agent", () => {
    const world = new World();
    topics(world, proxy(10, asking("run rm?")));
    topics(world, ended(11, { startedAtMs: 1_000 }));
    expect(livenessOf(world)).toBe("alive");
    topics(world, proxy(12, asking("a"), { alias: "acp:other", agentId: "other" }));
    topics(world, ended(13));
    expect([livenessOf(world), livenessOf(world, "acp:other")]).toEqual(["exited", "alive"]);
    expect(openIn(world)).toEqual(["acp:other"]);
  });

  test("is alive again where its own source takes that back", () => {
    const world = new World();
    topics(world, ended(11));
    topics(world, report(12, { ...WORKING, process }));
    expect(livenessOf(world, "file:claude")).toBe("alive");
    topics(world, proxy(13, WORKING));
    expect(livenessOf(world)).toBe("alive");
  });
});

describe("an answer that the closest source saw", () => {
  const proxy = (order: number, facts: Facts) => report(order, facts, { alias: "acp:claude" });
  const permission = (sinceMs: number): Facts => ({
    ...ALIVE,
    activity: { value: "waiting", rule: "input-required" },
    question: { value: { kind: "permission", text: "run rm?", sinceMs }, rule: "input-required" },
  });
  const openIn = (world: World) => [...world.state.questions.openOf.keys()];
  const factsOf = (world: World) => world.state.reports.byAlias.get("file:claude")?.report.facts;

  test("ends the question of the others, in the same batch, and also when they repeat it", () => {
    const world = new World();
    topics(world, report(10, permission(world.nowMs)));
    topics(world, proxy(11, permission(world.nowMs + 1)));
    world.pass(SECOND);
    expect(topics(world, proxy(12, WORKING))).toEqual([
      "fleet.reported",
      "question.answered",
      "fleet.reported",
      "question.answered",
    ]);
    expect(factsOf(world)).toMatchObject({ activity: { value: "working" } });
    expect(factsOf(world)).not.toHaveProperty("question");
    expect(topics(world, report(13, permission(world.nowMs - SECOND)))).toEqual([]);
    expect(openIn(world)).toEqual([]);
  });

  test("ends one that the others hear of late, and none that is asked later", () => {
    const world = new World();
    const askedAtMs = world.nowMs;
    topics(world, proxy(11, permission(askedAtMs)));
    world.pass(5 * SECOND);
    topics(world, proxy(12, IDLE));
    topics(world, report(13, permission(askedAtMs + SECOND)));
    expect(openIn(world)).toEqual([]);
    world.pass(SECOND);
    topics(world, report(14, permission(world.nowMs)));
    expect(openIn(world)).toEqual(["file:claude"]);
  });

  test("ends the one before when it asks the next", () => {
    const world = new World();
    topics(world, report(10, permission(world.nowMs)));
    topics(world, proxy(11, permission(world.nowMs)));
    world.pass(5 * SECOND);
    topics(world, proxy(12, permission(world.nowMs)));
    expect(openIn(world)).toEqual(["acp:claude"]);
  });

  test("says nothing of the question at the end of a turn, nor of one that it did not see", () => {
    const world = new World();
    topics(world, proxy(10, permission(world.nowMs)));
    topics(world, report(11, asking("Shall I?", world.nowMs)));
    world.pass(SECOND);
    topics(world, proxy(12, IDLE));
    expect(openIn(world)).toEqual(["file:claude"]);
    const other = new World();
    topics(other, report(10, permission(other.nowMs)));
    topics(other, proxy(11, WORKING));
    expect(openIn(other)).toEqual(["file:claude"]);
  });

  test("is none where a source further away no longer asks", () => {
    const world = new World();
    topics(world, report(10, permission(world.nowMs)));
    topics(world, proxy(11, permission(world.nowMs)));
    topics(world, report(12, WORKING));
    expect(openIn(world)).toEqual(["acp:claude"]);
  });
});

describe("a question", () => {
  test.each([
    ["answered when the agent goes on", WORKING, ["question.answered"]],
    ["withdrawn when the agent rests", IDLE, ["question.withdrawn"]],
    ["expired when the agent is gone", GONE, ["question.expired"]],
    ["answered when it asks something else", asking("b"), ["question.answered", "question.asked"]],
    ["open while it is asked", { ...asking("a"), goal: "the same" }, []],
    ["asked anew when it is a later one", asking("a", 2), ["question.answered", "question.asked"]],
  ])("is %s", (_how, facts, expected) => {
    const world = new World();
    expect(topics(world, report(1, asking("a")))).toEqual(["fleet.reported", "question.asked"]);
    expect(topics(world, report(2, facts))).toEqual(["fleet.reported", ...expected]);
  });

  test("of who is gone is not asked", () => {
    const world = new World();
    const facts = { ...asking("a"), ...GONE };
    expect(topics(world, report(1, facts))).toEqual(["fleet.reported"]);
  });

  test("that ended is forgotten a day later, an open one is not", () => {
    const world = new World();
    topics(world, report(1, asking("a")));
    world.pass(2 * RETENTION.questionMs);
    expect(world.state.questions.byId.size).toBe(1);
    topics(world, report(2, IDLE));
    world.pass(RETENTION.questionMs + SECOND);
    expect(world.state.questions.byId.size).toBe(0);
  });
});
