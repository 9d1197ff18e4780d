import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Random } from "../simulation/random.ts";
import { flips, judge } from "./flips.ts";
import { live } from "./life.ts";

const FLIPS = 24;

test("a bit that flips is harmless or refused with its place, and tokens never fall", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-flips-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
  process.stdout.write(`flips with SEED=${seed}\n`);
  const lives = await live(folder);
  for (const flip of flips(lives, { random: new Random(seed), count: FLIPS })) {
    const { kind } = await judge(lives, flip, join(folder, "flipped"));
    expect({ flip, kind }).not.toMatchObject({ kind: "believed" });
  }
}, 240_000);
