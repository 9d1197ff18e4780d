/** The sentences of log.ts on positions, on the ids of appends and on the chain they make. */
import assert from "node:assert/strict";
import { newAppendId, put } from "./append.ts";
import type { Check } from "./conformance-case.ts";
import {
  collect,
  entriesAfter,
  Follower,
  namesOf,
  numbered,
  reachOf,
  rejects,
  streamAfter,
} from "./conformance-case.ts";
import type { Log, LogPosition } from "../../../src/log/log.ts";

/** Appends of so many entries, one after the other; gives their ids. */
async function chain(log: Log, ...counts: readonly number[]): Promise<string[]> {
  const ids: string[] = [];
  let at: LogPosition = await log.open();
  for (const count of counts) {
    const id = newAppendId();
    at = await log.append({ entries: numbered(at.head + 1, count) }, at, { id });
    ids.push(id);
  }
  return ids;
}

function append(log: Log, at: LogPosition, ...entries: string[]): Promise<LogPosition> {
  return log.append({ entries }, at, { id: newAppendId() });
}

export const chainCases: readonly (readonly [string, Check])[] = [
  [
    "an append gives the position right after it, and that is where the next one goes",
    async ({ log }) => {
      let at: LogPosition = await log.open();
      for (const entries of [numbered(1, 3), [], ["four"], [], []]) {
        const { head } = at;
        at = await append(log, at, ...entries);
        assert.equal(at.head, head + entries.length);
        const { mark } = await log.open();
        assert.equal(at.mark, mark);
      }
      assert.deepEqual(await entriesAfter(log, 0), [...numbered(1, 3), "four"]);
    },
  ],
  [
    "an append that is called again under its id is not written again, whatever came since",
    async ({ log }) => {
      const at = await log.open();
      const batch = { entries: numbered(1, 2) };
      const first = await log.append(batch, at, { id: "one" });
      assert.deepEqual(await log.append(batch, at, { id: "one" }), first);
      await append(log, first, "three");
      assert.deepEqual(await log.append(batch, at, { id: "one" }), first);
      assert.deepEqual(await entriesAfter(log, 0), ["entry 1", "entry 2", "three"]);
    },
  ],
  [
    "nor are the stream entries of an append that is called again",
    async ({ log, streams }) => {
      const at = await log.open();
      const batch = { entries: ["event"], streams: [{ stream: "job", entries: ["said"] }] };
      const first = await log.append(batch, at, { id: "one" });
      assert.deepEqual(await log.append(batch, at, { id: "one" }), first);
      assert.deepEqual(await streamAfter(streams, "job", 0), ["said"]);
    },
  ],
  [
    "a sign of life that is called again at once answers as it did",
    async ({ log }) => {
      const at = await put(log, { entries: ["one"] }, 0);
      const sign = await log.append({ entries: [] }, at, { id: "sign" });
      assert.deepEqual(await log.append({ entries: [] }, at, { id: "sign" }), sign);
      await append(log, sign, "two");
    },
  ],
  [
    "the same entries under another id are another append, and are fenced",
    async ({ log }) => {
      const at = await log.open();
      await log.append({ entries: ["one"] }, at, { id: "one" });
      await rejects("FENCED", log.append({ entries: ["one"] }, at, { id: "other" }));
      assert.deepEqual(await entriesAfter(log, 0), ["one"]);
    },
  ],
  [
    "an append that was fenced may be called again where the log stands now",
    async ({ log }) => {
      const at = await put(log, { entries: ["one"] }, 0);
      const old = { ...at, head: 0 };
      await rejects("FENCED", log.append({ entries: ["two"] }, old, { id: "two" }));
      await log.append({ entries: ["two"] }, at, { id: "two" });
      assert.deepEqual(await entriesAfter(log, 0), ["one", "two"]);
    },
  ],
  [
    "batches are chained by the ids of their appends, those that begin inside one too",
    async ({ log }) => {
      const ids = await chain(log, 2, 3, 1);
      const idOf = (sequence: number) => ids[sequence > 5 ? 2 : sequence > 2 ? 1 : 0];
      assert.equal((await log.open()).lastId, ids[2]);
      for (let after = 0; after < 6; after += 1) {
        let previous = after === 0 ? "" : idOf(after);
        for (const batch of await collect(log.read(after))) {
          assert.equal(batch.previous, previous, `after ${after}`);
          assert.equal(batch.id, idOf(batch.first + batch.entries.length - 1));
          previous = batch.id;
        }
      }
    },
  ],
  [
    "a reader that goes on after an entry is told when another append wrote that entry",
    async ({ log }) => {
      const [first = "", second = ""] = await chain(log, 2, 2);
      for (const [after, id] of [
        [1, first],
        [2, first],
        [3, second],
        [4, second],
      ] as const) {
        assert.equal((await collect(log.read(after, id))).length > 0, after < 4);
        await rejects("DIVERGED", collect(log.read(after, "another")));
        await rejects("DIVERGED", new Follower(log, after, "another").next());
      }
      await rejects("DIVERGED", collect(log.read(2, second)));
      const follower = new Follower(log, 2, first);
      assert.deepEqual(await follower.through(4), numbered(3, 2));
      follower.stop();
    },
  ],
  [
    "a reader is told when an entry that it has read is no longer there",
    async ({ log }) => {
      const [id = ""] = await chain(log, 2);
      await rejects("DIVERGED", collect(log.read(3, id)));
      await rejects("DIVERGED", new Follower(log, 3, id).next());
    },
  ],
  [
    "the chain goes on where the log was truncated",
    async ({ log }) => {
      const [first = "", second = ""] = await chain(log, 2, 2);
      await log.saveSnapshot({ sequence: 4, chunks: ["four"] });
      for (const [through, id] of [
        [1, first],
        [2, first],
        [3, second],
        [4, second],
      ] as const) {
        await log.truncate(through);
        for (const { previous } of await collect(log.read(through, id))) assert.equal(previous, id);
        await rejects("DIVERGED", collect(log.read(through, "another")));
      }
      assert.equal((await log.open()).lastId, second);
      await append(log, await log.open(), "five");
      const [batch] = await collect(log.read(4, second));
      assert.equal(batch?.previous, second);
    },
  ],
  [
    "a snapshot tells which append it stands on",
    async ({ log }) => {
      await log.saveSnapshot({ sequence: 0, chunks: ["nothing"] });
      assert.equal((await log.loadSnapshot(0))?.id, "");
      const [first, second] = await chain(log, 2, 2);
      for (const [sequence, id] of [
        [1, first],
        [2, first],
        [3, second],
        [4, second],
      ] as const) {
        await log.saveSnapshot({ sequence, chunks: ["state"] });
        assert.equal((await log.loadSnapshot(sequence))?.id, id);
      }
      await log.truncate(2);
      assert.equal((await log.loadSnapshot(2))?.id, first);
    },
  ],
  [
    "a log has an id of its own",
    async ({ log }) => {
      const { logId } = await log.open();
      assert.ok(logId !== "");
      await put(log, { entries: ["one"] }, 0);
      assert.equal((await log.open()).logId, logId);
    },
  ],
];

