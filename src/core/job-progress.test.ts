import { describe, expect, test } from "vitest";
import { feel, isWorthLogging, newPulse, progressOf, type LoggedProgress } from "./job-progress.ts";
import { charge, openPurse, parseBudget, type Purse } from "./jobs/budget.ts";
import { amountOf } from "./jobs/decimal.ts";
import { checkEvent } from "./jobs/event-reading.ts";
import type { JobStreamEvent } from "./jobs/events.ts";
import { PROGRESS } from "./jobs/limits.ts";

function said(kind: string, body: Readonly<Record<string, unknown>>): JobStreamEvent {
  const checked = checkEvent(kind, body);
  if (!checked.ok) throw new Error(checked.reason);
  return checked.event;
}

function purseOf(...entries: readonly string[]): Purse {
  const parsed = parseBudget(entries);
  if (!parsed.ok) throw new Error(parsed.reason);
  return openPurse(parsed.budget);
}

function after(...events: readonly JobStreamEvent[]) {
  const pulse = newPulse(1000);
  const urgent = events.map((event, i) => feel(pulse, event, 2000 + i));
  return { ...progressOf(pulse, purseOf()), urgent, pulse };
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
    const purse = purseOf("USD:1");
    const pulse = newPulse(1000);
    expect(progressOf(pulse, purse).activity.task).toBe("USD 1 left");
    expect(progressOf(pulse, purse).question).toBeUndefined();
    charge(purse, "USD", amountOf("1") ?? 0n);
    expect(progressOf(pulse, purse).question?.value).toMatchObject({
      kind: "budget",
      text: "its budget in USD is used up: cancel it, or let it end",
      sinceMs: 1000,
    });
    // It goes on asking since then, whatever the job says meanwhile.
    feel(pulse, said("thought", { text: "hm" }), 5000);
    expect(progressOf(pulse, purse).question?.value.sinceMs).toBe(1000);
  });
});

describe("the log has it", () => {
  const logged = (events: readonly JobStreamEvent[], before: LoggedProgress = { atMs: 2000 }) =>
    isWorthLogging(after(...events).pulse, purseOf(), before);
  const phase = (name: string) => said("status", { phase: name });
  const step = (current: number) => said("progress", { current, total: 100 });

  test("at a new phase, and not at the same one", () => {
    expect(logged([phase("indexing")])).toBe(true);
    expect(logged([phase("indexing")], { phase: "indexing", atMs: 2000 })).toBe(false);
    expect(logged([said("thought", { text: "hm" })], { phase: "indexing", atMs: 2000 })).toBe(true);
  });

  test("at every twentieth of the way", () => {
    expect(logged([step(4)])).toBe(false);
    expect(logged([step(5)])).toBe(true);
    expect(logged([step(9)], { percent: 5, atMs: 2000 })).toBe(false);
    expect(logged([step(10)], { percent: 9, atMs: 2000 })).toBe(true);
    // A job that does not say how long its way is has no twentieths.
    expect(logged([said("progress", { current: 70 })])).toBe(false);
  });

  test("at a question and at its end", () => {
    const asks = phase("awaiting_approval");
    expect(logged([asks])).toBe(true);
    const { question } = after(asks);
    const asked = { phase: "awaiting_approval", atMs: 2000, ...(question && { question }) };
    expect(logged([asks], asked)).toBe(false);
    expect(logged([asks, step(1)], asked)).toBe(true);
  });

  test("at a budget that is used up, and when it no longer is", () => {
    const purse = purseOf("USD:1");
    const pulse = newPulse(2000);
    const none = { atMs: 2000 };
    expect(isWorthLogging(pulse, purse, none)).toBe(false);
    charge(purse, "USD", amountOf("1") ?? 0n);
    expect(isWorthLogging(pulse, purse, none)).toBe(true);
    const asked = { ...none, ...progressOf(pulse, purse) };
    expect(isWorthLogging(pulse, purse, asked)).toBe(false);
    expect(isWorthLogging(pulse, purseOf("USD:1"), asked)).toBe(true);
  });

  test("once a minute, if it says anything at all", () => {
    const thought = said("thought", { text: "hm" });
    const { pulse } = after(thought);
    const atMs = pulse.lastAtMs - PROGRESS.everyMs;
    expect(isWorthLogging(pulse, purseOf(), { atMs: atMs + 1 })).toBe(false);
    expect(isWorthLogging(pulse, purseOf(), { atMs })).toBe(true);
  });

  test("as words that are bounded, whatever the job says", () => {
    const { activity, phase: told } = after(phase("x".repeat(256)));
    expect(told).toHaveLength(PROGRESS.textLength);
    expect(activity.message).toHaveLength(PROGRESS.textLength);
  });
});
