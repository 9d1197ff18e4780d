import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { closeFolder, makeFolder } from "./folders.ts";

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

test("others may no longer write in a folder, and one for all users is refused", () => {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-folders-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const modeAfter = (mode: number) => {
    fs.chmodSync(folder, mode);
    return [closeFolder(folder), fs.statSync(folder).mode & 0o777];
  };
  expect(modeAfter(0o777)).toEqual([0o777, 0o755]);
  expect(modeAfter(0o770)).toEqual([0o770, 0o750]);
  expect(modeAfter(0o755)).toEqual([undefined, 0o755]);
  expect(() => modeAfter(0o1777)).toThrow("other users may write in it (mode 1777)");
});
