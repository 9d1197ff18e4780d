import { expect, test } from "vitest";
import { checkBodySize, checkEvent, readEvent } from "./event-reading.ts";
import { EVENT } from "./limits.ts";

function reasonOf(kind: string, body: unknown): string | undefined {
  const checked = checkEvent(kind, body);
  return checked.ok ? undefined : checked.reason;
}

function bodyOf(kind: string, body: unknown): unknown {
  const checked = checkEvent(kind, body);
  if (!checked.ok) throw new Error(checked.reason);
  return checked.event.body;
}

/** The examples of the page: both clients' validators take each. */
const EXAMPLES = [
  ["log", { level: "warn", message: "slow disk", attributes: { ms: 812 } }],
  ["thought", { text: "retry with a smaller batch" }],
  ["tool_call", { tool: "search.web", args: { q: "arcp" }, call_id: "c-9" }],
  [
    "tool_result",
    {
      call_id: "c-9",
      error: { code: "PERMISSION_DENIED", message: "not in lease", retryable: false },
    },
  ],
  ["tool_result", { call_id: "c-9", result: [1, 2] }],
  ["tool_result", { call_id: "c-9" }],
  ["status", { phase: "credential_rotated", id: "cred_01KZ", value: "sk-new" }],
  [
    "metric",
    {
      name: "cost.inference",
      value: 0.031,
      unit: "USD",
      dimensions: { model: "tier-fast/a" },
    },
  ],
  [
    "artifact_ref",
    { uri: "arcp://artifacts/x/report.html", content_type: "text/html", byte_size: 38_211 },
  ],
  [
    "delegate",
    {
      delegate_id: "del_01KZ",
      agent: "linter",
      input: { path: "/data" },
      lease_request: { "fs.read": ["/data/**"] },
      child_job_id: "job_01KZ",
    },
  ],
  ["progress", { current: 40, total: 120, units: "files" }],
  ["progress", { current: 0.5, total: 1.5 }],
  [
    "result_chunk",
    { result_id: "res_01KZ", chunk_seq: 0, data: "aGVsbG8=", encoding: "base64", more: false },
  ],
  ["x-vendor.acme.gpu", { util: 0.8 }],
  ["x-vendor.foo", {}],
] as const;

test.each(EXAMPLES)("%s %j is kept as it is, by both ways in", (kind, body) => {
  expect(checkEvent(kind, body)).toEqual({ ok: true, event: { kind, body } });
  expect(readEvent(kind, body)).toEqual({ kind, body });
});

test.each([
  [
    "tool_call",
    { tool_call_id: "c1", name: "search", arguments: { q: "x" } },
    { tool: "search", args: { q: "x" }, call_id: "c1" },
  ],
  ["tool_result", { tool_call_id: "c1", output: [1, 2] }, { call_id: "c1", result: [1, 2] }],
  [
    "tool_result",
    { tool_call_id: "c1", error: "no such tool" },
    {
      call_id: "c1",
      error: { code: "INTERNAL_ERROR", message: "no such tool", retryable: true },
    },
  ],
  [
    "metric",
    { name: "n", value: 1, attributes: { a: "b", n: 2, deep: {} } },
    { name: "n", value: 1, dimensions: { a: "b", n: "2" } },
  ],
  [
    "metric",
    { name: "n", value: 1, dims: { a: "b" }, unit: null },
    { name: "n", value: 1, dimensions: { a: "b" } },
  ],
  [
    "artifact_ref",
    { artifact_id: "a1", media_type: "text/plain", size_bytes: 3, uri: "arcp://a/1" },
    { uri: "arcp://a/1", content_type: "text/plain", byte_size: 3 },
  ],
  ["artifact_ref", { uri: "u" }, { uri: "u", content_type: "application/octet-stream" }],
  [
    "delegate",
    { child_job_id: "job_x", agent: "child" },
    { agent: "child", child_job_id: "job_x" },
  ],
  ["log", { level: "shout", message: "" }, { level: "info", message: " " }],
  [
    "result_chunk",
    { result_id: "r", chunk_seq: 0, data: "", more: true },
    { result_id: "r", chunk_seq: 0, data: "", encoding: "utf8", more: true },
  ],
])("%s %j is read with the names of the specification", (kind, body, expected) => {
  expect(bodyOf(kind, body)).toEqual(expected);
  expect(readEvent(kind, body)).toEqual({ kind, body: expected });
});

