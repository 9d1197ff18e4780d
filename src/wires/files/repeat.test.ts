import * as fs from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NOW as MOMENT, NOW_MS, scratch, statusOf } from "../../../test/support/files/fixture.ts";
import { RepeatedStatus } from "./repeat.ts";
import { writeTimestamp } from "./timestamp.ts";
import { writeHeartbeatSync } from "./write.ts";

// Fields and texts that look like the one whose value changes.
const STATUS = statusOf({
  goal: { summary: '\n    "updated_at": "', updated_at: MOMENT, source: "initial-prompt" },
  runtime: {
    last_activity_at: MOMENT,
    updated_at: MOMENT,
    workspace: '/w\n  "runtime": {\n    "updated_at": "',
  },
  task: { state: "working", status_timestamp: MOMENT, summary: `"updated_at": "${MOMENT}"` },
  x_meta: { runtime: { updated_at: MOMENT }, updated_at: MOMENT },
});

test("a status that is said again is the one that would be written anew", () => {
  using folder = scratch();
  const [again, anew] = [join(folder.path, "again"), join(folder.path, "anew")];
  const repeated = new RepeatedStatus(STATUS, again);
  for (const laterMs of [0, 30_000, 86_400_000]) {
    repeated.writeSync(NOW_MS + laterMs);
    const updated_at = writeTimestamp(NOW_MS + laterMs);
    writeHeartbeatSync({ ...STATUS, runtime: { ...STATUS.runtime, updated_at } }, anew);
    const [said, wanted] = [again, anew].map((each) => {
      return fs.readFileSync(join(each, "pi-1.json"), "utf8");
    });
    expect(said).toBe(wanted);
  }
  expect(fs.readdirSync(again)).toEqual(["pi-1.json"]);
});

test("its folder is made anew if somebody took it away", () => {
  using folder = scratch();
  const repeated = new RepeatedStatus(STATUS, join(folder.path, "made"));
  repeated.writeSync(NOW_MS);
  fs.rmSync(join(folder.path, "made"), { recursive: true });
  repeated.writeSync(NOW_MS);
  expect(fs.readdirSync(join(folder.path, "made"))).toEqual(["pi-1.json"]);
});

test("what is no status is refused before it is said", () => {
  using folder = scratch();
  const status = statusOf({ runtime: { updated_at: "yesterday" } });
  expect(() => new RepeatedStatus(status, folder.path)).toThrow("invalid timestamp: yesterday");
});
