import { afterEach, beforeEach, expect, test } from "vitest";
import type { Report } from "../../core/reports.ts";
import { quiet } from "../../engine/testing.ts";
import { Presence } from "./presence.ts";
import { PRESENCE } from "./limits.ts";
import { openGround, type TestGround } from "./testing.ts";

let ground: TestGround;

beforeEach(async () => {
  ground = await openGround();
});

afterEach(() => ground.close());

function presence(): Presence {
  return new Presence({ ...ground.options, nowMs: () => ground.engine.nowMs });
}

function saying(value: "alive" | "exited"): Report {
  const atMs = ground.engine.nowMs;
  const question = { kind: "text", text: "Which one?", sinceMs: atMs } as const;
  return {
    alias: "mcp:a",
    agentId: "a",
    links: [],
    order: atMs,
    reportedAtMs: atMs,
    facts: {
      liveness: { value, rule: "it says so" },
      activity: { value: "writing", rule: "it says so" },
      question: { rule: "it says so", value: question },
    },
  };
}

async function liveness(): Promise<string | undefined> {
  const row = await ground.options.fleet.row("a");
  return `${row.liveness.value}, ${row.headline}`;
}

test("what was published is believed for its time, its question too", async () => {
  const said = presence();
  await said.publish(saying("alive"), 60_000);
  await ground.clock.advance(59_000);
  expect(await liveness()).toBe("alive, NEEDS YOU");
  await ground.clock.advance(1_000);
  expect(await liveness()).toBe("stale, PROBLEM");
  said.close();
});

test("who publishes again in time is not silent", async () => {
  const said = presence();
  await said.publish(saying("alive"), 60_000);
  await ground.clock.advance(50_000);
  await said.publish(saying("alive"), 60_000);
  await ground.clock.advance(50_000);
  expect(await liveness()).toBe("alive, NEEDS YOU");
  said.close();
});

test("who said good-bye is not called silent later", async () => {
  const said = presence();
  await said.publish(saying("alive"), 60_000);
  await said.publish(saying("exited"), 60_000);
  await ground.clock.advance(120_000);
  expect(await liveness()).toBe("exited, GONE");
  said.close();
});

test("who was there before a restart has its time again, and is silent after that", async () => {
  const before = presence();
  await before.publish(saying("alive"), 60_000);
  before.close();
  const after = presence();
  await quiet();
  // A day that nobody ticks through.
  ground.clock.suspend(PRESENCE.ttlMostMs - 1_000);
  expect(await liveness()).toMatch(/^alive/);
  await ground.clock.advance(1_000);
  expect(await liveness()).toMatch(/^stale/);
  after.close();
  expect(ground.faults).toEqual([]);
});
