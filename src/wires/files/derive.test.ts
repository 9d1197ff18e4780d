import * as fc from "fast-check";
import { expect, test } from "vitest";
import { derive, displayOrder, type DerivedState } from "./derive.ts";
import { LIFECYCLES, TASK_STATES, type Status, type StatusTask } from "./format.ts";
import type { StatusFile } from "./read.ts";
import { NOW_MS, statusOf } from "../../../test/support/files/fixture.ts";
import { timestampMs, writeTimestamp } from "./timestamp.ts";

const options = { nowMs: NOW_MS };

function ago(seconds: number): string {
  return writeTimestamp(NOW_MS - seconds * 1000);
}

test.each<[DerivedState, Partial<Status["runtime"]>, StatusTask | null | undefined]>([
  ["idle", {}, undefined],
  ["idle", {}, null],
  ["idle", {}, {}],
  ["working", {}, { state: "working" }],
  ["running", {}, { summary: "no state" }],
  ["stopped", { lifecycle: "stopped" }, undefined],
  ["completed", { lifecycle: "stopped" }, { state: "completed" }],
  ["unknown", { lifecycle: "unknown" }, {}],
  ["stale", { updated_at: ago(61) }, { state: "input-required" }],
  // "strictly greater"
  ["idle", { updated_at: ago(60) }, undefined],
  ["idle", { updated_at: ago(-3600) }, undefined],
])("%s: from %j with the task %j", (state, runtime, task) => {
  const status = statusOf({ runtime, ...(task !== undefined && { task }) });
  expect(derive(status, options)).toBe(state);
});

test("silence alone makes stale, whatever the agent said last", () => {
  const task = fc.constantFrom(...TASK_STATES).map((state) => ({ state }));
  fc.assert(
    fc.property(
      fc.record({
        seconds: fc.integer({ min: -1000, max: 1000 }),
        staleAfterMs: fc.integer({ min: 0, max: 900 }).map((seconds) => seconds * 1000),
        lifecycle: fc.constantFrom(...LIFECYCLES),
        task: fc.option(task, { nil: null }),
      }),
      ({ seconds, staleAfterMs, lifecycle, task: doing }) => {
        const status = statusOf({ runtime: { lifecycle, updated_at: ago(seconds) }, task: doing });
        const state = derive(status, { nowMs: NOW_MS, staleAfterMs });
        expect(state === "stale").toBe(seconds * 1000 > staleAfterMs);
        if (state !== "stale" && doing) expect(state).toBe(doing.state);
      },
    ),
  );
});

function file(
  agent_id: string,
  runtime: Partial<Status["runtime"]>,
  task?: StatusTask,
): StatusFile {
  const status = statusOf({ agent_id, runtime, ...(task && { task }) });
  const updatedAtMs = timestampMs(status.runtime.updated_at);
  return { kind: "status", path: agent_id, status, updatedAtMs, oddities: [] };
}

test("the active come first by their ids, then the others, latest activity first", () => {
  const files = [
    file("idle-long", { last_activity_at: ago(50) }),
    file("z-working", {}, { state: "working" }),
    file("stale", { updated_at: ago(3600) }),
    file("idle-just", { last_activity_at: ago(1) }),
    file("a-failed", {}, { state: "failed" }),
    file("canceled", { updated_at: ago(30) }, { state: "canceled" }),
  ];
  expect(displayOrder(files, options).map(({ path }) => path)).toEqual([
    "a-failed",
    "z-working",
    "idle-just",
    "canceled",
    "idle-long",
    "stale",
  ]);
});
