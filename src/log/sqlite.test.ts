import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { storeConformance } from "./conformance.ts";
import { sqliteStore } from "./sqlite.ts";

async function medium() {
  const folder = await mkdtemp(join(tmpdir(), "rollcall-sqlite-"));
  return {
    connect: () => sqliteStore({ path: join(folder, "rollcall.db") }),
    remove: () => rm(folder, { recursive: true }),
  };
}

describe("a sqlite store", () => {
  const cases = storeConformance({ medium, isDurable: true, isShared: false });
  test.each(cases)("%s", (_title, run) => run());
});
