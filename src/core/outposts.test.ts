import { describe, expect, test } from "vitest";
import { byOf } from "./by.ts";
import type { SentJob } from "./host-jobs.ts";
import { OUTPOST } from "./limits.ts";
import { hear, type OutpostFacts } from "./outposts.ts";
import { LOCAL } from "./principals.ts";
import type { Facts, Report } from "./reports.ts";
import { capture, fingerprint, restore } from "./snapshot.ts";
import { DAY, SECOND, START_MS, World } from "../../test/support/core/fixture.ts";

const FACTS: OutpostFacts = {
  instance: "one",
  machine: "annas-laptop",
  version: "1",
  share: "questions",
  accept: "answers",
};

function outpostBy(host: string, token = host) {
  const principal = { ...LOCAL, name: `token:${token}`, roles: ["outpost"], host } as const;
  return byOf(principal, "http", "10.0.0.7");
}

function outpostWorld(): World {
  const world = new World();
  world.by = outpostBy("box");
  return world;
}

function join(world: World, rest: Partial<OutpostFacts> = {}, clockMs = world.nowMs) {
  const facts = { ...FACTS, ...rest };
  return world.run({ type: "outpost.join", host: "box", facts, clockMs });
}

function report(name: string, atMs: number, facts: Partial<Facts> = {}): Report {
  return {
    alias: `file@box:${name}`,
    agentId: `${name}@box`,
    links: [],
    order: atMs,
    reportedAtMs: atMs,
    facts: { liveness: { value: "alive", rule: "fresh" }, ...facts },
  };
}

interface Sent {
  readonly session: string;
  readonly from: string;
  readonly to: string;
  readonly reports?: readonly Report[];
  readonly gone?: readonly string[];
  readonly jobs?: readonly SentJob[];
  readonly jobsGone?: readonly string[];
}

function take({ reports = [], gone = [], jobs = [], jobsGone = [], ...sent }: Sent) {
  const told = { reports, gone, jobs, jobsGone };
  return { type: "outpost.take", host: "box", ...told, ...sent } as const;
}

describe("what an outpost sends", () => {
  test("is taken with its cursor as one batch, and goes on from there alone", () => {
    const world = outpostWorld();
    const { session, cursor } = join(world);
    expect(cursor).toBe("");
    const first = take({ session, from: "", to: "7", reports: [report("a", world.nowMs)] });
    expect(world.topicsOf(() => world.run(first))).toEqual(["fleet.reported", "outpost.took"]);
    expect(world.refusal(first)).toMatch(/^WRONG_STATE: box was taken up to "7".*join again$/);
    expect(join(world).cursor).toBe("7");
  });

  test("is refused from a session that another join has ended", () => {
    const world = outpostWorld();
    const { session } = join(world);
    join(world);
    expect(world.refusal(take({ session, from: "", to: "1" }))).toBe(
      "WRONG_STATE: this session of box is over: join again",
    );
    expect(world.refusal({ type: "outpost.beat", host: "box", session })).toMatch(/^WRONG_STATE/);
  });

  test.each([
    [{ alias: "file@other:a" }],
    [{ alias: "file:a" }],
    [{ agentId: "a@other" }],
    [{ agentId: "a" }],
    [{ links: ["keeper:somebody"] }],
  ])("is refused where it is not of its host, and holds up nothing else: %j", (rest) => {
    const world = outpostWorld();
    const { session } = join(world);
    const foreign = { ...report("a", world.nowMs), ...rest };
    const reports = [foreign, report("b", world.nowMs)];
    const { news, refused } = world.run(take({ session, from: "", to: "1", reports }));
    expect(news).toBe(1);
    expect(refused).toMatchObject([{ alias: foreign.alias, code: "PERMISSION_DENIED" }]);
    expect([...world.state.reports.byAlias.keys()]).toEqual(["file@box:b"]);
  });

  test("of one agent twice at once is refused: the second could mean another thing", () => {
    const world = outpostWorld();
    const { session } = join(world);
    const reports = [report("a", world.nowMs), report("a", world.nowMs)];
    const { refused } = world.run(take({ session, from: "", to: "1", reports }));
    expect(refused).toMatchObject([{ code: "INVALID_ARGUMENT" }]);
  });

  test("is bounded for each host", () => {
    const world = outpostWorld();
    const { session } = join(world);
    let cursor = "";
    const send = (from: number, count: number) => {
      const reports = Array.from({ length: count }, (_, i) => report(`${from + i}`, world.nowMs));
      const to = String(from + count);
      const answer = world.run(take({ session, from: cursor, to, reports }));
      cursor = to;
      return answer;
    };
    for (let i = 0; i < OUTPOST.reports; i += 250) send(i, 250);
    expect(send(OUTPOST.reports, 1).refused).toMatchObject([{ code: "LIMIT_EXCEEDED" }]);
    const known = { ...report("7", world.nowMs), order: world.nowMs + 1 };
    const again = world.run(take({ session, from: cursor, to: "x", reports: [known] }));
    expect(again.refused).toEqual([]);
  });

  test("belongs to the host, whichever token it has today", () => {
    const world = outpostWorld();
    const { session } = join(world);
    world.run(take({ session, from: "", to: "1", reports: [report("a", world.nowMs)] }));
    world.by = outpostBy("box", "box-renewed");
    const renewed = join(world);
    const working = { activity: { value: "working", rule: "r" } } as const;
    const reports = [report("a", world.nowMs + 1, working)];
    const sent = take({ session: renewed.session, from: "1", to: "2", reports });
    expect(world.run(sent)).toEqual({ news: 1, refused: [] });
    const agent = byOf({ ...LOCAL, name: "token:x", roles: ["agent"] }, "http");
    world.by = agent;
    const squat = { ...report("a", world.nowMs), alias: "script:a" };
    expect(world.refusal({ type: "fleet.report", report: squat })).toBe(
      "PERMISSION_DENIED: a@box is for the outpost of box to tell",
    );
  });

  test("tells what its host no longer knows: it is over, and its question expires", () => {
    const world = outpostWorld();
    const { session } = join(world);
    const value = { kind: "text", text: "which?", sinceMs: world.nowMs } as const;
    const asking = report("a", world.nowMs, { question: { rule: "r", value } });
    world.run(take({ session, from: "", to: "1", reports: [asking] }));
    const gone = ["file@box:a", "file@box:unknown", "script:x"];
    const topics = world.topicsOf(() => world.run(take({ session, from: "1", to: "2", gone })));
    expect(topics).toEqual(["fleet.reported", "question.expired", "outpost.took"]);
    expect(world.state.reports.byAlias.get("file@box:a")?.report.facts.liveness).toEqual({
      value: "exited",
      rule: "its host no longer knows it",
    });
  });

  test("is told by our clock where its own is wrong, the same at every join", () => {
    const world = outpostWorld();
    const hourMs = 3_600 * SECOND;
    const { session, shiftMs } = join(world, {}, world.nowMs + hourMs);
    expect(shiftMs).toBe(-hourMs);
    const reports = [report("a", world.nowMs + hourMs)];
    expect(world.run(take({ session, from: "", to: "1", reports })).refused).toEqual([]);
    expect(world.state.reports.byAlias.get("file@box:a")?.report.reportedAtMs).toBe(world.nowMs);
    expect(join(world, {}, world.nowMs + hourMs + 1_500).shiftMs).toBe(-hourMs);
    expect(join(world, {}, world.nowMs + 1_500).shiftMs).toBe(0);
  });
});

