import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { HOUR } from "../core/units.ts";
import { sqliteStore } from "../log/sqlite/store.ts";
import { Backups } from "./backups.ts";

async function scene() {
  const dataDir = fs.mkdtempSync(join(tmpdir(), "rollcall-backups-"));
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
    dataDir,
    clock,
    everyMs: HOUR,
    keep: 2,
    madeBy: "this test",
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
