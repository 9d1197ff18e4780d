import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const SECOND = 1000;

/** What the program prints and ends with, but for how long it took. */
function run(...args: readonly string[]): readonly [status: number | null, output: string] {
  const program = ["scripts/run-ts.mjs", "test/simulation/main.ts"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...program, ...args], {
    encoding: "utf8",
  });
  return [status, `${stdout}${stderr}`.replace(/ in [\d.]+ s:/, ":")];
}

test("lives on two threads are told as those on one are", { timeout: 180 * SECOND }, () => {
  const lives = ["--seeds", "12", "--first", "700001"];
  const [status, output] = run(...lives, "--threads", "1");
  expect(status).toBe(0);
  expect(output).toContain("12 lives");
  expect(run(...lives, "--threads", "2")).toEqual([status, output]);
});

test(
  "lives on two threads fail at the same seeds, with the same transcripts",
  { timeout: 180 * SECOND },
  () => {
    const lives = ["--seeds", "20", "--plant", "caller forgotten"];
    const [status, output] = run(...lives, "--threads", "1");
    expect(status).toBe(1);
    expect(output).toContain("5 failed");
    expect(run(...lives, "--threads", "2")).toEqual([status, output]);
  },
);
