import { describe, expect, test } from "vitest";
import { rowOf } from "../../fleet/row.ts";
import { DEFAULT_PATIENCE } from "../../fleet/stuck.ts";
import { LIFECYCLES, TASK_STATES, type Status } from "./format.ts";
import { headlineOf, judgeFile } from "./judgement.ts";
import { vitalityOf, type Signs } from "./liveness.ts";
import type { StatusFile } from "./read.ts";
import { reportOf } from "./report.ts";
import { NOW_MS, statusOf } from "../../../test/support/files/fixture.ts";
import { timestampMs, writeTimestamp } from "./timestamp.ts";

const HERE = 7;
const signs: Signs = {
  nowMs: NOW_MS,
  staleAfterMs: 60_000,
  processes: {
    find: (pid) => (pid === HERE ? { pid, start: "1" } : undefined),
    startedAtMs: () => NOW_MS - 24 * 3600_000,
  },
};

type Changes = Parameters<typeof statusOf>[0];

function fileOf(changes: Changes): StatusFile {
  const status = statusOf(changes);
  const updatedAtMs = timestampMs(status.runtime.updated_at);
  return { kind: "status", path: "", status, updatedAtMs, oddities: [] };
}

function headlineOfRow(file: StatusFile): string {
  const vitality = vitalityOf({ file, writer: undefined }, signs);
  const report = reportOf(file, { host: "box", ...vitality, inStateSinceMs: file.updatedAtMs });
  return rowOf({ id: "a", sources: [report] }, { nowMs: NOW_MS, patience: DEFAULT_PATIENCE })
    .headline;
}

const TASKS: readonly Status["task"][] = [
  undefined,
  null,
  {},
  { summary: "no state" },
  ...TASK_STATES.map((state) => ({ state })),
];

function ago(seconds: number): string {
  return writeTimestamp(NOW_MS - seconds * 1000);
}

/** Every way in which processes and times can stand. */
const RUNTIMES = [undefined, HERE, 8, -1].flatMap((pid) =>
  [0, 61, 3600].flatMap((updated) =>
    [undefined, 0, 601, 1801].map((active) => ({
      updated_at: ago(updated),
      ...(pid !== undefined && { pid }),
      ...(active !== undefined && { last_activity_at: ago(active) }),
    })),
  ),
);

describe.each(LIFECYCLES)(
  "a file that is %s has the headline that the fleet gives its row",
  (lifecycle) => {
    test.each(TASKS.map((task) => [task] as const))("with the task %j", (task) => {
      for (const runtime of RUNTIMES) {
        const times = [undefined, ago(5), ago(700)];
        for (const status_timestamp of task ? times : [undefined]) {
          const timed = task && { ...task, ...(status_timestamp && { status_timestamp }) };
          const about = {
            runtime: { lifecycle, ...runtime },
            ...(task !== undefined && { task: timed }),
          };
          const file = fileOf(about as Changes);
          const { headline } = judgeFile(file, signs);
          expect({ about, headline }).toEqual({ about, headline: headlineOfRow(file) });
        }
      }
    });
  },
);

test.each([
  ["GONE", "works, and its process is gone", { pid: 8 }, { state: "working" }],
  ["GONE", "asks, and its process is gone", { pid: 8 }, { state: "input-required" }],
  [
    "WORKING",
    "is silent, but its process is there",
    { pid: HERE, updated_at: ago(61) },
    { state: "working" },
  ],
  ["PROBLEM", "did nothing for too long", { last_activity_at: ago(601) }, { state: "working" }],
  ["WORKING", "does not tell what it does", {}, { state: "working" }],
  ["PROBLEM", "fell silent at work", { updated_at: ago(61) }, { state: "working" }],
  ["IDLE", "fell silent at nothing", { updated_at: ago(61) }, null],
  ["PROBLEM", "asked and fell silent", { updated_at: ago(61) }, { state: "input-required" }],
] as const)("%s: of one that %s", (...given) => {
  const [headline, , runtime, task] = given;
  expect(judgeFile(fileOf({ runtime, task }), signs).headline).toBe(headline);
});

test("the processes of this machine are looked at", () => {
  const { pid } = process;
  const file = fileOf({ runtime: { pid, updated_at: writeTimestamp(Date.now()) } });
  expect(headlineOf(file, { nowMs: Date.now() })).toBe("IDLE");
});

test("whatever lies in the meta of a file, its headline can be told", () => {
  const odd: unknown = JSON.parse('{ "toString": 1, "valueOf": 1 }');
  for (const options of [[odd], [[odd]], [null], ["a", odd, 7]]) {
    const x_meta = { rollcall: { question: { options, text: odd }, process: odd, acp: odd } };
    const file = fileOf({ task: { state: "input-required" }, x_meta });
    expect(headlineOfRow(file)).toBe("NEEDS YOU");
    expect(judgeFile(file, signs).headline).toBe("NEEDS YOU");
  }
});
