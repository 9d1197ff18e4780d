import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeFolder } from "./folders.ts";

const place = fs.mkdtempSync(join(tmpdir(), "rollcall-folders-"));
afterAll(() => fs.rmSync(place, { recursive: true }));

test("a folder is made with those above it, all for their owner alone", () => {
  const path = join(place, "a", "b");
  makeFolder(path, 0o700);
  makeFolder(path, 0o700);
  for (const each of [path, join(place, "a")]) expect(fs.statSync(each).mode & 0o777).toBe(0o700);
});

test("a file in the way is told", () => {
  fs.writeFileSync(join(place, "file"), "");
  expect(() => makeFolder(join(place, "file"))).toThrow("EEXIST");
  expect(() => makeFolder(join(place, "file", "below"))).toThrow("ENOTDIR");
});

test.skipIf(process.platform !== "linux")("a place that takes no folders is told at once", () => {
  expect(() => makeFolder("/proc/rollcall/state")).toThrow("no folder can be made in /proc");
});