describe("an outpost", () => {
  test("is refused while another of its name is heard, and says which", () => {
    const world = outpostWorld();
    join(world);
    world.pass(30 * SECOND);
    const other = { ...FACTS, instance: "two", machine: "spare" };
    const second = { type: "outpost.join", host: "box", facts: other, clockMs: 0 } as const;
    expect(world.refusal(second)).toBe(
      "ALREADY_EXISTS: box has an outpost already (on annas-laptop, heard 30 s ago): " +
        "stop that one, or give this machine a token for another host",
    );
    expect(join(world).instance).toBe("one");
    world.pass(OUTPOST.livingMs);
    expect(join(world, { instance: "two" }).instance).toBe("two");
  });

  test("speaks for the host of its token alone", () => {
    const world = outpostWorld();
    const elsewhere = { type: "outpost.join", host: "other", facts: FACTS, clockMs: 0 } as const;
    expect(world.refusal(elsewhere)).toBe(
      "PERMISSION_DENIED: token:box may not speak for the host other",
    );
  });

  test("that is not heard is silent since it last was, and its reports stay", () => {
    const world = outpostWorld();
    const { session } = join(world);
    world.run(take({ session, from: "", to: "1", reports: [report("a", world.nowMs)] }));
    world.pass(60 * SECOND);
    hear(world.state, { host: "box", session }, world.nowMs);
    const heardAtMs = world.nowMs;
    const events = world.eventsOf(() => world.pass(OUTPOST.silentMs + SECOND));
    expect(events).toEqual([
      { type: "outpost.silent", host: "box", sinceMs: heardAtMs, cause: "unheard" },
    ]);
    expect(world.state.reports.byAlias.size).toBe(1);
    expect(world.refusal({ type: "outpost.beat", host: "box", session })).toMatch(/^WRONG_STATE/);
    expect(join(world).cursor).toBe("1");
  });

  test("is silent at once when it leaves, and forgotten with its reports after a month", () => {
    const world = outpostWorld();
    const { session } = join(world);
    world.run(take({ session, from: "", to: "1", reports: [report("a", world.nowMs)] }));
    world.run({ type: "outpost.leave", host: "box", session });
    expect(world.state.outposts.byHost.get("box")?.outpost.silentSinceMs).toBe(START_MS);
    expect(world.topicsOf(() => world.pass(30 * DAY))).toEqual([
      "fleet.dismissed",
      "outpost.forgotten",
    ]);
    expect(world.state.reports.byAlias.size).toBe(0);
  });

  test("has time to come back after a restart of the daemon, as agents have", () => {
    const world = outpostWorld();
    join(world);
    world.nowMs += 600 * SECOND;
    world.record([{ type: "node.resumed", node: "n", unseenMs: 600 * SECOND }]);
    expect(world.topicsOf(() => world.pass(OUTPOST.silentMs - SECOND))).toEqual([]);
    expect(world.topicsOf(() => world.pass(2 * SECOND))).toEqual(["outpost.silent"]);
  });

  test("is the same after a restart from a snapshot", async () => {
    const world = outpostWorld();
    const { session } = join(world);
    world.run(take({ session, from: "", to: "1", reports: [report("a", world.nowMs)] }));
    const restored = await restore(capture(world.state));
    expect(fingerprint(restored)).toBe(fingerprint(world.state));
    expect([...restored.reports.ofHost.of("box")]).toEqual(["file@box:a"]);
  });
});
