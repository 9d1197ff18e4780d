import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { STATUS_SCHEMA } from "./schema.ts";
import { NOW, statusOf } from "../../../test/support/files/fixture.ts";
import { isStatus, validate } from "./validate.ts";

const full = statusOf({
  runtime: { last_activity_at: NOW, pid: 7, workspace: "/src" },
  goal: { summary: "fair", updated_at: NOW, source: "initial-prompt" },
  task: { id: "t", context_id: "c", state: "working", summary: "s", status_timestamp: NOW },
  a2a: { agent_card_url: "http://x", service_url: "http://y" },
  x_meta: { anything: [1, { deep: null }] },
});

test("the least and the most that a status can say are valid", () => {
  expect(validate(statusOf())).toEqual([]);
  expect(validate(full)).toEqual([]);
  expect(isStatus(full)).toBe(true);
});

test("unknown fields are allowed everywhere, and optional parts may be null", () => {
  const status = { ...full, extra: 1, runtime: { ...full.runtime, extra: 1 }, goal: null };
  expect(validate({ ...status, task: null, a2a: null, x_meta: null })).toEqual([]);
});

test.each([[null], ["text"], [[]], [5]])("%j is no status", (value) => {
  expect(validate(value)).toEqual(["payload must be object"]);
});

test("every error is told, in order", () => {
  const value = {
    schema_version: "agent-status/v2",
    agent_id: "",
    runtime: {
      lifecycle: "asleep",
      updated_at: "noon",
      last_activity_at: null,
      pid: "7",
      workspace: 5,
    },
    goal: { updated_at: "2026-06-20", source: "rumour" },
    task: { state: "idle", id: 5, status_timestamp: "" },
    a2a: { service_url: null },
    x_meta: [],
  };
  expect(validate(value)).toEqual([
    "unsupported schema_version: agent-status/v2",
    "field must be non-empty string: agent_id",
    "missing required field: agent_name",
    "invalid runtime.lifecycle: asleep",
    "invalid timestamp: noon",
    "runtime.last_activity_at: timestamp must be non-empty string",
    "runtime.pid must be integer",
    "runtime.workspace must be string",
    "missing required field: goal.summary",
    "goal.updated_at: timestamp must include timezone: 2026-06-20",
    "invalid goal.source: rumour",
    "invalid task.state: idle",
    "task.id must be string",
    "task.status_timestamp: timestamp must be non-empty string",
    "a2a.service_url must be string",
    "x_meta must be object",
  ]);
});

test("a runtime that says nothing is not enough", () => {
  expect(validate({ ...statusOf(), runtime: {} })).toEqual([
    "missing required field: runtime.lifecycle",
    "missing required field: runtime.updated_at",
  ]);
});

describe("the schema", () => {
  /** Any value at any place of a status, or nothing there at all. */
  const broken = fc
    .record({
      path: fc.constantFrom(...pathsOf(full)),
      value: fc.oneof(
        fc.constantFrom(undefined, null, "", "text", NOW, 1, 1.5, true, "working", "running"),
        fc.jsonValue({ maxDepth: 2 }),
      ),
    })
    .map(({ path, value }) => replaced(full, path, value));

  test("and the validator agree on whatever is broken", () => {
    fc.assert(
      fc.property(broken, (value) => {
        expect(fits(STATUS_SCHEMA, value)).toBe(validate(value).length === 0);
      }),
      { numRuns: 2000 },
    );
  });

  test("knows every field that the validator knows", () => {
    for (const path of pathsOf(full).filter(([first]) => first !== "x_meta")) {
      const value = replaced(full, path, 1.5);
      const isRefused = {
        validator: validate(value).length > 0,
        schema: !fits(STATUS_SCHEMA, value),
      };
      expect({ path, ...isRefused }).toEqual({ path, validator: true, schema: true });
    }
  });
});

function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null || path[0] === "x_meta") return [path];
  const below = Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]));
  return path.length === 0 ? below : [path, ...below];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const fields = value as Record<string, unknown>;
  const { [key]: old, ...others } = fields;
  const fresh = replaced(old, rest, by);
  return fresh === undefined ? others : { ...others, [key]: fresh };
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** As much of JSON Schema as ours uses. */
function fits(schema: Schema, value: unknown): boolean {
  const { type, minLength = 0, required = [], properties = {} } = schema;
  if (schema.const !== undefined && value !== schema.const) return false;
  if (schema.enum && !schema.enum.includes(value)) return false;
  if (type !== undefined && ![type].flat().some((each) => isOfType(each, value))) return false;
  if (typeof value === "string" && value.length < minLength) return false;
  if (schema.format === "date-time" && !MOMENT.test(String(value))) return false;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
  const fields = value as Readonly<Record<string, unknown>>;
  return (
    required.every((key) => key in fields) &&
    Object.entries(properties).every(([key, each]) => !(key in fields) || fits(each, fields[key]))
  );
}

function isOfType(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "object") {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }
  return typeof value === type;
}
