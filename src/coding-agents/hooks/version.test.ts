import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { versionOf } from "./version.ts";

test.each([
  ["package/dist/cli.mjs", "3.4.5"],
  ["versions/2.1.7/cli.mjs", "2.1.7"],
])("the version of %s, that node runs, is %s", async (name, version) => {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-version-"));
  mkdirSync(join(folder, name, ".."), { recursive: true });
  mkdirSync(join(folder, "package/dist"), { recursive: true });
  writeFileSync(join(folder, "package/package.json"), '{ "version": "3.4.5" }');
  // A package that has no version is none of a program.
  writeFileSync(join(folder, "package/dist/package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, name), "console.log(1); process.stdin.resume();");
  const child = spawn(process.execPath, [join(folder, name)], { stdio: "pipe" });
  await once(child.stdout, "data");
  expect(versionOf(child.pid ?? 0)).toBe(version);
  child.kill();
  rmSync(folder, { recursive: true });
});

test("of a process that is gone there is none", () => {
  expect(versionOf(2 ** 30)).toBeUndefined();
});
