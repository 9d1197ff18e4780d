import { afterEach, expect, test, vi } from "vitest";
import type { Facts, Report } from "../core/reports.ts";
import { openEngine } from "../../test/support/engine/fixture.ts";
import { Fleet } from "../fleet/fleet.ts";
import type { Notice } from "../notify/notice.ts";
import { Notifications, type NotifyConfig } from "./notifications.ts";
import { LIBRARY } from "../core/by.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const CONFIG: NotifyConfig = {
  terminal: "off",
  desktop: false,
  command: [],
  webhook: () => undefined,
  mutes: ["/private"],
};

function asking(text: string, rest: Partial<Report> = {}, workspace = "/repo"): Report {
  const question = { value: { kind: "permission", text, sinceMs: 1 }, rule: "asks" } as const;
  const facts: Facts = { liveness: { value: "alive", rule: "fresh" }, workspace, question };
  const about = { alias: "file@box:claude", agentId: "claude", links: [] };
  return { ...about, order: 1, reportedAtMs: 1, facts, ...rest };
}

async function open(before: readonly Report[] = []) {
  const { engine, clock } = await openEngine();
  const fleet = new Fleet({ engine, clock });
  for (const report of before) await fleet.report(report, LIBRARY);
  const told: Notice[] = [];
  const deliver = (notice: Notice) => Promise.resolve(void told.push(notice));
  const notifications = new Notifications({
    config: CONFIG,
    fleet,
    clock,
    channels: [{ name: "test", deliver }],
    onTrouble: (what, error) => expect.fail(`${what}: ${String(error)}`),
  });
  cleanups.push(
    () => engine.close(),
    () => fleet.close(),
    () => notifications.close(),
  );
  const settle = () => clock.advance(10_000);
  await settle();
  return { fleet, told, settle };
}

test("a person is told once of a question, and again when it is asked anew", async () => {
  const { fleet, told, settle } = await open();
  await fleet.report(asking("may I?"), LIBRARY);
  await settle();
  await settle();
  expect(told).toMatchObject([{ title: "repo needs you", text: "permission: may I?" }]);
  const { facts } = asking("");
  const { question: _, ...working } = facts;
  await fleet.report(asking("", { order: 2, facts: working }), LIBRARY);
  await settle();
  await fleet.report(asking("may I?", { order: 3 }), LIBRARY);
  await vi.waitFor(async () => {
    await settle();
    expect(told).toHaveLength(2);
  });
});

test("an agent that was silent for a while does not ask anew", async () => {
  const { fleet, told, settle } = await open();
  await fleet.report(asking("may I?"), LIBRARY);
  await settle();
  const stale = { value: "stale", rule: "its file is old" } as const;
  await fleet.report(
    asking("", { order: 2, facts: { ...asking("may I?").facts, liveness: stale } }),
    LIBRARY,
  );
  await settle();
  await fleet.report(asking("may I?", { order: 3 }), LIBRARY);
  await settle();
  expect(told).toHaveLength(1);
});

test("what was asked before the start is not told again, and muted folders never", async () => {
  const { fleet, told, settle } = await open([asking("old")]);
  await fleet.report(
    asking("quiet", { alias: "file@box:b", agentId: "b" }, "/private/notes"),
    LIBRARY,
  );
  await settle();
  expect(told).toEqual([]);
});
