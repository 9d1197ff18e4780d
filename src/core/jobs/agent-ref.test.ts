import { expect, test } from "vitest";
import { agentRefOf, agentRefText, resolveAgent } from "./agent-ref.ts";
import { instantOf, utcInstantOf } from "./instant.ts";
import { AGENT } from "./limits.ts";
import { isJobStatus, isTerminal } from "./outcome.ts";

test.each(["echo", "9lives", "Echo", "a.b_c-d", "code-refactor@1.0.0", "x@1.0+build", "x@-"])(
  "%j names an agent",
  (text) => {
    const ref = agentRefOf(text);
    expect(ref && agentRefText(ref)).toBe(text);
  },
);

test.each(["", "@bad", "-x", ".x", "a b", "a/b", "a@", "a@1@2", "é", "a\n", "a@1\n"])(
  "%j names none",
  (text) => expect(agentRefOf(text)).toBeUndefined(),
);

test("names and versions have a bound", () => {
  expect(agentRefOf("a".repeat(AGENT.nameLength + 1))).toBeUndefined();
  expect(agentRefOf(`a@${"1".repeat(AGENT.versionLength + 1)}`)).toBeUndefined();
});

const REFACTOR = { name: "code-refactor", versions: ["1.0.0", "2.0.0", "3.0.0-rc"] };

test.each([
  ["code-refactor@1.0.0", "2.0.0", "code-refactor@1.0.0"],
  ["code-refactor", "2.0.0", "code-refactor@2.0.0"],
  ["code-refactor", undefined, "code-refactor@3.0.0-rc"],
  ["code-refactor@9", "2.0.0", "AGENT_VERSION_NOT_AVAILABLE"],
  ["code-refactor", "9", "AGENT_VERSION_NOT_AVAILABLE"],
  ["nope", "2.0.0", "AGENT_NOT_AVAILABLE"],
])("%s with default %s is %s", (text, byDefault, expected) => {
  const listing = byDefault === undefined ? REFACTOR : { ...REFACTOR, default: byDefault };
  const resolved = resolveAgent(agentRefOf(text) ?? { name: "", version: undefined }, listing);
  expect(resolved.ok ? agentRefText(resolved.ref) : resolved.code).toBe(expected);
});

test("an agent without versions has a bare name, and no version can be asked of it", () => {
  const echo = { name: "echo", versions: [] };
  expect(resolveAgent({ name: "echo", version: undefined }, echo)).toEqual({
    ok: true,
    ref: { name: "echo", version: undefined },
  });
  const versioned = resolveAgent({ name: "echo", version: "1" }, echo);
  expect(versioned).toMatchObject({ ok: false, code: "AGENT_VERSION_NOT_AVAILABLE" });
  expect(resolveAgent({ name: "echo", version: undefined }, undefined)).toMatchObject({
    code: "AGENT_NOT_AVAILABLE",
  });
});

test("a moment has an offset; in UTC, that of UTC", () => {
  const ms = Date.parse("2036-01-01T00:00:00Z");
  for (const text of ["2036-01-01T00:00:00Z", "2036-01-01T00:00:00.000+00:00"]) {
    expect(utcInstantOf(text)).toBe(ms);
  }
  expect(utcInstantOf("2036-01-01T02:00:00+02:00")).toBeUndefined();
  expect(instantOf("2036-01-01T02:00:00+02:00")).toBe(ms);
  for (const text of ["yesterday", "2036-01-01", "2036-01-01T00:00:00", "2036-13-01T00:00:00Z"]) {
    expect(instantOf(text)).toBeUndefined();
  }
});

test("four states of a job are ends", () => {
  expect(isJobStatus("timed_out")).toBe(true);
  expect(isJobStatus("toString")).toBe(false);
  expect(isTerminal("cancelled")).toBe(true);
  expect(isTerminal("running")).toBe(false);
});
