import { expect, test } from "vitest";
import type { LeaseShape, ReceivedEvent } from "../../wires/arcp/client/types.ts";
import { readEvent } from "../../core/jobs/event-reading.ts";
import { amountOf } from "../../core/jobs/decimal.ts";
import { Gauges, gaugeSentence } from "./gauges.ts";

function event(kind: string, body: Readonly<Record<string, unknown>>): ReceivedEvent {
  const read = readEvent(kind, body);
  if (!read) throw new Error(`no event: ${kind}`);
  return { ...read, seq: 1, ts: "2026-11-15T10:00:00Z", raw: body };
}

function gauges(...events: readonly ReceivedEvent[]): Gauges {
  const all = gaugesOf("2.50");
  for (const each of events) all.take(each);
  return all;
}

function gaugesOf(left: string, lease: LeaseShape = {}): Gauges {
  return new Gauges({ budget: new Map([["USD", amountOf(left) ?? 0n]]), lease });
}

test("the bar shows how far it is, and never more than all", () => {
  const at = (current: number, total?: number) =>
    gauges(event("progress", { current, ...(total !== undefined && { total }), units: "files" }));
  expect(at(1, 4).progress(8)).toBe("[██░░░░░░] 1/4 files");
  expect(at(9, 4).progress(8)).toBe("[████████] 9/4 files");
  expect(at(7).progress(8)).toBe("7 files");
  expect(gauges(event("status", { phase: "reading" })).progress(8)).toBe("reading");
});

test("costs are taken off the budget, exactly; what the runtime says is left counts more", () => {
  const cost = event("metric", { name: "cost.inference", value: 0.1, unit: "USD" });
  const foreign = event("metric", { name: "cost.inference", value: 9, unit: "EUR" });
  expect(gauges(cost, cost, cost, foreign).budget(5)).toEqual(["USD [████░] 2.2 of 2.5 left"]);
  const told = event("metric", { name: "cost.budget.remaining", value: 1.25, unit: "USD" });
  expect(gauges(cost, told).budget(4)).toEqual(["USD [██░░] 1.25 of 2.5 left"]);
  const over = event("metric", { name: "cost.x", value: 2.62, unit: "USD" });
  expect(gauges(over).budget(4)).toEqual(["USD [░░░░] -0.12 of 2.5 left"]);
});

test("a job that is followed later has spent already: its lease says of how much", () => {
  const left = (...budget: string[]) => gaugesOf("30.95", { "cost.budget": budget }).budget(5);
  expect(left("USD:50", "EUR:1")).toEqual(["USD [███░░] 30.95 of 50 left"]);
  expect(left("from another runtime")).toEqual(["USD [█████] 30.95 of 30.95 left"]);
});

test("what an agent says never moves a cursor", () => {
  const message = "\u001b[2J\u001b]0;title\u0007one\ntwo\u202e";
  expect(gauges(event("progress", { current: 1, message })).progress(8)).toBe("1 · one two");
  expect(gauges(event("status", { phase: message })).progress(8)).toBe("one two");
});

test("every kind of event has its sentence", () => {
  const failed = { call_id: "c", error: { code: "TIMEOUT", message: "late", retryable: true } };
  expect([
    gaugeSentence(event("log", { level: "warn", message: "slow" })),
    gaugeSentence(event("tool_call", { tool: "search", args: { q: 1 }, call_id: "c" })),
    gaugeSentence(event("tool_result", failed)),
    gaugeSentence(event("artifact_ref", { uri: "a://b", content_type: "text/html" })),
    gaugeSentence(event("delegate", { agent: "linter", child_job_id: "job_1" })),
    gaugeSentence(event("x-vendor.acme.gpu", { util: 1 })),
  ]).toEqual([
    "warn  slow",
    'calls search {"q":1}',
    "got TIMEOUT: late",
    "made a://b (text/html)",
    "asks linter job_1",
    'x-vendor.acme.gpu {"util":1}',
  ]);
});