/** From one opener to the next. */
export const durableChainCases: readonly (readonly [string, Check])[] = [
  [
    "the next one who opens finds the same log, its chain and its appends",
    async ({ store, log, connect }) => {
      const before = await log.open();
      const [first, second] = [newAppendId(), newAppendId()];
      const at = await log.append({ entries: numbered(1, 2) }, before, { id: first });
      const end = await log.append({ entries: numbered(3, 2) }, at, { id: second });
      await log.saveSnapshot({ sequence: 4, chunks: ["four"] });
      await log.truncate(2);
      await store.close();
      const next = connect();
      const { logId, lastId } = await next.log.open();
      assert.deepEqual({ logId, lastId }, { logId: before.logId, lastId: second });
      const [batch] = await collect(next.log.read(2, first));
      assert.deepEqual([batch?.previous, batch?.id], [first, second]);
      await rejects("DIVERGED", collect(next.log.read(2, second)));
      assert.equal((await next.log.loadSnapshot(4))?.id, second);
      const again = await next.log.append({ entries: numbered(3, 2) }, at, { id: second });
      assert.deepEqual(again, end);
      assert.deepEqual(await reachOf(next.log), { head: 4, oldest: 3 });
    },
  ],
  [
    "the next one who opens a log that was truncated whole finds its last append",
    async ({ store, log, connect }) => {
      const [id = ""] = await chain(log, 3);
      await log.saveSnapshot({ sequence: 3, chunks: [] });
      await log.truncate(3);
      await store.close();
      const next = connect();
      assert.equal((await next.log.open()).lastId, id);
      assert.equal((await next.log.loadSnapshot(3))?.id, id);
      await rejects("DIVERGED", collect(next.log.read(3, "another")));
      await put(next.log, { entries: ["four"] }, 3);
      assert.equal((await collect(next.log.read(3, id)))[0]?.previous, id);
    },
  ],
];