test.each([
  ["log", {}, "body.message is missing"],
  ["log", { message: 3 }, "body.message is not text"],
  ["log", { message: "x".repeat(EVENT.textLength + 1) }, /^body\.message has 65537 characters/],
  ["log", { message: "m", attributes: [] }, "body.attributes is not an object"],
  ["thought", { text: null }, "body.text is missing"],
  ["tool_call", { tool: "t" }, "body.call_id is missing"],
  ["tool_result", { call_id: "c", result: 1, error: { code: "X", message: "m" } }, /cannot both/],
  ["tool_result", { call_id: "c", error: {} }, "body.error.code is missing"],
  ["status", { message: "m" }, "body.phase is missing"],
  ["metric", { name: "n", value: "1" }, "body.value is not a number"],
  ["metric", { name: "n", value: Infinity }, "body.value is not a number"],
  ["artifact_ref", { content_type: "x" }, "body.uri is missing"],
  ["artifact_ref", { uri: "u", byte_size: -1 }, "body.byte_size is -1, allowed is at least 0"],
  ["delegate", {}, "body.agent is missing"],
  ["progress", { current: -1 }, "body.current is -1, allowed is at least 0"],
  ["progress", { current: 3, total: 2 }, "body.current is 3, more than the total of 2"],
  ["result_chunk", { result_id: "r", chunk_seq: 0.5, data: "" }, /chunk_seq is not a whole/],
  ["result_chunk", { result_id: "r", chunk_seq: 0, data: "", encoding: "hex" }, /encoding/],
  ["mystery", {}, /kind is neither/],
  ["x-vendor.", {}, /kind is neither/],
  ["x-vendor.Acme", {}, /kind is neither/],
  ["log", "text", "body is not an object"],
])("%s %j is refused: %s", (kind, body, reason) => {
  const told = reasonOf(kind, body) ?? "accepted";
  if (typeof reason === "string") expect(told).toBe(reason);
  else expect(told).toMatch(reason);
});

// "tolerate current > total ([S] only SHOULD)"
test("a reader takes progress beyond its total", () => {
  expect(readEvent("progress", { current: 3, total: 2 })).toBeDefined();
});

// "Unknown kinds: receivers ignore"
test("a reader makes nothing of kinds and bodies it does not know", () => {
  expect(readEvent("mystery", {})).toBeUndefined();
  expect(readEvent("log", { message: 3 })).toBeUndefined();
  expect(readEvent(7, {})).toBeUndefined();
  expect(readEvent("log", null)).toBeUndefined();
});

test("no data reaches into prototypes, and none nests without end", () => {
  const trap = JSON.parse('{"a":{"__proto__":{"polluted":true}}}') as unknown;
  expect(reasonOf("x-vendor.a.b", trap)).toBe("body.* holds a field named __proto__");
  expect(reasonOf("log", { message: "m", attributes: trap })).toMatch(/__proto__/);
  expect(reasonOf("status", { phase: "p", extra: trap })).toMatch(/__proto__/);
  expect(reasonOf("metric", { name: "n", value: 1, dims: { ["__proto__"]: "x" } })).toBeDefined();
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i += 1) deep = [deep];
  expect(reasonOf("tool_call", { tool: "t", call_id: "c", args: deep })).toBe(
    "body.args nests too deep",
  );
});

test("a body is no larger than a frame can carry, counted in bytes", () => {
  expect(checkBodySize("x".repeat(EVENT.bodyBytes))).toBeUndefined();
  expect(checkBodySize("x".repeat(EVENT.bodyBytes + 1))).toMatchObject({ code: "TOO_LARGE" });
  expect(checkBodySize("é".repeat(EVENT.bodyBytes / 2 + 1))).toMatchObject({ code: "TOO_LARGE" });
});
