import { beforeEach, describe, expect, test } from "vitest";
import { encode, type Event, type RecordedEvent } from "../core/events.ts";
import { ENGINE } from "../core/limits.ts";
import { RollcallError } from "../core/errors.ts";
import { markOf } from "../core/clock.ts";
import type { AppendBatch, AppendOptions, LogPosition } from "../log/log.ts";
import { MemoryMedium, memoryStore } from "../log/memory/store.ts";
import { quiet, TestClock, TestLog } from "../../test/support/engine/fixture.ts";
import type { StreamWriter } from "./batch.ts";
import { Committer } from "./committer.ts";
import { LIBRARY } from "../core/by.ts";
import { newAppendId } from "../../test/support/log/append.ts";

const EVENT: Event = { type: "policy.deleted", id: "p" };

/** Keeps what it was asked to append: `3 a:1,2 b:1` is three events and two streams. */
class BatchLog extends TestLog {
  readonly batches: string[] = [];

  override append(
    batch: AppendBatch,
    at: LogPosition,
    options: AppendOptions,
  ): Promise<LogPosition> {
    const { entries, streams = [] } = batch;
    const texts = streams.map(({ stream, entries: own }) => `${stream}:${own.join(",")}`);
    this.batches.push([entries.length, ...texts].join(" "));
    return super.append(batch, at, options);
  }
}

class TestWriter implements StreamWriter {
  readonly stream: string;
  readonly #committer: Committer;
  #gathered: string[] = [];
  readonly #taken: string[] = [];

  constructor(committer: Committer, stream: string) {
    this.#committer = committer;
    this.stream = stream;
  }

  write(...entries: readonly string[]): void {
    for (const entry of entries) {
      this.#committer.join(this, entry.length);
      this.#gathered.push(entry);
    }
  }

  take(): readonly string[] {
    const taken = this.#gathered;
    this.#gathered = [];
    this.#taken.push(taken.map((entry) => entry.slice(0, 8)).join());
    return taken;
  }

  onDurable(): void {
    happened.push(`${this.stream} ${this.#taken.shift()}`);
  }
}

let happened: string[];
let clock: TestClock;
let medium: MemoryMedium;
let log: BatchLog;
let durable: RecordedEvent[];
let failures: unknown[];
let committer: Committer;

beforeEach(async () => {
  happened = [];
  durable = [];
  failures = [];
  clock = new TestClock();
  medium = new MemoryMedium();
  log = new BatchLog(memoryStore({ medium, shared: false }).log);
  await log.open();
  committer = new Committer({
    log,
    position: { head: 0, mark: 0 },
    nextId: newAppendId,
    proved: markOf(clock),
    clock,
    fence: () => 0,
    onDurable: (recorded) => durable.push(...recorded),
    onFailure: (error) => failures.push(error),
  });
});

function add(atMs: number): void {
  committer.add(EVENT, atMs, encode(EVENT, atMs, LIBRARY));
}

function streamOf(name: string): readonly string[] {
  return medium.streams.get(name)?.entries ?? [];
}

function note(what: string): () => void {
  return () => void happened.push(what);
}

/** A batch that is closed early, as when deciding takes longer than writing. */
function closeEarly(): void {
  clock.suspend(1);
  committer.commandAdded();
}

