/** The sentences of log.ts on appending, reading and following. */
import assert from "node:assert/strict";
import type { Check } from "./conformance-case.ts";
import {
  collect,
  entriesAfter,
  Follower,
  numbered,
  othersTurn,
  reachOf,
  rejects,
} from "./conformance-case.ts";
import { appendAt, put } from "./append.ts";

/** Text that a careless store spoils: marks, zeroes, other newlines, nothing, emoji, JSON. */
export const AWKWARD = [
  "\uFEFFbyte order mark",
  "zero \0 inside",
  "\r\t\u2028\u2029\u0085 are no newlines",
  "",
  " ",
  "héllo, 世界, 👩‍👩‍👧‍👦, e\u0301",
  '{"quoted":"\\n \\" \'","n":1}',
  "\u{10FFFF}\uFFFD",
];

const MEGABYTE = 1 << 20;

export const logCases: readonly (readonly [string, Check])[] = [
  [
    "a new log is empty",
    async ({ log }) => {
      assert.deepEqual(await reachOf(log), { head: 0, oldest: 1 });
      assert.deepEqual(await collect(log.read(0)), []);
    },
  ],
  [
    "entries have sequences 1, 2, 3 with no gap, whatever the batches",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 2) }, 0);
      await put(log, { entries: numbered(3, 1) }, 2);
      await put(log, { entries: numbered(4, 5) }, 3);
      assert.deepEqual(await entriesAfter(log, 0), numbered(1, 8));
      assert.deepEqual(await reachOf(log), { head: 8, oldest: 1 });
    },
  ],
  [
    "no batch ends inside an append, whether it is read or followed",
    async ({ log }) => {
      const ends = new Set<number>();
      let head = 0;
      for (const count of [1, 7, 15_000, 3, 25_000, 2]) {
        await put(log, { entries: numbered(head + 1, count) }, head);
        ends.add((head += count));
      }
      for (const { first, entries } of await collect(log.read(0))) {
        assert.ok(
          ends.has(first + entries.length - 1),
          `a batch ends at ${first + entries.length - 1}`,
        );
      }
      const follower = new Follower(log, 0);
      for (let position = 0; position < head;) {
        position += (await follower.next())?.length ?? 0;
        assert.ok(ends.has(position), `a batch ends at ${position}`);
      }
      follower.stop();
    },
  ],
  [
    "an append at another head than the expected one is fenced and writes nothing",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 3) }, 0);
      await rejects("FENCED", put(log, { entries: ["late"] }, 2));
      await rejects("FENCED", put(log, { entries: ["early"] }, 4));
      assert.deepEqual(await entriesAfter(log, 0), numbered(1, 3));
      await put(log, { entries: ["right"] }, 3);
      assert.deepEqual(await entriesAfter(log, 3), ["right"]);
    },
  ],
  [
    "an entry with a raw newline is refused and nothing of its batch is written",
    async ({ log }) => {
      await rejects("INVALID_ARGUMENT", put(log, { entries: ["good", "b\nad"] }, 0));
      assert.deepEqual(await reachOf(log), { head: 0, oldest: 1 });
    },
  ],
  [
    "an append of nothing checks the head and moves nothing",
    async ({ log }) => {
      await put(log, { entries: ["one"] }, 0);
      await put(log, { entries: [] }, 1);
      await rejects("FENCED", put(log, { entries: [] }, 0));
      assert.deepEqual(await reachOf(log), { head: 1, oldest: 1 });
      assert.deepEqual(await entriesAfter(log, 0), ["one"]);
    },
  ],
  [
    "an append of one empty text is an entry",
    async ({ log }) => {
      await put(log, { entries: [""] }, 0);
      await put(log, { entries: ["", ""] }, 1);
      assert.deepEqual(await entriesAfter(log, 0), ["", "", ""]);
    },
  ],
  [
    "any well-formed text comes back as it went in",
    async ({ log }) => {
      await put(log, { entries: AWKWARD }, 0);
      for (const [index, entry] of AWKWARD.entries()) {
        await put(log, { entries: [entry] }, AWKWARD.length + index);
      }
      assert.deepEqual(await entriesAfter(log, 0), [...AWKWARD, ...AWKWARD]);
    },
  ],
  [
    "a batch of very many entries is written whole",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 50_000) }, 0);
      assert.deepEqual(await entriesAfter(log, 0), numbered(1, 50_000));
      assert.deepEqual(await entriesAfter(log, 49_998), numbered(49_999, 2));
    },
  ],
  [
    "entries of a megabyte are kept",
    async ({ log }) => {
      const big = ["a", "é", "b"].map((letter) => letter.repeat(MEGABYTE / letter.length));
      await put(log, { entries: big }, 0);
      await put(log, { entries: ["small"] }, 3);
      await put(log, { entries: big }, 4);
      const kept = await entriesAfter(log, 0);
      assert.ok(kept.join("|") === [...big, "small", ...big].join("|"));
    },
  ],
  [
    "a read begins right after the sequence it is given, in the middle of a batch too",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 4) }, 0);
      await put(log, { entries: numbered(5, 4) }, 4);
      for (let after = 0; after <= 8; after += 1) {
        assert.deepEqual(await entriesAfter(log, after), numbered(after + 1, 8 - after));
      }
      assert.deepEqual(await collect(log.read(9)), []);
    },
  ],
  [
    "a read ends at the head of the moment it began",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 3) }, 0);
      const batches = log.read(0)[Symbol.asyncIterator]();
      const entries: string[] = [];
      let head = 3;
      for (let next = await batches.next(); !next.done; next = await batches.next()) {
        entries.push(...next.value.entries);
        await put(log, { entries: ["later"] }, head);
        head += 1;
      }
      assert.deepEqual(entries, numbered(1, 3));
    },
  ],
  [
    "a read that is given up half-way disturbs nobody",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 20_000) }, 0);
      for await (const batch of log.read(0)) {
        assert.equal(batch.first, 1);
        break;
      }
      await put(log, { entries: ["next"] }, 20_000);
      assert.deepEqual(await entriesAfter(log, 20_000), ["next"]);
    },
  ],
  [
    "reads beside appends see all that was acknowledged and never a gap",
    async ({ log }) => {
      let acknowledged = 0;
      let isWriting = true;
      const writer = async () => {
        for (let head = 0; head < 600; head += 6) {
          await put(log, { entries: numbered(head + 1, 6) }, head);
          acknowledged = head + 6;
        }
        isWriting = false;
      };
      const reader = async () => {
        while (isWriting) {
          const known = acknowledged;
          const seen = await entriesAfter(log, 0);
          assert.deepEqual(seen, numbered(1, seen.length));
          assert.ok(seen.length >= known && seen.length % 6 === 0);
          await othersTurn();
        }
      };
      await Promise.all([writer(), reader(), reader()]);
    },
  ],
  [
    "a follower gets what is there, then what comes",
    async ({ log }) => {
      await put(log, { entries: numbered(1, 3) }, 0);
      const follower = new Follower(log, 1);
      assert.deepEqual(await follower.through(3), numbered(2, 2));
      const waiting = follower.next();
      await put(log, { entries: numbered(4, 2) }, 3);
      assert.deepEqual(await waiting, numbered(4, 2));
      follower.stop();
    },
  ],
  [
    "a follower that looks away misses nothing",
    async ({ log }) => {
      const slow = new Follower(log, 0);
      const other = new Follower(log, 0);
      const first = slow.next();
      for (let head = 0; head < 300; head += 3)
        await put(log, { entries: numbered(head + 1, 3) }, head);
      const seen = [...((await first) ?? []), ...(await slow.through(300))];
      assert.deepEqual(seen, numbered(1, 300));
      assert.deepEqual(await other.through(300), numbered(1, 300));
      slow.stop();
      other.stop();
    },
  ],
  [
    "those who follow see an append of nothing as an empty batch",
    async ({ log }) => {
      await put(log, { entries: ["one"] }, 0);
      const follower = new Follower(log, 0);
      assert.deepEqual(await follower.next(), ["one"]);
      const waiting = follower.next();
      await put(log, { entries: [] }, 1);
      assert.deepEqual(await waiting, []);
      await put(log, { entries: ["two"] }, 1);
      assert.deepEqual(await follower.through(2), ["two"]);
      follower.stop();
    },
  ],
  [
    "following ends when the signal aborts",
    async ({ log }) => {
      const waiting = new Follower(log, 0);
      const pending = waiting.next();
      waiting.stop();
      assert.equal(await pending, undefined);

      const early = new Follower(log, 0);
      early.stop();
      assert.equal(await early.next(), undefined);

      await put(log, { entries: numbered(1, 5) }, 0);
      const busy = new Follower(log, 0);
      await busy.next();
      busy.stop();
      assert.equal(await busy.next(), undefined);
    },
  ],
  [
    "following ends when the log closes",
    async ({ store, log }) => {
      const follower = new Follower(log, 0);
      const pending = follower.next();
      await store.close();
      assert.equal(await pending, undefined);
    },
  ],
  [
    "nothing works before the log is open and after it is closed, and closing twice is closing",
    async ({ store, connect }) => {
      await store.close();
      await store.close();
      await store.log.close();
      for (const { log, streams } of [store, connect()]) {
        await rejects("WRONG_STATE", appendAt(log, { entries: ["one"] }, 0));
        await rejects("WRONG_STATE", collect(log.read(0)));
        await rejects(
          "WRONG_STATE",
          collect(log.follow(0, undefined, new AbortController().signal)),
        );
        await rejects("WRONG_STATE", log.saveSnapshot({ sequence: 0, chunks: [] }));
        await rejects("WRONG_STATE", log.loadSnapshot(0));
        await rejects("WRONG_STATE", log.truncate(0));
        await rejects("WRONG_STATE", streams.append("stream", ["one"]));
        await rejects("WRONG_STATE", collect(streams.read("stream", 0)));
        await rejects("WRONG_STATE", streams.range("stream"));
        await rejects("WRONG_STATE", collect(streams.ranges("")));
        await rejects("WRONG_STATE", streams.trim("stream", 1));
        await rejects("WRONG_STATE", streams.remove("stream"));
      }
      await rejects("WRONG_STATE", store.log.open());
    },
  ],
];
