/** A reporter of status files in a folder of its own, with a fleet that writes down its reports. */
import { afterEach, expect, vi } from "vitest";
import { EngineTime } from "../../../src/core/clock.ts";
import { RollcallError } from "../../../src/core/errors.ts";
import type { Report } from "../../../src/core/reports.ts";
import type { Status } from "../../../src/wires/files/format.ts";
import { FileReporter } from "../../../src/wires/files/reporter.ts";
import { writeTimestamp } from "../../../src/wires/files/timestamp.ts";
import { writeStatusSync } from "../../../src/wires/files/write.ts";
import { TestClock } from "../engine/fixture.ts";
import { scratch, statusOf } from "./fixture.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface FakeProcess {
  isThere: boolean;
  start: string;
  startedAtMs: number;
}

interface DaemonState {
  isDown: boolean;
  isForgetful: boolean;
  refusal?: Error;
  sent: number;
}

type Changes = Parameters<typeof statusOf>[0];

/** With what the fleet knows, and the files that are there already, later than it does. */
export function open(known: readonly Report[] = [], there: readonly Changes[] = []) {
  const folder = scratch();
  const clock = new TestClock();
  const time = new EngineTime(clock);
  const process: FakeProcess = {
    isThere: true,
    start: "7",
    startedAtMs: clock.wallMs() - 60_000,
  };
  const told: Report[] = [];
  const cards: object[] = [];
  const state: DaemonState = { isDown: false, isForgetful: false, sent: 0 };
  const troubles: string[] = [];
  const write = (changes: Changes = {}): Status => {
    const runtime = { updated_at: writeTimestamp(clock.wallMs()), ...changes.runtime };
    const status = statusOf({ ...changes, runtime });
    writeStatusSync(status, folder.path);
    return status;
  };
  for (const changes of there) write(changes);
  const reporter = new FileReporter({
    folder: folder.path,
    host: "box",
    clock,
    fleetMs: () => time.nowMs(),
    known: async () => {
      await Promise.resolve();
      if (state.isForgetful) throw new RollcallError("UNAVAILABLE", "nobody leads");
      return known;
    },
    report: async (report) => {
      state.sent += 1;
      if (state.isDown) throw new RollcallError("UNAVAILABLE", "nobody leads");
      if (state.refusal) throw state.refusal;
      told.push(report);
    },
    onCard: (card) => cards.push(card),
    onTrouble: (what) => troubles.push(what),
    processes: {
      census: () => () => process.isThere,
      find: (pid) => (process.isThere ? { pid, ...process } : undefined),
      startedAtMs: () => process.startedAtMs,
    },
  });
  cleanups.push(
    () => folder[Symbol.dispose](),
    () => reporter.close(),
  );
  /** The last report, once it is so. */
  const says = (expected: object) =>
    vi.waitFor(() => expect(told.at(-1)?.facts).toMatchObject(expected), { interval: 5 });
  return { folder, clock, process, told, cards, state, troubles, write, says };
}

/** The fleet's report of a file that was there before. */
export function old(agentId: string): Report {
  return {
    alias: `file@box:${agentId}`,
    agentId,
    links: [],
    order: 1,
    reportedAtMs: 1,
    facts: { liveness: { value: "alive", rule: "its file is fresh" } },
  };
}
