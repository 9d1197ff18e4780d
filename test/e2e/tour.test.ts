/** `npm run tour` as a person starts it, and as CI does. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { root } from "../../scripts/root.mjs";
import { Actor } from "../tour/actor.ts";
import { STEPS } from "../tour/steps/index.ts";
import { until } from "../tour/until.ts";

const PATIENT = { timeout: 180_000 };

function tour(...args: readonly string[]): Actor {
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], CI: process.env["CI"] };
  const command = [process.execPath, join(root, "scripts/tour.mjs"), ...args];
  return new Actor(command, { env, cwd: root });
}

/** Processes that live in this folder. */
function processesOf(home: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`HOME=${home}\0`);
    } catch {
      return false;
    }
  });
}

test("the tour shows all that it says, and leaves nothing behind", PATIENT, async () => {
  await using running = tour("--fast");
  const { code } = await running.ended;
  expect(code, `${running.output}${running.errors}`).toBe(0);
  for (const { title } of STEPS) expect(running.output).toContain(title);
  expect(running.output).not.toContain("✗");
  const left = running.output.match(/^ {2}· Left out/gm) ?? [];
  const missing = { workers: lacks("agentkeeper-sdk"), postgres: lacks("postgres") };
  const needy = STEPS.filter(({ needs }) => needs !== undefined && missing[needs]);
  expect(left).toHaveLength(needy.length);
  expect(running.output.match(/^ {2}✓ /gm)?.length).toBeGreaterThanOrEqual(STEPS.length);
  const [, home = ""] = /sqlite at (\S+)\/state\/rollcall/.exec(running.output) ?? [];
  expect(home).not.toBe("");
  expect(existsSync(home)).toBe(false);
  expect(processesOf(home)).toEqual([]);
});

test("who interrupts it leaves nothing behind, either", PATIENT, async () => {
  await using running = tour("--fast");
  const [, home = ""] = await running.says(/sqlite at (\S+)\/state\/rollcall/);
  await running.says(/Workers, in Python/);
  process.kill(running.pid, "SIGINT");
  expect(await running.ended).toEqual({ code: 130, signal: null });
  expect(existsSync(home)).toBe(false);
  await until("everybody's end", () => processesOf(home).length === 0 || undefined);
});

test("a flag that there is not is told", PATIENT, async () => {
  await using running = tour("--slow");
  expect(await running.ended).toMatchObject({ code: 2 });
  expect(running.errors).toContain("npm run tour [-- --fast]");
});
