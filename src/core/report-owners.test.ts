import { describe, expect, test } from "vitest";
import { byOf, LIBRARY, type By } from "./by.ts";
import { LOCAL } from "./principals.ts";
import type { Facts, Report } from "./reports.ts";
import type { Command } from "./rules.ts";
import { World } from "../../test/support/core/fixture.ts";

const IDLE: Facts = { liveness: { value: "alive", rule: "fresh" } };
const WORKING: Facts = { ...IDLE, activity: { value: "working", rule: "task.state" } };

function report(order: number, facts: Facts, rest: Partial<Report>): Report {
  const about = { alias: "acp:one", agentId: "one", links: [] };
  return { ...about, order, reportedAtMs: order, facts, ...rest };
}

function topics(world: World, given: Report): string[] {
  return world.topicsOf(() => world.run({ type: "fleet.report", report: given }));
}

describe("the owner of what is reported", () => {
  const CI = byOf({ ...LOCAL, name: "token:ci", roles: ["agent"] }, "http");
  const BOB = byOf({ ...LOCAL, name: "token:bob", roles: ["agent"] }, "http");
  const OPERATOR = byOf({ ...LOCAL, name: "token:op", roles: ["operator"] }, "http");
  const own = { alias: "acp:one", agentId: "one" };

  function reportedBy(by: By, rest: Partial<Report> = own) {
    const world = new World();
    world.by = by;
    topics(world, report(1, IDLE, rest));
    return world;
  }

  const denial = (world: World, by: By, rest: Partial<Report>) => {
    world.by = by;
    return world.refusal({ type: "fleet.report", report: report(2, WORKING, rest) });
  };

  test.each([
    ["its alias", { ...own, agentId: "two" }],
    ["its row", { alias: "acp:two", agentId: "one" }],
    ["its row by a link", { alias: "acp:two", agentId: "two", links: ["acp:one"] }],
  ])("alone speaks for %s, and an operator", (_, rest) => {
    const world = reportedBy(CI);
    expect(denial(world, BOB, rest)).toMatch(/^PERMISSION_DENIED: .* is not of token:bob$/);
    for (const by of [CI, OPERATOR, LIBRARY]) {
      world.by = by;
      expect(world.decide({ type: "fleet.report", report: report(2, WORKING, rest) }).ok).toBe(
        true,
      );
    }
  });

  const asking = (text: string): Facts => ({
    ...WORKING,
    question: { value: { kind: "choice", text, sinceMs: 1 }, rule: "asks" },
  });

  test.each([
    [LIBRARY, undefined, undefined],
    [OPERATOR, "token:op", true],
  ])("is the operator that speaks over it from then on", (by, owner, isOperators) => {
    const world = new World();
    world.by = CI;
    world.run({ type: "fleet.report", report: report(1, asking("mine?"), own) });
    world.by = by;
    world.run({ type: "fleet.report", report: report(2, asking("secret?"), own) });
    const { report: kept } = world.state.reports.byAlias.get("acp:one") ?? {};
    expect([kept?.owner, kept?.isOperators]).toEqual([owner, isOperators]);
    const questions = Array.from(world.state.questions.byId.values(), (each) => each.question);
    expect(questions.map((each) => [each.text, each.owner, each.state])).toEqual([
      ["mine?", "token:ci", "answered"],
      ["secret?", owner, "open"],
    ]);
    expect(denial(world, CI, own)).toBe("PERMISSION_DENIED: acp:one is not of token:ci");
    expect(Array.from(world.state.reports.holdings)).toEqual([[owner ?? "local", 1]]);
  });

  test("changes also where the operator says the same", () => {
    const world = reportedBy(CI);
    world.by = LIBRARY;
    expect(topics(world, report(2, IDLE, own))).toEqual(["fleet.reported"]);
    expect(topics(world, report(3, IDLE, own))).toEqual([]);
  });

  test("cannot be told by its callers", () => {
    const world = reportedBy(CI, { ...own, owner: "token:bob", isOperators: true });
    const { report: kept } = world.state.reports.byAlias.get("acp:one") ?? {};
    expect(kept).toMatchObject({ owner: "token:ci" });
    expect(kept).not.toHaveProperty("isOperators");
  });

  test("alone ends its questions and its processes", () => {
    const process = { pid: 7, startedAtMs: 1_000 };
    const file = { alias: "file@box:one", agentId: "one" };
    const world = reportedBy(BOB);
    world.run({ type: "fleet.report", report: report(2, asking("bob?"), own) });
    world.by = LIBRARY;
    const asked = { ...asking("go on?"), process };
    world.run({ type: "fleet.report", report: report(3, asked, file) });
    world.by = BOB;
    const gone = { ...IDLE, process: { ...process, hasEnded: true } };
    world.run({ type: "fleet.report", report: report(4, gone, own) });
    const kept = () => world.state.reports.byAlias.get("file@box:one")?.report.facts;
    expect(kept()).toMatchObject({ liveness: { value: "alive" }, question: asked.question });
    world.by = LIBRARY;
    world.run({ type: "fleet.report", report: report(5, { ...asked, goal: "x" }, file) });
    expect(kept()).toMatchObject({ liveness: { value: "alive" }, question: asked.question });
  });

  test("of a registered agent is the one that registered it", () => {
    const world = new World();
    world.by = CI;
    const agentId = world.register();
    const links = [`keeper:${agentId}`];
    expect(denial(world, BOB, { alias: "acp:x", agentId })).toContain("is not of token:bob");
    expect(denial(world, BOB, { ...own, links })).toContain("is not of token:bob");
  });

  test("of an agent of the directory that is served is the one that brought it", () => {
    const world = new World();
    const url = "http://echo.example/a2a";
    const card = { text: '{"name":"Echo"}', digest: "echo" };
    world.by = CI;
    world.run({
      type: "directory.heartbeat",
      url,
      origin: "http://echo.example",
      source: "token:ci",
      card,
      intervalMs: 1_000,
      staleMultiplier: 3,
      newTokenHash: "a hash",
      tokenHash: "",
    });
    // Anybody may say that there is an agent: of one that was not fetched there is no row.
    world.by = BOB;
    const onUrl = { type: "fleet.report", report: report(2, WORKING, { ...own, agentId: url }) };
    expect(world.decide(onUrl as Command).ok).toBe(true);
    world.by = LIBRARY;
    const proof = { isItsOwn: true, isSigned: false, signature: "" };
    world.run({ type: "directory.confirm", url, heard: "echo", card, from: `${url}/card`, proof });
    expect(denial(world, BOB, { ...own, agentId: url })).toContain("is not of token:bob");
    world.by = CI;
    expect(world.decide(onUrl as Command).ok).toBe(true);
  });

  test("of a registered agent begins to report on it after an operator did", () => {
    const world = new World();
    world.by = CI;
    const agentId = world.register();
    world.by = OPERATOR;
    topics(world, report(2, WORKING, { alias: "script:op", agentId }));
    world.by = CI;
    const said = report(3, WORKING, { alias: "mcp:own", agentId });
    expect(topics(world, said)).toEqual(["fleet.reported"]);
  });

  test("goes on after an operator reported on its row, too", () => {
    const world = reportedBy(CI);
    world.by = OPERATOR;
    topics(world, report(2, WORKING, { ...own, alias: "script:op" }));
    world.by = CI;
    expect(topics(world, report(3, WORKING, own))).toEqual(["fleet.reported"]);
    expect(world.state.reports.byAlias.get("acp:one")?.report.owner).toBe("token:ci");
  });
});
