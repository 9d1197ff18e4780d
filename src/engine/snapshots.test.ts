import { expect, test } from "vitest";
import { fingerprint } from "../core/snapshot.ts";
import type { Engine } from "./engine.ts";
import { openEngine, register, TestLog } from "../../test/support/engine/fixture.ts";

const DAY = 24 * 3600 * 1000;

async function registerMany(engine: Engine, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await register(engine);
}

test("a start takes the newest snapshot and replays only what came after", async () => {
  const retention = { snapshotEveryEvents: 20 };
  const { engine, log, clock } = await openEngine({ retention });
  await registerMany(engine, 30);
  await clock.advance(1000);
  await registerMany(engine, 5);
  const lived = engine.peek(fingerprint);
  await engine.close();
  expect(engine.snapshotCount).toBe(1);

  const reads: number[] = [];
  class CountingLog extends TestLog {
    override read(after: number) {
      reads.push(after);
      return super.read(after);
    }
  }
  const again = await openEngine({ log: new CountingLog(log), clock });
  expect(reads[0]).toBe(31);
  const [, ...livedParts] = JSON.parse(lived) as unknown[];
  const [, ...restored] = JSON.parse(again.engine.peek(fingerprint)) as unknown[];
  expect(restored).toEqual(livedParts);
  await again.engine.close();
});

test("the log forgets what is too many events ago, but never what a start needs", async () => {
  const retention = { snapshotEveryEvents: 20, maxEvents: 50 };
  const { engine, log, clock } = await openEngine({ retention });
  for (let i = 0; i < 10; i += 1) {
    await registerMany(engine, 20);
    await clock.advance(1000);
  }
  const { oldest, head } = await log.open();
  expect(oldest).toBeGreaterThan(100);
  expect(head - oldest).toBeGreaterThanOrEqual(50);
  expect((await log.loadSnapshot(oldest))?.sequence).toBe(oldest - 1);
  await engine.close();
});

test("the log forgets what is older than it should keep, even when little happens", async () => {
  const { engine, log, clock } = await openEngine({ retention: { maxAgeMs: 2 * DAY } });
  for (let day = 0; day < 5; day += 1) {
    await registerMany(engine, 2);
    for (let hour = 0; hour < 24; hour += 1) {
      clock.suspend(DAY / 24);
      await clock.advance(1000);
    }
  }
  expect((await log.open()).oldest).toBeGreaterThan(4);
  await engine.close();
});

test("a snapshot that cannot be written is trouble, not the end", async () => {
  class NoRoom extends TestLog {
    override saveSnapshot(): Promise<void> {
      return Promise.reject(new Error("no space left on device"));
    }
  }
  const log = new NoRoom();
  const { engine, clock, troubles } = await openEngine({
    log,
    retention: { snapshotEveryEvents: 5 },
  });
  await registerMany(engine, 10);
  await clock.advance(1000);
  expect(troubles).toContain("no snapshot was taken");
  await registerMany(engine, 1);
  await engine.close();
});
