import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { HOUR } from "../core/units.ts";
import { sqliteStore } from "../log/sqlite/store.ts";
import { backUp } from "../log/sqlite/upkeep.ts";
import { Backups } from "./backups.ts";

async function scene(before: (folder: string) => void = () => undefined) {
  const dataDir = fs.mkdtempSync(join(tmpdir(), "rollcall-backups-"));
  before(dataDir);
  onTestFinished(() => fs.rmSync(dataDir, { recursive: true, force: true }));
  const store = sqliteStore({ path: join(dataDir, "rollcall.db") });
  onTestFinished(() => store.close());
  await store.log.open();
  const clock = new TestClock();
  const told: string[] = [];
  let next: () => void = () => undefined;
  const note = (what: string) => {
    told.push(what);
    next();
  };
  const backups = new Backups({
    make: (target) => backUp({ path: join(dataDir, "rollcall.db"), target, madeBy: "this test" }),
    dataDir,
    clock,
    everyMs: HOUR,
    keep: 2,
    audit: { note: async ({ action }) => note(action) },
    onBackup: () => undefined,
    onTrouble: (what) => note(what),
  });
  onTestFinished(() => backups.close());
  /** Time goes by, until something is told. */
  const passes = async (ms: number) => {
    const heard = new Promise<void>((resolve) => {
      next = resolve;
    });
    await clock.advance(ms);
    await heard;
  };
  const names = () => fs.readdirSync(join(dataDir, "backups"));
  return { dataDir, told, passes, names, clock };
}

test("a backup is made every so often, told to the audit, and the newest are kept", async () => {
  const { told, passes, names } = await scene();
  const seen = new Set<string>();
  for (let round = 0; round < 3; round += 1) {
    await passes(HOUR);
    for (const name of names()) seen.add(name);
  }
  expect(told).toEqual(["backup.create", "backup.create", "backup.create"]);
  expect(names()).toEqual([...seen].slice(1));
  expect(names()).toHaveLength(2);
});

test("one that fails is told, and the next is tried", async () => {
  const { dataDir, told, passes } = await scene();
  fs.writeFileSync(join(dataDir, "backups"), "in the way");
  await passes(HOUR);
  fs.rmSync(join(dataDir, "backups"));
  await passes(HOUR);
  expect(told).toEqual(["no backup was made", "backup.create"]);
});

test("one that was left half-made is removed, and counts for nothing", async () => {
  const { names, passes } = await scene((dataDir) => {
    fs.mkdirSync(join(dataDir, "backups"));
    for (const year of [2098, 2099]) {
      fs.writeFileSync(join(dataDir, "backups", `rollcall-${year}.backup.part`), "half");
    }
  });
  expect(names()).toEqual([]);
  await passes(HOUR);
  expect(names()).toHaveLength(1);
});

test("the newest are kept, also when the clock was set back since", async () => {
  const older = [
    "rollcall-2098-01-01T00-00-00.000Z.backup",
    "rollcall-2099-01-01T00-00-00.000Z.backup",
  ];
  const { names, passes } = await scene((dataDir) => {
    fs.mkdirSync(join(dataDir, "backups"));
    for (const name of older) fs.writeFileSync(join(dataDir, "backups", name), "of before");
  });
  await passes(HOUR);
  expect(names()).toEqual([older[1], "rollcall-2099-01-01T00-00-00.001Z.backup"]);
});
