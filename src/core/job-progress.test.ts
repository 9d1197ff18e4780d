import { describe, expect, test } from "vitest";
import { checkEvent } from "../core/jobs/event-reading.ts";
import type { JobEvent } from "../core/jobs/events.ts";
import { activityOf, feel, newPulse, outcomeOf, questionOf } from "./activity.ts";
import { testJob } from "../../test/support/jobs/fixture.ts";

function said(kind: string, body: Readonly<Record<string, unknown>>): JobEvent {
  const checked = checkEvent(kind, body);
  if (!checked.ok) throw new Error(checked.reason);
  return checked.event;
}

function after(...events: readonly JobEvent[]) {
  const job = testJob();
  job.status = "running";
  const pulse = newPulse(1000);
  const urgent = events.map((event, i) => feel(pulse, event, 2000 + i));
  return { activity: activityOf(job, pulse), question: questionOf(job, pulse), urgent };
}

describe("what a job does", () => {
  test.each([
    ["thought", { text: "hm" }, { value: "thinking", message: "hm" }],
    ["tool_call", { tool: "fs.read", call_id: "1" }, { value: "reading", message: "fs.read" }],
    ["tool_call", { tool: "search_web", call_id: "1" }, { value: "reading" }],
    ["tool_call", { tool: "file-edit", call_id: "1" }, { value: "writing" }],
    ["tool_call", { tool: "bash", call_id: "1" }, { value: "working", message: "bash" }],
    ["tool_result", { call_id: "1" }, { value: "working" }],
    ["status", { phase: "indexing" }, { value: "working", message: "indexing" }],
    ["log", { level: "info", message: "a\nb\u001b[1m" }, { message: "a b [1m" }],
    ["delegate", { agent: "linter" }, { value: "waiting", message: "waits for linter" }],
    ["artifact_ref", { uri: "x://y", content_type: "text/html" }, { value: "writing" }],
    ["progress", { current: 3, total: 10, units: "files" }, { task: "3/10 files" }],
    ["progress", { current: 3, message: "indexing" }, { task: "3, indexing" }],
  ])("%s %j", (kind, body, activity) => {
    expect(after(said(kind, body)).activity).toMatchObject(activity);
  });

  test("how far it is stays while it says other things", () => {
    const { activity } = after(
      said("progress", { current: 1, total: 2 }),
      said("thought", { text: "hm" }),
    );
    expect(activity).toMatchObject({ value: "thinking", message: "hm", task: "1/2" });
  });

  test("before it starts it waits", () => {
    expect(activityOf(testJob(), newPulse(0))).toMatchObject({ value: "waiting" });
  });
});

describe("what it asks", () => {
  test.each([
    ["awaiting_approval", "permission"],
    ["permission_required", "permission"],
    ["waiting_for_input", "text"],
    ["needs_login", "auth"],
    ["auth_required", "auth"],
    ["awaiting_choice", "choice"],
    ["budget_required", "budget"],
  ])("%s is a question of the kind %s", (phase, kind) => {
    const { question, urgent } = after(said("status", { phase, message: "may I?" }));
    expect(question?.value).toEqual({ kind, text: "may I?", sinceMs: 2000 });
    expect(urgent).toEqual([true]);
  });

  test.each(["running", "awaiting_build", "needs_rebuild", "required"])("%s is none", (phase) =>
    expect(after(said("status", { phase })).question).toBeUndefined(),
  );

  test("it is open until the job goes on; what it logs or measures is no going on", () => {
    const asks = said("status", { phase: "awaiting_choice", options: ["a", "b"] });
    const aside = [
      said("log", { level: "info", message: "still here" }),
      said("metric", { name: "n", value: 1 }),
    ];
    expect(after(asks, ...aside).question?.value).toMatchObject({
      text: "awaiting choice",
      options: ["a", "b"],
    });
    const { question, urgent } = after(asks, ...aside, said("thought", { text: "a it is" }));
    expect(question).toBeUndefined();
    expect(urgent).toEqual([true, false, false, true]);
  });

  test("a budget that is used up is one, and says which", () => {
    const job = testJob({ "cost.budget": ["USD:1"] });
    job.status = "running";
    const pulse = newPulse(1000);
    expect(activityOf(job, pulse).task).toBe("USD 1 left");
    expect(questionOf(job, pulse)).toBeUndefined();
    job.grant.charge({ name: "cost.inference", value: 1, unit: "USD" });
    expect(questionOf(job, pulse)?.value).toMatchObject({
      kind: "budget",
      text: "its budget in USD is used up: cancel it, or let it end",
      sinceMs: 1000,
    });
  });
});

test("how it ended", () => {
  const failed = { status: "error", code: "INTERNAL", message: "no disk" } as const;
  expect(outcomeOf(failed, 5)).toMatchObject({ value: "failed", text: "no disk", atMs: 5 });
  expect(outcomeOf({ status: "cancelled", reason: "" }, 5)).toEqual({
    value: "cancelled",
    rule: "the job ended: cancelled",
    atMs: 5,
  });
});
