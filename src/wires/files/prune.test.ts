import * as fs from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { prune } from "./prune.ts";
import { NOW_MS, scratch, statusOf } from "../../../test/support/files/fixture.ts";
import { writeTimestamp } from "./timestamp.ts";
import { writeStatusSync } from "./write.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;

function fill(folder: string): void {
  const agents = [
    ["fresh", "running", 10],
    ["silent", "running", 2 * HOUR],
    ["silent-long", "running", 2 * DAY],
    ["stopped", "stopped", 2 * HOUR],
    ["stopped-long", "stopped", 3 * DAY],
    ["at-the-edge", "running", DAY],
    ["tomorrow", "running", -DAY],
  ] as const;
  for (const [agent_id, lifecycle, seconds] of agents) {
    const updated_at = writeTimestamp(NOW_MS - seconds * 1000);
    writeStatusSync(statusOf({ agent_id, runtime: { lifecycle, updated_at } }), folder);
  }
  fs.writeFileSync(join(folder, "broken.json"), "{");
}

function pruned(folder: string, options: Parameters<typeof prune>[0]): readonly string[] {
  const removed = prune({ folder, nowMs: NOW_MS, ...options });
  for (const path of removed) expect(fs.existsSync(path)).toBe(false);
  return removed.map((path) => path.slice(folder.length + 1, -".json".length));
}

test("a day later what is stale or stopped goes, and nothing else", () => {
  using folder = scratch();
  fill(folder.path);
  expect(pruned(folder.path, {})).toEqual(["silent-long", "stopped-long"]);
  expect(fs.readdirSync(folder.path)).toHaveLength(6);
  expect(pruned(folder.path, {})).toEqual([]);
});

test("sooner, if told so", () => {
  using folder = scratch();
  fill(folder.path);
  expect(pruned(folder.path, { pruneAfterMs: HOUR * 1000 })).toEqual([
    "silent",
    "stopped",
    "at-the-edge",
    "silent-long",
    "stopped-long",
  ]);
});

test("with keepStopped those that stopped stay until they are stale as well", () => {
  using folder = scratch();
  fill(folder.path);
  const options = { pruneAfterMs: HOUR * 1000, staleAfterMs: 2.5 * DAY * 1000 };
  expect(pruned(folder.path, { ...options, keepStopped: true })).toEqual(["stopped-long"]);
  expect(pruned(folder.path, options)).toEqual(["stopped"]);
});

test("where there is nothing, nothing is removed", () => {
  using folder = scratch();
  expect(prune({ folder: join(folder.path, "none") })).toEqual([]);
});
