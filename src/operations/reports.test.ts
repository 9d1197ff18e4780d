import { expect, test } from "vitest";
import type { Report } from "../core/reports.ts";
import type { OperationServices } from "./operation.ts";
import { report } from "./reports.ts";
import { byOf } from "../core/by.ts";
import { LOCAL, type Principal } from "../core/principals.ts";

const BOX = { host: "box" };

/** A report of a caller with a role, or bound to a host. */
async function reported(who: Partial<Principal>, alias: string, ...links: readonly string[]) {
  const kept: Report[] = [];
  const fleet = { report: async (each: Report) => kept.push(each) > 0 };
  const services = { engine: { nowMs: 1 }, fleet } as unknown as OperationServices;
  const input = report.input.parse({
    alias,
    links,
    agentId: "nightly",
    facts: { liveness: { value: "alive" } },
  });
  const principal: Principal = { ...LOCAL, roles: ["agent"], ...who };
  const { signal } = new AbortController();
  await report.run(services, input, { by: byOf(principal, "http"), signal });
  return kept.map((each) => each.alias);
}

test("an outpost reports on its own host", async () => {
  expect(await reported(BOX, "script@box:a", "arcp@box:b")).toEqual(["script@box:a"]);
  expect(await reported({}, "script@other:a")).toEqual(["script@other:a"]);
});

const OF_WIRES = [
  "acp:a",
  "acp@box:a",
  "file@box:a",
  "mcp:a",
  "jobs:a",
  "arcp@box:echo",
  "a2a:http://box/a",
  "keeper:a",
];

test.each(OF_WIRES)("only an operator speaks for a wire from anywhere: %s", async (alias) => {
  expect(await reported({ roles: ["operator"] }, alias)).toEqual([alias]);
  await expect(reported({}, alias)).rejects.toThrow(/^alias is ".*": only .* speak for /);
});

test("an outpost speaks for the wires of its host", async () => {
  expect(await reported(BOX, "acp@box:a")).toEqual(["acp@box:a"]);
  expect(await reported(BOX, "file@box:a")).toEqual(["file@box:a"]);
});

test.each([
  ["script@other:a", []],
  ["script:a", []],
  ["script@box2:a", []],
  ["script:@box:a", []],
  ["script@box:a", ["arcp@other:b"]],
])("an outpost is refused where it speaks for another: %s %j", async (alias, links) => {
  const refused = reported(BOX, alias, ...links);
  await expect(refused).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(reported(BOX, alias, ...links)).rejects.toThrow(
    /is not on box: this token reports WIRE@box:NAME/,
  );
});
