/** What is kept of a program (src/bin/start.ts) must never be seen by more than the time. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { environment, scratch } from "./programs.ts";

// Newer ones keep such code by themselves.
const isOurs = process.version.startsWith("v20.");
const FRONT = new URL("../../dist/bin/agent-status.cjs", import.meta.url);

describe.runIf(isOurs)("a program that is started again", () => {
  let folder: ReturnType<typeof scratch>;
  let kept: string;

  beforeEach(() => {
    folder = scratch();
    fs.copyFileSync(FRONT, join(folder.path, "front.cjs"));
    kept = join(folder.path, ".cache", "rollcall", `status.cjs-${process.version}.code`);
  });
  afterEach(() => folder[Symbol.dispose]());

  function program(text: string): void {
    fs.rmSync(join(folder.path, "status.cjs"), { force: true });
    fs.writeFileSync(join(folder.path, "status.cjs"), text);
  }

  function run(env: NodeJS.ProcessEnv = {}): string {
    const args = [join(folder.path, "front.cjs"), "word"];
    const options = { env: environment(folder.path, env), encoding: "utf8" } as const;
    const { stdout, stderr } = spawnSync(process.execPath, args, options);
    return stdout + stderr;
  }

  test("runs from the code that was kept, as from its text", () => {
    program("process.stdout.write(process.argv[2] + require('node:path').basename(__filename))");
    expect(run()).toBe("wordstatus.cjs");
    const first = fs.statSync(kept);
    expect(first.mode & 0o777).toBe(0o600);
    expect(run()).toBe("wordstatus.cjs");
    expect(fs.statSync(kept).ino).toBe(first.ino);
  });

  test("is the new one, also where it is as long as the old one", () => {
    program("process.stdout.write('one')");
    expect([run(), run()]).toEqual(["one", "one"]);
    program("process.stdout.write('two')");
    expect([run(), run()]).toEqual(["two", "two"]);
  });

  test("is compiled where nothing of use was kept, or nothing can be", () => {
    program("process.stdout.write('one')");
    run();
    fs.truncateSync(kept, 100);
    expect([run(), run()]).toEqual(["one", "one"]);
    fs.writeFileSync(kept, "");
    expect(run()).toBe("one");
    expect(run({ XDG_CACHE_HOME: "/proc/nowhere" })).toBe("one");
  });

  test("keeps nothing of a call that failed", () => {
    program("process.exitCode = 1");
    run();
    expect(fs.existsSync(kept)).toBe(false);
  });
});