describe("a batch", () => {
  test("carries the events and the stream entries of one turn, in one append", async () => {
    const [a, b] = [new TestWriter(committer, "a"), new TestWriter(committer, "b")];
    const release = log.hold();
    add(1);
    a.write("1");
    b.write("1");
    add(2);
    a.write("2");
    await quiet();
    a.write("3");
    add(3);
    release();
    await quiet();
    expect(log.batches).toEqual(["2 a:1,2 b:1", "1 a:3"]);
    expect([streamOf("a"), streamOf("b")]).toEqual([["1", "2", "3"], ["1"]]);
    expect(durable.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  test("of stream entries alone moves no head of the log", async () => {
    new TestWriter(committer, "a").write("1");
    expect(committer.isSettled).toBe(false);
    await quiet();
    expect(log.batches).toEqual(["0 a:1"]);
    expect(committer).toMatchObject({ head: 0, isSettled: true, streamBytes: 0 });
    add(1);
    expect(await committer.settled("done")).toBe("done");
  });

  test("gathered behind others goes with them, each stream once, each told in order", async () => {
    const a = new TestWriter(committer, "a");
    add(1);
    await quiet();
    const release = log.hold();
    for (const text of ["1", "2", "3"]) {
      add(2);
      a.write(text);
      closeEarly();
    }
    a.write("4");
    expect(committer.streamBytes).toBe(4);
    release();
    await quiet();
    expect(log.batches).toEqual(["1", "1 a:1", "2 a:2,3,4"]);
    expect(happened).toEqual(["a 1", "a 2", "a 3", "a 4"]);
    expect(committer.streamBytes).toBe(0);
  });
});

describe("when a batch is durable", () => {
  test("calls come in order, before the writers are told", async () => {
    const a = new TestWriter(committer, "a");
    committer.after(note("nothing to wait for"));
    expect(happened).toEqual(["nothing to wait for"]);
    const release = log.hold();
    a.write("1");
    committer.after(note("first"));
    committer.after(note("second"));
    await quiet();
    committer.after(note("behind what is being written"));
    a.write("2");
    committer.after(note("with what comes next"));
    expect(happened).toHaveLength(1);
    release();
    await quiet();
    expect(happened.slice(1)).toEqual([
      "first",
      "second",
      "behind what is being written",
      "a 1",
      "with what comes next",
      "a 2",
    ]);
  });
});

describe("an append that fails", () => {
  const error = new Error("disk full");

  test("takes back the events and the stream entries, and all that was built on them", async () => {
    const a = new TestWriter(committer, "a");
    const release = log.hold();
    log.faults = [{ error, isWritten: false }];
    add(1);
    a.write("1");
    committer.after(note("never"));
    const first = committer.settled("first");
    await quiet();
    add(2);
    a.write("2");
    const second = committer.settled("second");
    release();
    for (const waiting of [first, second]) {
      await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE", cause: error });
    }
    await quiet();
    expect(failures).toEqual([error]);
    expect(happened).toEqual([]);
    expect(log.batches).toHaveLength(1);
    expect([medium.entries, streamOf("a")]).toEqual([[], []]);
  });

  test("leaves a committer that takes nothing more", async () => {
    const a = new TestWriter(committer, "a");
    log.faults = [{ error, isWritten: false }];
    a.write("1");
    await quiet();
    expect(() => a.write("2")).toThrow(RollcallError);
    committer.after(note("never"));
    await expect(committer.room()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(committer.settled(null)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(happened).toEqual([]);
  });

  test("wakes the producers that wait for room", async () => {
    const a = new TestWriter(committer, "a");
    const release = log.hold();
    log.faults = [{ error, isWritten: false }];
    a.write("1");
    await quiet();
    a.write("x".repeat(ENGINE.batchStreamBytes));
    const woken = committer.room()?.then(note("woken"));
    release();
    await woken;
    expect(happened).toEqual(["woken"]);
  });
});

test("producers fill the next batch while the disk takes the last, and then wait", async () => {
  const a = new TestWriter(committer, "a");
  const release = log.hold();
  const say = (name: string) => {
    a.write("x".repeat(ENGINE.batchStreamBytes));
    void committer.room()?.then(note(name));
  };
  expect(committer.room()).toBeUndefined();
  say("first");
  await quiet();
  say("second");
  await quiet();
  expect(happened).toEqual(["first"]);
  release();
  await quiet();
  expect(happened.filter((each) => !each.startsWith("a "))).toEqual(["first", "second"]);
});

describe("a log that takes little at once", () => {
  const text = "x".repeat(100);

  beforeEach(() => {
    Object.defineProperty(log, "limits", { value: { appendBytes: 2000 } });
    committer = new Committer({
      log,
      position: { head: 0, mark: 0 },
      nextId: newAppendId,
      proved: markOf(clock),
      clock,
      fence: () => 0,
      onDurable: (recorded) => durable.push(...recorded),
      onFailure: (error) => failures.push(error),
    });
  });

  /** A command of so many events. */
  const decide = (events: number) => {
    const texts = Array.from({ length: events }, () => text);
    if (!committer.makeRoom(texts)) return false;
    for (const each of texts) committer.add(EVENT, 1, each);
    return true;
  };

  test("is given batches that end between commands", async () => {
    const release = log.hold();
    for (const events of [1, 1, 1, 1, 2, 5, 1]) expect(decide(events)).toBe(true);
    const settled = committer.settled("all");
    release();
    expect(await settled).toBe("all");
    expect(log.batches.map(Number)).toEqual([3, 3, 5, 1]);
    expect(durable).toHaveLength(12);
  });

  test("is given a command above half of it alone", async () => {
    for (const events of [1, 15, 1]) expect(decide(events)).toBe(true);
    expect(await committer.settled("all")).toBe("all");
    expect(log.batches).toEqual(["1", "15", "1"]);
  });

  test("is not given a command that it does not take, and nothing has changed", async () => {
    decide(1);
    expect(decide(20)).toBe(false);
    expect(committer.head).toBe(1);
    expect(await committer.settled("the other")).toBe("the other");
    expect(log.batches).toEqual(["1"]);
  });

  test("takes stream entries that do not fit beside much else with the next append", async () => {
    const release = log.hold();
    decide(1);
    expect(committer.beginUnlessRoom(200)).toBe(true);
    new TestWriter(committer, "a").write("x".repeat(200));
    expect(committer.beginUnlessRoom(200)).toBe(false);
    new TestWriter(committer, "b").write("x".repeat(200));
    const settled = committer.settled("all");
    release();
    expect(await settled).toBe("all");
    expect(log.batches.map((batch) => batch.slice(0, 3))).toEqual(["1 a", "0 b"]);
  });
});
