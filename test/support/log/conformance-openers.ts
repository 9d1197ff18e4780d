/** What must hold from one opener to the next (durable), and between several at once (shared). */
import assert from "node:assert/strict";
import { codeOf } from "../../../src/core/errors.ts";
import type { Check } from "./conformance-case.ts";
import {
  collect,
  entriesAfter,
  Follower,
  gate,
  namesOf,
  numbered,
  reachOf,
  rejects,
} from "./conformance-case.ts";
import type { Log, LogPosition } from "../../../src/log/log.ts";
import { newAppendId, put } from "./append.ts";

export const durableCases: readonly (readonly [string, Check])[] = [
  [
    "what was acknowledged is there for the next one who opens",
    async ({ store, log, streams, connect }) => {
      await put(log, { entries: numbered(1, 3) }, 0);
      await put(log, { entries: numbered(4, 3) }, 3);
      await log.saveSnapshot({ sequence: 5, chunks: ["state", " of five"] });
      await log.truncate(2);
      await streams.append("one", numbered(1, 3));
      await streams.append("two", numbered(1, 3));
      await streams.trim("two", 3);
      await streams.append("three", ["gone"]);
      await streams.remove("three");
      await store.close();

      const next = connect();
      assert.deepEqual(await reachOf(next.log), { head: 6, oldest: 3 });
      assert.deepEqual(await entriesAfter(next.log, 2), numbered(3, 4));
      const snapshot = await next.log.loadSnapshot(6);
      assert.deepEqual(await collect(snapshot?.chunks ?? []), ["state", " of five"]);
      assert.deepEqual(await namesOf(next.streams, ""), ["one", "two"]);
      assert.equal(await next.streams.append("one", ["four"]), 4);
      assert.equal(await next.streams.append("two", ["four"]), 4);
      await rejects("FENCED", put(next.log, { entries: ["late"] }, 5));
      await put(next.log, { entries: ["seven"] }, 6);
    },
  ],
  [
    "a log of which everything was truncated opens where it was",
    async ({ store, log, connect }) => {
      await put(log, { entries: numbered(1, 3) }, 0);
      await log.saveSnapshot({ sequence: 3, chunks: [] });
      await log.truncate(3);
      await store.close();
      const next = connect();
      assert.deepEqual(await reachOf(next.log), { head: 3, oldest: 4 });
      await put(next.log, { entries: ["four"] }, 3);
      assert.deepEqual(await entriesAfter(next.log, 3), ["four"]);
    },
  ],
  [
    "a snapshot that closing cut off half-way does not exist for the next one who opens",
    async ({ store, log, connect }) => {
      await put(log, { entries: ["one"] }, 0);
      const begun = gate();
      const closed = gate();
      async function* chunks(): AsyncGenerator<string> {
        yield "x".repeat(1_000_000);
        begun.open();
        await closed.opened;
        yield "the rest";
      }
      const saved = log.saveSnapshot({ sequence: 1, chunks: chunks() });
      const refused = assert.rejects(saved);
      await begun.opened;
      await store.close();
      closed.open();
      await refused;
      const next = connect();
      await next.log.open();
      assert.equal(await next.log.loadSnapshot(1), undefined);
    },
  ],
  [
    "an append that was pending when the log closed is either whole or not there",
    async ({ store, log, streams, connect }) => {
      const at = await log.open();
      const [appended, streamed] = [
        log.append({ entries: numbered(1, 100) }, at, { id: newAppendId() }),
        streams.append("s", ["one"]),
      ];
      const outcomes = Promise.allSettled([appended, streamed]);
      await store.close();
      const [first, second] = await outcomes;
      const next = connect();
      const { head } = await next.log.open();
      assert.ok(first.status === "fulfilled" ? head === 100 : head === 0 || head === 100);
      const range = await next.streams.range("s");
      assert.ok(second.status === "rejected" || range.head === 1);
    },
  ],
];

/** Appends `count` entries, one at a time, against whoever else does. */
async function contend(log: Log, name: string, count: number): Promise<void> {
  let at: LogPosition = await log.open();
  for (let done = 0; done < count;) {
    try {
      at = await log.append({ entries: [`${name} ${done}`] }, at, { id: newAppendId() });
      done += 1;
    } catch (error) {
      assert.equal(codeOf(error), "FENCED");
      at = await log.open();
    }
  }
}

export const sharedCases: readonly (readonly [string, Check])[] = [
  [
    "a log that others can append to says so",
    async ({ log }) => {
      assert.equal(log.shared, true);
      await Promise.resolve();
    },
  ],
  [
    "what one appends the other reads and follows, signs of life too",
    async ({ log, connect }) => {
      const other = connect();
      await other.log.open();
      const follower = new Follower(other.log, 0);
      const waiting = follower.next();
      await put(log, { entries: numbered(1, 2) }, 0);
      assert.deepEqual(await waiting, numbered(1, 2));
      assert.deepEqual(await entriesAfter(other.log, 0), numbered(1, 2));
      const sign = follower.next();
      await put(log, { entries: [] }, 2);
      assert.deepEqual(await sign, []);
      follower.stop();
    },
  ],
  [
    "one who did not see the other's append is fenced",
    async ({ log, connect }) => {
      const other = connect();
      await other.log.open();
      await put(log, { entries: ["first"] }, 0);
      await rejects("FENCED", put(other.log, { entries: ["second"] }, 0));
      await rejects("FENCED", put(other.log, { entries: [] }, 0));
      await put(other.log, { entries: ["second"] }, 1);
      await rejects("FENCED", put(log, { entries: ["third"] }, 1));
      assert.deepEqual(await entriesAfter(log, 0), ["first", "second"]);
    },
  ],
  [
    "of several who append at once none is lost and none overwrites",
    async ({ log, connect }) => {
      const others = [connect(), connect()];
      const logs = [log, ...others.map((store) => store.log)];
      await Promise.all(logs.map((each, index) => contend(each, `writer ${index}`, 30)));
      const entries = await entriesAfter(log, 0);
      assert.equal(entries.length, 90);
      for (const [index] of logs.entries()) {
        const own = entries.filter((entry) => entry.startsWith(`writer ${index}`));
        assert.deepEqual(
          own,
          Array.from({ length: 30 }, (_, n) => `writer ${index} ${n}`),
        );
      }
    },
  ],
  [
    "snapshots, truncation and streams of one are the other's too",
    async ({ log, streams, connect }) => {
      const other = connect();
      await other.log.open();
      await put(log, { entries: numbered(1, 4) }, 0);
      await other.log.saveSnapshot({ sequence: 4, chunks: ["state"] });
      assert.equal((await log.loadSnapshot(4))?.sequence, 4);
      await log.truncate(3);
      assert.deepEqual(await reachOf(other.log), { head: 4, oldest: 4 });
      await rejects("OUT_OF_RANGE", collect(other.log.read(0)));
      assert.equal(await streams.append("one", ["a"]), 1);
      assert.equal(await other.streams.append("one", ["b"]), 2);
    },
  ],
  [
    "closing one ends what goes through it and nothing else",
    async ({ store, log, connect }) => {
      const other = connect();
      await other.log.open();
      const own = new Follower(log, 0).next();
      const follower = new Follower(other.log, 0);
      const waiting = follower.next();
      await store.close();
      assert.equal(await own, undefined);
      await put(other.log, { entries: ["goes on"] }, 0);
      assert.deepEqual(await waiting, ["goes on"]);
      follower.stop();
    },
  ],
];
