import { describe, expect, test } from "vitest";
import { byOf, LIBRARY, type By } from "./by.ts";
import { LOCAL } from "./principals.ts";
import type { Facts, Report } from "./reports.ts";
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
    expect(denial(world, BOB, rest)).toMatch(
      /^PERMISSION_DENIED: token:bob may not report on .*: that is for token:ci and operators$/,
    );
    for (const by of [CI, OPERATOR, LIBRARY]) {
      world.by = by;
      expect(world.decide({ type: "fleet.report", report: report(2, WORKING, rest) }).ok).toBe(
        true,
      );
    }
  });

  test("of a registered agent is the one that registered it", () => {
    const world = new World();
    world.by = CI;
    const agentId = world.register();
    const links = [`keeper:${agentId}`];
    expect(denial(world, BOB, { alias: "acp:x", agentId })).toContain("that is for token:ci");
    expect(denial(world, BOB, { ...own, links })).toContain("that is for token:ci");
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
