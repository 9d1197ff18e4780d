import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { environment, programFile } from "./programs.ts";

const ROUNDS = 20;
const TIMES_BARE_NODE = 2.5;

function timed(args: readonly string[]): number {
  const startedAt = performance.now();
  spawnSync(process.execPath, args, { env: environment(tmpdir()), stdio: "ignore" });
  return performance.now() - startedAt;
}

test("a command starts in less than 2.5 times what node itself takes", { timeout: 60_000 }, () => {
  const bare: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(timed(["-e", "0"]));
    ours.push(timed([programFile("rollcall"), "version"]));
  }
  // The best of each, taken in turns: what else the machine does only ever adds.
  expect(Math.min(...ours)).toBeLessThan(TIMES_BARE_NODE * Math.min(...bare));
});
