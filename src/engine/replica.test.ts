import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  openEngine,
  quiet,
  register,
  START_MS,
  TestClock,
} from "../../test/support/engine/fixture.ts";
import { MemoryMedium, memoryStore } from "../log/memory/store.ts";
import { sqliteStore } from "../log/sqlite/store.ts";
import { Engine } from "./engine.ts";
import { appendAt, put } from "../../test/support/log/append.ts";

/** As a newer program writes it. */
const MADE_UP = `${START_MS} {"type":"robot.danced","robot":"r2"}`;

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-replica-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "rollcall.db");
}

test("a log with an event that is not known here is not led, and stays as it was", async () => {
  const { log } = memoryStore();
  await log.open();
  await appendAt(log, { entries: [`${START_MS} {"type":"policy.deleted","id":"x"}`, MADE_UP] }, 0);
  const error: unknown = await Engine.open({ log }).catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: "STORAGE_TOO_NEW" });
  expect(String(error)).toMatch(/event 2 of the log: .*robot\.danced; .*run that version or newer/);
  expect(await log.open()).toMatchObject({ head: 2, oldest: 1 });
});

test("the error names the program that wrote the log last, and this one", async () => {
  const path = scratch();
  for (const [version, entries] of [
    ["0.1.0", [`${START_MS} {"type":"policy.deleted","id":"x"}`]],
    ["9.1.0", [MADE_UP]],
  ] as const) {
    const store = sqliteStore({ path, writtenBy: `rollcall ${version}` });
    const { head } = await store.log.open();
    await appendAt(store.log, { entries }, head);
    await store.close();
  }
  // Asked twice: who only read did not become the one who wrote last.
  for (let round = 0; round < 2; round += 1) {
    const store = sqliteStore({ path, writtenBy: "rollcall 0.1.0" });
    onTestFinished(() => store.close());
    const error: unknown = await Engine.open({ log: store.log }).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "STORAGE_TOO_NEW" });
    expect(String(error)).toContain("event 2 of the log");
    expect(String(error)).toContain("robot.danced");
    expect(String(error)).toContain("written by rollcall 9.1.0, and this is rollcall 0.1.0");
    await store.close();
  }
});

test("a node stops at an event it does not know, and says that it wants an upgrade", async () => {
  const medium = new MemoryMedium();
  const clock = new TestClock();
  const { engine } = await openEngine({ node: "old", clock, log: memoryStore({ medium }).log });
  await clock.advance(10_000);
  expect(engine.mode).toBe("leading");
  const watching = engine.watch()[Symbol.asyncIterator]().next();
  const { log } = memoryStore({ medium });
  const { head } = await log.open();
  await put(log, { entries: [MADE_UP] }, head);
  await clock.advance(60_000);
  expect(engine.mode).toBe("outdated");
  for (const attempt of [engine.read(() => 1), register(engine)]) {
    const error: unknown = await attempt.catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "UNAVAILABLE" });
    expect(String(error)).toContain("upgrade this node");
  }
  expect(() => engine.watch()).toThrow("upgrade this node");
  expect(await watching).toEqual({ done: true, value: undefined });
  expect(await log.open()).toMatchObject({ head: head + 1, oldest: 1 });
  await engine.close();
  await quiet();
});
