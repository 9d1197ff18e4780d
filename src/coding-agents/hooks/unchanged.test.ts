import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Unchanged } from "./unchanged.ts";

let folder = "";
let reads = 0;

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "rollcall-unchanged-"));
  reads = 0;
});

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

/** As if what is there now had been there for long. */
function later(): void {
  const nowMs = Date.now();
  vi.spyOn(Date, "now").mockReturnValue(nowMs + 10_000);
}

const unchanged = new Unchanged<readonly string[]>();

const names = () =>
  unchanged.read(folder, () => {
    reads += 1;
    return fs.readdirSync(folder);
  });

test("a folder into which nothing came is read once", () => {
  later();
  for (let i = 0; i < 5; i += 1) expect(names()).toEqual([]);
  expect(reads).toBe(1);
});

test("what came, went or took another's name is seen", () => {
  later();
  const seen = [names()];
  for (const change of [
    () => fs.writeFileSync(join(folder, "a"), ""),
    () => fs.renameSync(join(folder, "a"), join(folder, "b")),
    () => fs.rmSync(join(folder, "b")),
  ]) {
    change();
    seen.push(names(), names());
  }
  expect(seen).toEqual([[], ["a"], ["a"], ["b"], ["b"], [], []]);
});

test("a folder that has just changed is read again: a second change may have the same time", () => {
  names();
  names();
  expect(reads).toBe(2);
});

test("a folder that is gone, and one that has its name afterwards, are read anew", () => {
  later();
  names();
  fs.rmSync(folder, { recursive: true });
  expect(unchanged.read(folder, () => ["gone"])).toEqual(["gone"]);
  fs.mkdirSync(folder);
  fs.writeFileSync(join(folder, "new"), "");
  expect(names()).toEqual(["new"]);
});

test("another path has a reading of its own", () => {
  later();
  names();
  expect(unchanged.read(join(folder, ".."), () => ["another"])).toEqual(["another"]);
});
