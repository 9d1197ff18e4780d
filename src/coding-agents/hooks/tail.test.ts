import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WITNESS } from "./limits.ts";
import { FileTail } from "./tail.ts";

let folder = "";
let path = "";
let reads = 0;
let noticed: () => void = () => undefined;

const lastOf = (lines: readonly string[]) => {
  reads += 1;
  return lines.findLast((line) => line !== "");
};

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "rollcall-tail-"));
  path = join(folder, "file");
  reads = 0;
});

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

test("a file that did not change is not read again", () => {
  using tail = new FileTail(lastOf, () => undefined);
  fs.writeFileSync(path, "one\n");
  expect([tail.of(path), tail.of(path)]).toEqual(["one", "one"]);
  expect(reads).toBe(1);
  fs.appendFileSync(path, "two\n");
  expect(tail.of(path)).toBe("two");
});

test("a file that is not there says nothing, and is read when it is", () => {
  using tail = new FileTail(lastOf, () => undefined);
  expect([tail.of(undefined), tail.of(path), tail.isWatched]).toEqual([
    undefined,
    undefined,
    false,
  ]);
  fs.writeFileSync(path, "one\n");
  expect(tail.of(path)).toBe("one");
});

test("tells of every change, also of a file that took its place", async () => {
  using tail = new FileTail(lastOf, () => noticed());
  fs.writeFileSync(path, "one\n");
  tail.of(path);
  expect(tail.isWatched).toBe(true);
  for (const text of ["two", "three"]) {
    const told = new Promise<void>((resolve) => (noticed = resolve));
    fs.writeFileSync(join(folder, "next"), `${text}\n`);
    fs.renameSync(join(folder, "next"), path);
    await told;
    expect(tail.of(path)).toBe(text);
  }
});

test("of a long file only whole lines at its end are read", () => {
  const seen: number[] = [];
  using tail = new FileTail(
    (lines) => seen.push(...lines.map(({ length }) => length)),
    () => undefined,
  );
  fs.writeFileSync(path, `${"x".repeat(WITNESS.tailBytes)}\nshort\n`);
  tail.of(path);
  expect(seen).toEqual(["short".length, 0]);
});
