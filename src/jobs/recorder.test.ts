import { expect, test } from "vitest";
import { quiet } from "../../test/support/engine/fixture.ts";
import { memoryStore } from "../log/memory/store.ts";
import { Ledger, type LedgerRecord } from "./ledger.ts";
import { LEDGER, RECORDER } from "./limits.ts";
import { Recorder } from "./recorder.ts";

async function setUp(isEager = false) {
  const store = memoryStore();
  await store.log.open();
  const writes: string[][] = [];
  let gate: Promise<void> | undefined;
  let open: () => void = () => undefined;
  const { streams: journal } = store;
  const appendAll = journal.appendAll.bind(journal);
  journal.appendAll = async (appends) => {
    writes.push(appends.map(({ stream, entries }) => `${stream}:${entries.join(",")}`));
    await gate;
    return appendAll(appends);
  };
  const hold = () => {
    gate = new Promise((resolve) => (open = resolve));
  };
  const letGo = () => open();
  const recorder = new Recorder({ journal, isEager, onFailure: () => undefined });
  return { recorder, journal, writes, hold, letGo };
}

test("what one turn decides is one append; what comes meanwhile is the next", async () => {
  const { recorder, writes, hold, letGo } = await setUp();
  hold();
  recorder.append("a", "1");
  recorder.append("b", "1");
  recorder.append("a", "2");
  await new Promise((resolve) => setImmediate(resolve));
  recorder.append("a", "3");
  recorder.append("c", "1");
  expect(recorder.pending("a")).toEqual(["1", "2", "3"]);
  letGo();
  await quiet();
  expect(writes).toEqual([
    ["a:1,2", "b:1"],
    ["a:3", "c:1"],
  ]);
  expect(recorder.pending("a")).toEqual([]);
});

test("answers wait for what they tell of, and go before the events of their batch", async () => {
  const { recorder, hold, letGo } = await setUp();
  const happened: string[] = [];
  const listener = { onRecorded: (entries: readonly string[]) => happened.push(...entries) };
  recorder.after(() => happened.push("nothing to wait for"));
  hold();
  recorder.append("a", "event", listener);
  recorder.after(() => happened.push("answer"));
  await quiet();
  expect(happened).toEqual(["nothing to wait for"]);
  recorder.after(() => happened.push("behind what is being written"));
  letGo();
  await quiet();
  expect(happened.slice(1)).toEqual(["answer", "behind what is being written", "event"]);
});

test("who says much fills the next batch while the disk takes the last one", async () => {
  const { recorder, hold, letGo } = await setUp();
  const went: string[] = [];
  const say = (name: string) => {
    recorder.append("a", "x".repeat(RECORDER.softBytes));
    void recorder.room()?.then(() => went.push(name));
  };
  expect(recorder.room()).toBeUndefined();
  hold();
  say("first");
  await quiet();
  expect(went).toEqual(["first"]);
  say("second");
  await quiet();
  expect(went).toEqual(["first"]);
  letGo();
  await quiet();
  expect(went).toEqual(["first", "second"]);
});

test("an eager one shows a batch when its turn ends, before the disk has it", async () => {
  const { recorder, hold, letGo } = await setUp(true);
  const seen: string[] = [];
  hold();
  recorder.append("a", "1", { onRecorded: (entries) => seen.push(...entries) });
  await quiet();
  expect(seen).toEqual(["1"]);
  expect(recorder.pending("a")).toEqual(["1"]);
  letGo();
  await recorder.settled();
  expect(recorder.pending("a")).toEqual([]);
});

class Counter implements LedgerRecord {
  value = 0;
  readonly id: number;

  constructor(id: number) {
    this.id = id;
  }

  entry(): object {
    return { t: "whole", id: this.id, value: this.value };
  }
}

test("a ledger is as long as what lives, and says the same when it is read again", async () => {
  const { recorder, journal } = await setUp();
  const ledger = new Ledger(recorder, "ledger");
  const counters = Array.from({ length: 500 }, (_, id) => new Counter(id));
  for (const counter of counters) ledger.put(counter);
  for (let round = 0; round < 400; round += 1) {
    for (let i = 0; i < 200; i += 1) {
      const counter = counters[(round * 37 + i * 7) % 500];
      if (!counter) continue;
      counter.value += 1;
      ledger.change({ t: "add", id: counter.id });
    }
    await quiet();
  }
  expect(ledger.length).toBeLessThan(LEDGER.minEntries + 500 * LEDGER.slack + 5_000);
  const values = new Map<number, number>();
  const again = new Ledger(new Recorder({ journal, onFailure: () => undefined }), "ledger");
  for await (const { entry } of again.open()) {
    const { t, id, value } = entry as { t: string; id: number; value: number };
    if (t === "whole") values.set(id, value);
    else if (values.has(id)) values.set(id, (values.get(id) ?? 0) + 1);
  }
  expect([...values].sort(([a], [b]) => a - b)).toEqual(
    counters.map(({ id, value }) => [id, value]),
  );
});
