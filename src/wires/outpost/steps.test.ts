import { expect, test } from "vitest";
import type { Report } from "../../core/reports.ts";
import { KIB } from "../../core/units.ts";
import { split, Steps } from "./steps.ts";

test("what is told in any language fits into the body that the team's daemon reads", () => {
  const report = (i: number): Report => ({
    alias: `file@box:${i}`,
    agentId: `${i}@box`,
    links: [],
    order: i,
    reportedAtMs: i,
    facts: { goal: "修".repeat(1_000), liveness: { value: "alive", rule: "r" } },
  });
  const steps = new Steps("0");
  for (let i = 0; i < 2_000; i += 1) {
    steps.add([{ alias: `file@box:${i}`, report: report(i) }], String(i));
  }
  const parts = split(steps.all());
  expect(parts.flat().flatMap(({ reports }) => reports)).toHaveLength(2_000);
  const bytes = parts.map((part) => Buffer.byteLength(JSON.stringify(part)));
  expect(Math.max(...bytes)).toBeLessThan(768 * KIB);
});
