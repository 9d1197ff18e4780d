/** The sentences of log.ts on snapshots and truncating. */
import assert from "node:assert/strict";
import type { Check } from "./conformance-case.ts";
import { collect, entriesAfter, Follower, numbered, reachOf, rejects } from "./conformance-case.ts";
import { AWKWARD } from "./conformance-log.ts";
import type { Log } from "../../../src/log/log.ts";
import { put } from "./append.ts";

async function loaded(log: Log, atOrBefore: number): Promise<[number, string[]] | undefined> {
  const snapshot = await log.loadSnapshot(atOrBefore);
  return snapshot && [snapshot.sequence, await collect(snapshot.chunks)];
}

async function* failing(chunks: readonly string[]): AsyncGenerator<string> {
  yield* chunks;
  await Promise.reject(new Error("the state could not be written out"));
}

export const snapshotCases: readonly (readonly [string, Check])[] = [
  [
    "the newest snapshot that is not above the sequence is loaded",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 9) }, 0);
      assert.equal(await log.loadSnapshot(9), undefined);
      await log.saveSnapshot({ sequence: 7, chunks: ["seven"] });
      await log.saveSnapshot({ sequence: 3, chunks: ["three"] });
      assert.deepEqual(await loaded(log, 100), [7, ["seven"]]);
      assert.deepEqual(await loaded(log, 7), [7, ["seven"]]);
      assert.deepEqual(await loaded(log, 6), [3, ["three"]]);
      assert.equal(await loaded(log, 2), undefined);
    },
  ],
  [
    "a snapshot comes back in the pieces it was saved in, be they empty, many or large",
    async ({ log }) => {
      await put(log, { entries: ["one"] }, 0);
      const large = Array.from({ length: 3 }, (_, index) => `${index}é`.repeat(300_000));
      for (const chunks of [[], [""], AWKWARD, ["two\nlines"], numbered(1, 5000), large]) {
        await log.saveSnapshot({ sequence: 1, chunks });
        assert.deepEqual(await loaded(log, 1), [1, chunks]);
      }
    },
  ],
  [
    "a snapshot of the empty log is a snapshot",
    async ({ log }) => {
      await log.saveSnapshot({ sequence: 0, chunks: ["nothing yet"] });
      assert.deepEqual(await loaded(log, 5), [0, ["nothing yet"]]);
    },
  ],
  [
    "a snapshot that was cut off half-way does not exist, and the one before it still does",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 2) }, 0);
      await assert.rejects(log.saveSnapshot({ sequence: 1, chunks: failing(["a"]) }));
      assert.equal(await log.loadSnapshot(2), undefined);
      await log.saveSnapshot({ sequence: 1, chunks: ["whole"] });
      await assert.rejects(log.saveSnapshot({ sequence: 1, chunks: failing(["a"]) }));
      await assert.rejects(log.saveSnapshot({ sequence: 2, chunks: failing(["a"]) }));
      assert.deepEqual(await loaded(log, 2), [1, ["whole"]]);
    },
  ],
  [
    "a snapshot above the head is refused",
    async ({ log }) => {
      await put(log, { entries: ["one"] }, 0);
      await rejects("INVALID_ARGUMENT", log.saveSnapshot({ sequence: 2, chunks: ["future"] }));
      assert.equal(await log.loadSnapshot(2), undefined);
    },
  ],
  [
    "a snapshot never changes what is read",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 4) }, 0);
      await log.saveSnapshot({ sequence: 2, chunks: ["state"] });
      await put(log, { entries: numbered(5, 1) }, 4);
      assert.deepEqual(await entriesAfter(log, 0), numbered(1, 5));
    },
  ],
  [
    "appends, reads and loads go on while a snapshot is saved",
    async ({ log }) => {
      await put(log, { entries: ["one"] }, 0);
      const pieces = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(30_000));
      async function* chunks(): AsyncGenerator<string> {
        for (const [index, piece] of pieces.entries()) {
          yield piece;
          await put(log, { entries: [`beside ${index}`] }, index + 1);
          assert.equal((await entriesAfter(log, 0)).length, index + 2);
          assert.equal(await log.loadSnapshot(100), undefined);
        }
      }
      await log.saveSnapshot({ sequence: 1, chunks: chunks() });
      assert.deepEqual(await loaded(log, 100), [1, pieces]);
    },
  ],
  [
    "truncating is refused unless a snapshot stands at or after",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 6) }, 0);
      await rejects("WRONG_STATE", log.truncate(1));
      await log.saveSnapshot({ sequence: 3, chunks: ["three"] });
      await rejects("WRONG_STATE", log.truncate(4));
      assert.deepEqual(await entriesAfter(log, 0), numbered(1, 6));
      await log.truncate(3);
      assert.deepEqual(await entriesAfter(log, 3), numbered(4, 3));
    },
  ],
  [
    "what was truncated is out of range, and what comes after it is read as before",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 4) }, 0);
      await put(log, { entries: numbered(5, 4) }, 4);
      await log.saveSnapshot({ sequence: 8, chunks: ["eight"] });
      for (const through of [2, 4, 5]) {
        await log.truncate(through);
        assert.deepEqual(await reachOf(log), { head: 8, oldest: through + 1 });
        await rejects("OUT_OF_RANGE", collect(log.read(through - 1)));
        await rejects("OUT_OF_RANGE", new Follower(log, 0).next());
        assert.deepEqual(await entriesAfter(log, through), numbered(through + 1, 8 - through));
      }
      await log.truncate(1);
      assert.deepEqual(await reachOf(log), { head: 8, oldest: 6 });
    },
  ],
  [
    "snapshots before the truncation are forgotten, and none can be saved there any more",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 9) }, 0);
      for (const sequence of [2, 4, 8]) {
        await log.saveSnapshot({ sequence, chunks: [`at ${sequence}`] });
      }
      await log.truncate(4);
      assert.equal(await log.loadSnapshot(3), undefined);
      assert.deepEqual(await loaded(log, 5), [4, ["at 4"]]);
      await rejects("OUT_OF_RANGE", log.saveSnapshot({ sequence: 3, chunks: ["late"] }));
      assert.deepEqual(await loaded(log, 9), [8, ["at 8"]]);
    },
  ],
  [
    "a log of which everything was truncated goes on where it was",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 5) }, 0);
      await log.saveSnapshot({ sequence: 5, chunks: ["five"] });
      await log.truncate(5);
      assert.deepEqual(await reachOf(log), { head: 5, oldest: 6 });
      assert.deepEqual(await collect(log.read(5)), []);
      await rejects("OUT_OF_RANGE", collect(log.read(4)));
      await put(log, { entries: ["six"] }, 5);
      assert.deepEqual(await entriesAfter(log, 5), ["six"]);
    },
  ],
  [
    "appends go on while very much is truncated",
    async ({ log }) => {
      for (let head = 0; head < 40_000; head += 2000) {
        await put(log, { entries: numbered(head + 1, 2000) }, head);
      }
      await log.saveSnapshot({ sequence: 40_000, chunks: ["state"] });
      const truncated = log.truncate(39_000);
      for (let head = 40_000; head < 40_010; head += 1)
        await put(log, { entries: [`at ${head}`] }, head);
      await truncated;
      assert.equal((await entriesAfter(log, 39_000)).length, 1010);
    },
  ],
];