/** Between several at once. */
export const sharedChainCases: readonly (readonly [string, Check])[] = [
  [
    "every append moves the mark, signs of life and stream entries too",
    async ({ log, streams }) => {
      let at: LogPosition = await log.open();
      const part = { stream: "job", entries: ["said"] };
      for (const batch of [
        { entries: ["one"] },
        { entries: [] },
        { entries: [] },
        { entries: [], streams: [part] },
      ]) {
        const next = await log.append(batch, at, { id: newAppendId() });
        assert.ok(next.mark > at.mark);
        assert.equal(next.head, 1);
        at = next;
      }
      await streams.append("alone", ["said"]);
      assert.equal((await log.open()).mark, at.mark);
    },
  ],
  [
    "one who missed a sign of life is fenced, though the head is where it was",
    async ({ log, streams, connect }) => {
      const other = connect();
      await other.log.open();
      const at = await put(log, { entries: ["one"] }, 0);
      const sign = await append(log, at);
      const part = [{ stream: "job", entries: ["late"] }];
      await rejects("FENCED", append(other.log, at, "two"));
      await rejects("FENCED", append(other.log, at));
      const late = other.log.append({ entries: [], streams: part }, at, { id: newAppendId() });
      await rejects("FENCED", late);
      assert.deepEqual(await namesOf(streams, ""), []);
      await append(other.log, sign, "two");
      assert.deepEqual(await entriesAfter(log, 0), ["one", "two"]);
    },
  ],
  [
    "of two that claim at the same position one succeeds",
    async ({ log, connect }) => {
      const other = connect();
      await other.log.open();
      const at = await put(log, { entries: ["one"] }, 0);
      const claims = [append(log, at, "mine"), append(other.log, at, "mine")];
      const outcomes = (await Promise.allSettled(claims)).map(({ status }) => status);
      assert.deepEqual(outcomes.toSorted(), ["fulfilled", "rejected"]);
      assert.deepEqual(await entriesAfter(log, 0), ["one", "mine"]);
    },
  ],
  [
    "a follower hears the mark of every append",
    async ({ log, connect }) => {
      const other = connect();
      await other.log.open();
      let at = await put(log, { entries: ["one"] }, 0);
      const follower = new Follower(other.log, 0);
      await follower.through(1);
      assert.equal(follower.mark, at.mark);
      for (const entries of [[], ["two"], []]) {
        const heard = follower.next();
        at = await append(log, at, ...entries);
        await heard;
        assert.equal(follower.mark, at.mark);
      }
      await append(other.log, { head: 2, mark: follower.mark }, "three");
      follower.stop();
    },
  ],
  [
    "an append that was written by one is known again to the other",
    async ({ log, connect }) => {
      const other = connect();
      const at = await other.log.open();
      const first = await log.append({ entries: ["one"] }, at, { id: "one" });
      assert.deepEqual(await other.log.append({ entries: ["one"] }, at, { id: "one" }), first);
      assert.deepEqual(await entriesAfter(other.log, 0), ["one"]);
    },
  ],
  [
    "an append above the limit is refused and writes nothing, one at the limit is written",
    async ({ log, streams }) => {
      const { appendBytes } = log.limits;
      const at = await log.open();
      const half = "é".repeat(appendBytes / 4);
      const parts = (text: string) => [{ stream: "job", entries: [text] }];
      const id = newAppendId();
      const above = log.append({ entries: [half, "x"], streams: parts(half) }, at, { id });
      await rejects("LIMIT_EXCEEDED", above);
      assert.deepEqual(await reachOf(log), { head: 0, oldest: 1 });
      assert.deepEqual(await namesOf(streams, ""), []);
      await log.append({ entries: [half], streams: parts(half) }, at, { id });
      assert.ok((await entriesAfter(log, 0)).join() === half);
    },
  ],
];
