/** Files that are no status, each broken in its own way, and the times that a status may hold. */

const NOW = "2026-06-20T16:45:00Z";

const runtime = { lifecycle: "running", updated_at: NOW };
const whole = {
  schema_version: "agent-status/v1alpha1",
  agent_id: "pi-1",
  agent_name: "pi",
  runtime,
};
const goal = { summary: "fair", updated_at: NOW, source: "initial-prompt" };

/** The status with other fields; undefined takes one out. */
function changed(fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...whole, ...fields });
}

function at(fields: Readonly<Record<string, unknown>>): string {
  return changed({ runtime: { ...runtime, ...fields } });
}

const TEXT = JSON.stringify(whole, undefined, 2);

export const BROKEN: readonly string[] = [
  // Not JSON.
  "",
  " \n ",
  "hello",
  "{",
  "[",
  "{}x",
  '{"a" 1}',
  '{"a": 1,}',
  '{"a": 1 "b": 2}',
  '{"a": }',
  "{'a': 1}",
  "{a: 1}",
  "[1,]",
  "[1 2]",
  "nul",
  "tru",
  "-",
  "+1",
  ".5",
  "1.",
  "01",
  "0x10",
  "1 2",
  '"open',
  '"open\\',
  '"tab\tinside"',
  '"line\ninside"',
  '"bad \\x escape"',
  '"bad \\u12 escape"',
  '"bad \\u12g4 escape"',
  '"short \\u12',
  "\ufeff{}",
  '{"😀😀": [1, 2, x]}',
  '{\r\n  "a": 1,\r\n  b\r\n}',
  `${TEXT}}`,
  TEXT.slice(0, -1),
  TEXT.slice(0, 60),
  TEXT.replace(",", ""),
  TEXT.replace(":", ""),
  TEXT.replaceAll('"', "'"),
  `// comment\n${TEXT}`,
  // JSON, and no status.
  "null",
  "[]",
  '"text"',
  "5",
  "NaN",
  "{}",
  changed({ schema_version: undefined }),
  changed({ schema_version: null }),
  changed({ schema_version: "" }),
  changed({ schema_version: 1 }),
  changed({ schema_version: "agent-status/v2" }),
  changed({ agent_id: undefined, agent_name: null }),
  changed({ agent_id: "", agent_name: [] }),
  changed({ runtime: undefined }),
  changed({ runtime: null }),
  changed({ runtime: "running" }),
  changed({ runtime: [] }),
  at({ lifecycle: undefined }),
  at({ lifecycle: "asleep" }),
  at({ lifecycle: "Running" }),
  at({ lifecycle: 1 }),
  at({ updated_at: undefined }),
  at({ updated_at: "" }),
  at({ updated_at: 1_781_974_000 }),
  at({ updated_at: "yesterday" }),
  at({ updated_at: "2026-06-20" }),
  at({ updated_at: "2026-06-20T16:45:00" }),
  at({ updated_at: "2026-02-30T16:45:00Z" }),
  at({ last_activity_at: null }),
  at({ last_activity_at: "soon" }),
  at({ pid: "7" }),
  at({ pid: 7.5 }),
  at({ pid: null }),
  at({ pid: 7 }).replace('"pid":7', '"pid": 7.0'),
  at({ pid: 7 }).replace('"pid":7', '"pid":7e0'),
  at({ pid: [] }),
  at({ workspace: 5 }),
  at({ workspace: null }),
  changed({ goal: "fair" }),
  changed({ goal: {} }),
  changed({ goal: { ...goal, summary: "" } }),
  changed({ goal: { ...goal, updated_at: "now" } }),
  changed({ goal: { ...goal, updated_at: 5 } }),
  changed({ goal: { ...goal, source: "rumour" } }),
  changed({ goal: { ...goal, source: null } }),
  changed({ task: "working" }),
  changed({ task: [] }),
  changed({ task: { state: "" } }),
  changed({ task: { state: 5 } }),
  changed({ task: { state: "idle" } }),
  changed({ task: { state: "stale" } }),
  changed({ task: { id: 1, context_id: null, summary: [] } }),
  changed({ task: { status_timestamp: null } }),
  changed({ task: { status_timestamp: "2026-06-20T16:45" } }),
  changed({ a2a: true }),
  changed({ a2a: { agent_card_url: 1, service_url: null } }),
  changed({ x_meta: "text" }),
  changed({ x_meta: 0 }),
  changed({ x_meta: [] }),
  JSON.stringify({
    schema_version: "2",
    agent_id: 1,
    runtime: { pid: "x" },
    goal: 1,
    task: 1,
    a2a: 1,
  }),
];

export const SOUND: readonly string[] = [
  TEXT,
  TEXT.replaceAll("\n", "\r\n"),
  changed({
    goal,
    task: { state: "working", summary: "日本語 😀 \u001b[31m" },
    zebra: 1,
    Alpha: {},
  }),
  changed({ goal: null, task: null, a2a: null, x_meta: null }),
  changed({ task: {}, a2a: {}, x_meta: {} }),
  changed({ task: { state: null } }),
  changed({ x_meta: { "\uffee": 1, "😀": 2, é: 3, "": 4, list: [[], [1, [2]], {}] } }),
  changed({ x_meta: 0 }).replace(
    '"x_meta":0',
    '"x_meta": {"big": 12345678901234567890, "float": 1.0, "e": 1e5, "huge": 1E+400, "tiny": ' +
      '0.00001, "minus": -0, "zero": -0.0, "third": 0.1, "nan": NaN, "inf": [-Infinity], "e16": ' +
      "1e16, ".concat('"e15": 1e15, "twice": 1, "twice": 2, "half": "\\ud83d", "slash": "\\/"}'),
  ),
  at({ pid: -5, workspace: "", last_activity_at: "2026-06-20T16:45:00.123456+02:00" }),
];

const DATES = [
  "2026-06-20",
  "20260620",
  "2024-02-29",
  "2026-02-29",
  "2026-13-01",
  "0000-01-01",
  "26-06-20",
];
const TIMES = [
  "T16:45:00",
  " 16:45",
  "T16",
  "x164500",
  "T1645",
  "T24:00:00",
  "T16:60",
  "T16:45:60",
];
const FRACTIONS = ["", ".5", ",123456", ".1234567"];
const ZONES = ["Z", "+00:00", "-0730", "+05", "+23:59", "+24:00", "", "z", "+5"];

/** Every form of a date with every form of a time: most of them wrong. */
export const TIMESTAMPS: readonly string[] = [
  ...DATES.flatMap((date) =>
    TIMES.flatMap((time) =>
      FRACTIONS.flatMap((fraction) => ZONES.map((zone) => date + time + fraction + zone)),
    ),
  ),
  "2026-06-20",
  "2026-06-20Z",
  "Z",
  "2026-06-20T",
  "2026-06-20T16:45:00+01:02:03",
  "2026-06-20T16:45:00Zjunk",
  "２０２６-06-20T16:45:00Z",
];
