import { describe, expect, test } from "vitest";
import { RollcallError } from "../core/errors.ts";
import type { Event } from "../core/events.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import { Engine } from "../engine/engine.ts";
import { quiet, TestClock } from "../../test/support/engine/fixture.ts";
import { memoryStore } from "../log/memory/store.ts";
import type { Job } from "./job.ts";
import { TRACKING } from "./limits.ts";
import { testJob } from "../../test/support/jobs/fixture.ts";
import { JobTracker } from "./tracker.ts";

const DONE: Outcome = { status: "success", result: { form: "none" } };

class Bench implements AsyncDisposable {
  readonly clock = new TestClock();
  readonly troubles: string[] = [];
  readonly engine: Engine;
  readonly commands: number[] = [];
  readonly tracker: JobTracker;
  failure: Error | undefined;

  private constructor(engine: Engine) {
    this.engine = engine;
    this.tracker = new JobTracker({
      clock: this.clock,
      onTrouble: (what) => this.troubles.push(what),
      engine: {
        node: "n1",
        read: (select) => engine.read(select),
        execute: (command) => {
          if (command.type === "job.track") this.commands.push(command.jobs.length);
          return this.failure ? Promise.reject(this.failure) : engine.execute(command);
        },
      },
    });
  }

  static async open(): Promise<Bench> {
    const { log } = memoryStore();
    return new Bench(await Engine.open({ log, node: "n1", clock: new TestClock() }));
  }

  async topics(): Promise<string[]> {
    return (await this.events()).map(({ type }) => type.slice("job.".length));
  }

  async events(): Promise<(Event & { readonly type: `job.${string}` })[]> {
    const events: Event[] = [];
    for await (const { event } of this.engine.history(() => true)) events.push(event);
    return events.filter((event) => event.type.startsWith("job.")) as never;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tracker.close();
    await this.engine.close();
  }
}

function ended(job: Job, outcome: Outcome = DONE): Job {
  job.status = outcome.status;
  job.ending = outcome.status === "success" ? undefined : outcome;
  job.endedAtMs = 5;
  return job;
}

describe("jobs are told of", () => {
  test("a job that is over in no time is one command and three events", async () => {
    await using bench = await Bench.open();
    const job = testJob();
    bench.tracker.onAccepted(job);
    bench.tracker.onStarted(job);
    bench.tracker.onEnded(ended(job), DONE);
    await quiet();
    expect(bench.commands).toEqual([1]);
    expect(await bench.topics()).toEqual(["submitted", "started", "ended"]);
  });

  test("ten thousand of them are some tens of commands", async () => {
    await using bench = await Bench.open();
    for (let i = 0; i < 10_000; i += 1) bench.tracker.onAccepted(testJob());
    await bench.tracker.close();
    expect(bench.commands.length).toBeLessThan(25);
    expect(await bench.topics()).toHaveLength(10_000);
  });

  test("how one failed is told as a line, whatever its agent said", async () => {
    await using bench = await Bench.open();
    const job = testJob();
    const failed = { status: "error", code: "INTERNAL", message: "no\n\u001b[1mdisk" } as const;
    bench.tracker.onEnded(ended(job, failed), failed);
    await quiet();
    expect((await bench.events()).at(-1)).toMatchObject({
      job: { code: "INTERNAL", reason: "no  [1mdisk", principal: "somebody", node: "n1" },
    });
  });

  test("what the engine cannot take now it is told later, once, and as it is then", async () => {
    await using bench = await Bench.open();
    bench.failure = new RollcallError("UNAVAILABLE", "the disk is full");
    const job = testJob();
    bench.tracker.onAccepted(job);
    await quiet();
    bench.tracker.onStarted(job);
    bench.tracker.onEnded(ended(job), DONE);
    await bench.clock.advance(3 * TRACKING.retryMs);
    expect(bench.tracker.untold).toBe(1);
    expect(bench.troubles.length).toBeGreaterThan(1);
    bench.failure = undefined;
    await bench.clock.advance(TRACKING.retryMs);
    expect(bench.tracker.untold).toBe(0);
    expect(await bench.topics()).toEqual(["submitted", "started", "ended"]);
    expect(bench.clock.timers).toBe(0);
  });

  test("when far too many wait, it says so", async () => {
    await using bench = await Bench.open();
    bench.failure = new RollcallError("UNAVAILABLE", "the disk is full");
    for (let i = 0; i < TRACKING.untold; i += 1) bench.tracker.onAccepted(testJob());
    expect(bench.tracker.isBehind).toBe(true);
  });
});

describe("after a start", () => {
  test("what was missed is made up for, nothing twice, and what is lost has ended", async () => {
    await using bench = await Bench.open();
    const [known, missed, lost, waits] = [testJob(), testJob(), testJob(), testJob()];
    for (const job of [known, lost]) bench.tracker.onStarted(job);
    await quiet();
    bench.tracker.onEnded(ended(known), DONE);
    await quiet();
    const all = new Map([known, ended(missed), waits].map((job) => [job.id, job]));
    const index = { get: (id: string) => all.get(id), all: () => all.values() };
    await bench.tracker.reconcile(index, 10);
    await quiet();
    const told = (await bench.events()).map((event) =>
      event.type === "job.forgotten" ? "" : `${event.type} ${event.job.id}`,
    );
    expect(told).toEqual([
      `job.submitted ${known.id}`,
      `job.started ${known.id}`,
      `job.submitted ${lost.id}`,
      `job.started ${lost.id}`,
      `job.ended ${known.id}`,
      `job.ended ${lost.id}`,
      `job.submitted ${missed.id}`,
      `job.ended ${missed.id}`,
      `job.submitted ${waits.id}`,
    ]);
    await bench.tracker.reconcile(index, 10);
    await quiet();
    expect(await bench.topics()).toHaveLength(told.length);
  });

  test("what ended since is told when it is durable, not before", async () => {
    await using bench = await Bench.open();
    const job = ended(testJob());
    const index = { get: () => job, all: () => new Map([[job.id, job]]).values() };
    await bench.tracker.reconcile(index, job.endedAtMs);
    await quiet();
    expect(await bench.topics()).toEqual([]);
  });
});
