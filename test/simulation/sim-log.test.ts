import { describe, expect, test } from "vitest";
import { codeOf } from "../../src/core/errors.ts";
import { LOG } from "../../src/core/limits.ts";
import type { Store } from "../../src/log/store.ts";
import { storeConformance } from "../support/log/conformance.ts";
import { Process } from "./process.ts";
import { CALM_LOG } from "./profile.ts";
import { Random } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { SimDisk } from "./sim-disk.ts";
import type { LogFaults } from "./sim-link.ts";
import { simStore } from "./sim-streams.ts";
import { Transcript } from "./transcript.ts";

/** A disk and stores on it; time goes by as fast as anybody waits for it. */
function world(shared: boolean, faults: LogFaults = CALM_LOG) {
  const scheduler = new Scheduler();
  const transcript = new Transcript(scheduler);
  const disk = new SimDisk(scheduler, transcript, shared);
  const random = new Random(1);
  let nodes = 0;
  let isOver = false;
  const connect = (): Store => {
    nodes += 1;
    const process = new Process(scheduler);
    const given = { node: `n${nodes}`, shared, disk, process, scheduler, transcript };
    return simStore({ ...given, random: random.fork("log"), faults: () => faults });
  };
  const turn = async (): Promise<void> => {
    while (!isOver) await scheduler.run(scheduler.nowMs + 1);
  };
  void turn();
  const end = () => {
    isOver = true;
    return Promise.resolve();
  };
  return { connect, disk, scheduler, transcript, end };
}

for (const shared of [false, true]) {
  describe(`a simulated store, ${shared ? "shared" : "of one node"}`, () => {
    const medium = () => {
      const { connect, end: remove } = world(shared);
      return Promise.resolve({ connect, remove });
    };
    const cases = storeConformance({ medium, isDurable: true, isShared: shared });
    test.each(cases)("%s", (_title, run) => run());
  });
}

describe("a simulated log that loses answers", () => {
  const batch = { entries: ["one"] };

  test("repeats the append under its id, and it is written once", async () => {
    const lossy = { ...CALM_LOG, loseAnswer: 0.6, arriveLate: 0.3 };
    const { connect, disk, transcript, end } = world(true, lossy);
    const { log } = connect();
    await log.open();
    let at = disk.position;
    for (let head = 0; head < 40; head += 1) at = await log.append(batch, at, { id: `a${head}` });
    expect(disk.head).toBe(40);
    expect(transcript.counts.get("seen: append repeated")).toBeGreaterThan(10);
    await end();
  });

  test("gives up when the time is over; the append may come later and is known again", async () => {
    const { connect, disk, scheduler, end } = world(true);
    const { log } = connect();
    const at = await log.open();
    disk.stalledUntilMs = scheduler.nowMs + 3 * LOG.appendWithinMs;
    const startedMs = scheduler.nowMs;
    const error: unknown = await log
      .append(batch, at, { id: "one" })
      .catch((cause: unknown) => cause);
    expect(codeOf(error)).toBe("OUTCOME_UNKNOWN");
    expect(scheduler.nowMs - startedMs).toBeLessThan(2 * LOG.appendWithinMs);
    expect(disk.head).toBe(0);
    disk.stalledUntilMs = 0;
    expect(await log.append(batch, at, { id: "one" })).toEqual({ head: 1, mark: at.mark + 1 });
    await scheduler.run(scheduler.nowMs + 4 * LOG.appendWithinMs);
    expect(disk.position).toEqual({ head: 1, mark: at.mark + 1 });
    await end();
  });

  test("of one node gives up, too; whatever it answers next comes after the append", async () => {
    const { connect, disk, scheduler, end } = world(false);
    const { log } = connect();
    const at = await log.open();
    disk.stalledUntilMs = scheduler.nowMs + 3 * LOG.appendWithinMs;
    const error: unknown = await log
      .append(batch, at, { id: "one" })
      .catch((cause: unknown) => cause);
    expect(codeOf(error)).toBe("OUTCOME_UNKNOWN");
    expect(disk.head).toBe(0);
    disk.stalledUntilMs = 0;
    expect((await log.open()).head).toBe(1);
    await end();
  });
});
