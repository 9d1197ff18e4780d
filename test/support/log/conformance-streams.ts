/** The sentences of streams.ts. */
import assert from "node:assert/strict";
import type { Check } from "./conformance-case.ts";
import {
  collect,
  entriesAfter,
  namesOf,
  numbered,
  othersTurn,
  rejects,
  streamAfter,
} from "./conformance-case.ts";
import { AWKWARD } from "./conformance-log.ts";
import { put } from "./append.ts";

export const streamCases: readonly (readonly [string, Check])[] = [
  [
    "a stream nobody wrote to is empty",
    async ({ streams }) => {
      assert.deepEqual(await streams.range("nobody"), { oldest: 1, head: 0 });
      assert.deepEqual(await collect(streams.read("nobody", 0)), []);
      assert.equal(await streams.append("nobody", []), 0);
      await streams.trim("nobody", 3);
      await streams.remove("nobody");
      assert.deepEqual(await namesOf(streams, ""), []);
    },
  ],
  [
    "an append resolves with the position of its last entry, and each stream has its own",
    async ({ streams }) => {
      assert.equal(await streams.append("a", numbered(1, 2)), 2);
      assert.equal(await streams.append("b", ["only"]), 1);
      assert.equal(await streams.append("a", numbered(3, 3)), 5);
      assert.equal(await streams.append("a", []), 5);
      assert.deepEqual(await streamAfter(streams, "a", 0), numbered(1, 5));
      assert.deepEqual(await streamAfter(streams, "a", 3), numbered(4, 2));
      assert.deepEqual(await streamAfter(streams, "a", 5), []);
      assert.deepEqual(await streamAfter(streams, "b", 0), ["only"]);
      assert.deepEqual(await streams.range("a"), { oldest: 1, head: 5 });
    },
  ],
  [
    "an append at another head than the expected one is fenced and writes nothing",
    async ({ streams }) => {
      assert.equal(await streams.append("a", numbered(1, 2), 0), 2);
      await rejects("FENCED", streams.append("a", ["late"], 1));
      await rejects("FENCED", streams.append("a", ["early"], 3));
      await rejects("FENCED", streams.append("a", [], 1));
      await rejects("FENCED", streams.append("b", ["early"], 1));
      assert.equal(await streams.append("a", [], 2), 2);
      assert.equal(await streams.append("a", ["entry 3"], 2), 3);
      await streams.trim("a", 3);
      assert.equal(await streams.append("a", ["entry 4"], 3), 4);
      assert.deepEqual(await streamAfter(streams, "a", 3), ["entry 4"]);
      await streams.remove("a");
      assert.equal(await streams.append("a", ["anew"], 0), 1);
      assert.deepEqual(await namesOf(streams, ""), ["a"]);
    },
  ],
  [
    "of appends that nobody waits for each sees those before it",
    async ({ streams }) => {
      const all = await Promise.allSettled([
        streams.append("a", ["entry 1"], 0),
        streams.append("a", ["twice"], 0),
        streams.append("a", ["entry 2"], 1),
        streams.trim("a", 1),
        streams.append("a", ["entry 3"], 2),
      ]);
      assert.deepEqual(
        all.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"],
      );
      assert.deepEqual(await streamAfter(streams, "a", 1), ["entry 2", "entry 3"]);
    },
  ],
  [
    "a long stream is read in pages that bear its positions",
    async ({ streams }) => {
      for (let head = 0; head < 30_000; head += 3000) {
        await streams.append("long", numbered(head + 1, 3000));
      }
      assert.deepEqual(await streamAfter(streams, "long", 0), numbered(1, 30_000));
      assert.deepEqual(await streamAfter(streams, "long", 29_998), numbered(29_999, 2));
      for await (const { first, entries } of streams.read("long", 4)) {
        assert.equal(first, 5);
        assert.equal(entries[0], "entry 5");
        break;
      }
    },
  ],
  [
    "appends to one stream are written in the order of the calls, though nobody waits",
    async ({ streams }) => {
      const counts = Array.from({ length: 100 }, (_, index) => (index % 3) + 1);
      let head = 0;
      const appends = counts.map((count) => {
        head += count;
        return streams.append("one", numbered(head - count + 1, count));
      });
      const ends = counts.map((_, index) => counts.slice(0, index + 1).reduce((a, b) => a + b));
      assert.deepEqual(await Promise.all(appends), ends);
      assert.deepEqual(await streamAfter(streams, "one", 0), numbered(1, head));
    },
  ],
  [
    "very many streams can be written at once, beside the log",
    async ({ streams, log }) => {
      const names = Array.from({ length: 200 }, (_, index) => `job-${index}`);
      const writeStream = async (stream: string) => {
        for (let head = 0; head < 10; head += 2) {
          assert.equal(await streams.append(stream, numbered(head + 1, 2)), head + 2);
        }
      };
      const writeLog = async () => {
        for (let head = 0; head < 20; head += 1)
          await put(log, { entries: numbered(head + 1, 1) }, head);
      };
      await Promise.all([writeLog(), ...names.map(writeStream)]);
      for (const stream of names) {
        assert.deepEqual(await streamAfter(streams, stream, 0), numbered(1, 10));
      }
      assert.deepEqual(await entriesAfter(log, 0), numbered(1, 20));
    },
  ],
  [
    "an append to the log that is fenced does not touch the streams",
    async ({ streams, log }) => {
      const [fenced, appended] = await Promise.allSettled([
        put(log, { entries: ["late"] }, 7),
        streams.append("stream", ["kept"]),
      ]);
      assert.equal(fenced.status, "rejected");
      assert.equal(appended.status, "fulfilled");
      assert.deepEqual(await streamAfter(streams, "stream", 0), ["kept"]);
    },
  ],
  [
    "a reader beside the appends sees all that was acknowledged and never a gap",
    async ({ streams }) => {
      let acknowledged = 0;
      let isWriting = true;
      const writer = async () => {
        while (acknowledged < 300) {
          acknowledged = await streams.append("one", numbered(acknowledged + 1, 3));
        }
        isWriting = false;
      };
      const reader = async () => {
        while (isWriting) {
          const known = acknowledged;
          const seen = await streamAfter(streams, "one", 0);
          assert.deepEqual(seen, numbered(1, seen.length));
          assert.ok(seen.length >= known);
          await othersTurn();
        }
      };
      await Promise.all([writer(), reader()]);
    },
  ],
  [
    "an append to several streams is written to all of them, in the order of the calls",
    async ({ streams }) => {
      await streams.append("a", numbered(1, 2));
      const both = streams.appendAll([
        { stream: "a", entries: numbered(3, 2) },
        { stream: "b", entries: numbered(1, 1) },
      ]);
      const last = streams.append("a", numbered(5, 1));
      assert.deepEqual(await both, [4, 1]);
      assert.equal(await last, 5);
      assert.deepEqual(await streamAfter(streams, "a", 0), numbered(1, 5));
      assert.deepEqual(await streamAfter(streams, "b", 0), numbered(1, 1));
      assert.deepEqual(await streams.appendAll([]), []);
    },
  ],
  [
    "an append to several streams that is refused writes to none",
    async ({ streams }) => {
      const good = { stream: "a", entries: ["good"] };
      const bad = [
        { stream: "b", entries: ["b\nad"] },
        { stream: "", entries: ["no name"] },
        { stream: "b", entries: [] },
        { stream: "a", entries: ["twice"] },
      ];
      for (const each of bad) {
        await rejects("INVALID_ARGUMENT", streams.appendAll([good, each]));
      }
      assert.deepEqual(await namesOf(streams, ""), []);
    },
  ],
  [
    "any well-formed text comes back from a stream, and entries of a megabyte",
    async ({ streams }) => {
      const big = "é".repeat(1 << 19);
      const entries = [...AWKWARD, big, "", big];
      await streams.append("awkward", entries);
      for (const entry of entries) await streams.append("one by one", [entry]);
      assert.deepEqual(await streamAfter(streams, "awkward", 0), entries);
      assert.deepEqual(await streamAfter(streams, "one by one", 0), entries);
      for (const entry of AWKWARD) {
        await streams.append(`begins with ${JSON.stringify(entry)}`, [entry]);
        const begun = await streamAfter(streams, `begins with ${JSON.stringify(entry)}`, 0);
        assert.deepEqual(begun, [entry]);
      }
    },
  ],
  [
    "a raw newline and a stream that cannot be named are refused",
    async ({ streams }) => {
      await rejects("INVALID_ARGUMENT", streams.append("stream", ["good", "b\nad"]));
      await rejects("INVALID_ARGUMENT", streams.append("", ["no name"]));
      await rejects("INVALID_ARGUMENT", streams.append("a\0b", ["half a name"]));
      assert.deepEqual(await namesOf(streams, ""), []);
    },
  ],
  [
    "trimming forgets the entries up to there and never renumbers",
    async ({ streams }) => {
      await streams.append("one", numbered(1, 4));
      await streams.append("one", numbered(5, 4));
      for (const through of [2, 4, 6]) {
        await streams.trim("one", through);
        assert.deepEqual(await streams.range("one"), { oldest: through + 1, head: 8 });
        await rejects("OUT_OF_RANGE", collect(streams.read("one", through - 1)));
        const kept = await streamAfter(streams, "one", through);
        assert.deepEqual(kept, numbered(through + 1, 8 - through));
      }
      await streams.trim("one", 3);
      assert.deepEqual(await streams.range("one"), { oldest: 7, head: 8 });
    },
  ],
  [
    "a stream that was trimmed to its end, or beyond it, goes on where it was",
    async ({ streams }) => {
      await streams.append("one", numbered(1, 4));
      await streams.trim("one", 100);
      assert.deepEqual(await streams.range("one"), { oldest: 5, head: 4 });
      assert.deepEqual(await streamAfter(streams, "one", 4), []);
      assert.deepEqual(await namesOf(streams, ""), ["one"]);
      assert.equal(await streams.append("one", ["five"]), 5);
      assert.deepEqual(await streamAfter(streams, "one", 4), ["five"]);
    },
  ],
  [
    "a stream that was removed starts anew, and the others stay",
    async ({ streams }) => {
      await streams.append("one", numbered(1, 4));
      await streams.append("other", ["stays"]);
      await streams.remove("one");
      assert.deepEqual(await streams.range("one"), { oldest: 1, head: 0 });
      assert.deepEqual(await namesOf(streams, ""), ["other"]);
      assert.equal(await streams.append("one", ["anew"]), 1);
      assert.deepEqual(await streamAfter(streams, "one", 0), ["anew"]);
      assert.deepEqual(await streamAfter(streams, "other", 0), ["stays"]);
    },
  ],
  [
    "trimming and removing come after the appends that were called before them",
    async ({ streams }) => {
      const trimmed = [streams.append("a", numbered(1, 3)), streams.trim("a", 2)];
      const removed = [streams.append("b", ["gone"]), streams.remove("b")];
      await Promise.all([...trimmed, ...removed]);
      assert.deepEqual(await streams.range("a"), { oldest: 3, head: 3 });
      assert.deepEqual(await streams.range("b"), { oldest: 1, head: 0 });
    },
  ],
  [
    "trimming and removing end though appends never pause",
    async ({ streams }) => {
      await streams.append("trimmed", numbered(1, 3));
      await streams.append("removed", ["gone"]);
      let isOver = false;
      const producer = async (stream: string) => {
        while (!isOver) {
          await streams.append(stream, ["more"]);
          await othersTurn();
        }
      };
      const producers = Promise.all(["a", "b", "c", "d"].map(producer));
      for (let through = 1; through <= 3; through += 1) await streams.trim("trimmed", through);
      await streams.remove("removed");
      isOver = true;
      await producers;
      assert.deepEqual(await streams.range("trimmed"), { oldest: 4, head: 3 });
    },
  ],
  [
    "a listing tells the range of each stream",
    async ({ streams }) => {
      await streams.append("job/1", numbered(1, 2));
      await streams.append("job/2", numbered(1, 5));
      await streams.append("job/2", numbered(6, 2));
      await streams.append("job/3", numbered(1, 3));
      await streams.append("other", ["entry"]);
      await streams.trim("job/2", 6);
      await streams.trim("job/3", 3);
      assert.deepEqual(await collect(streams.ranges("job/")), [
        { stream: "job/1", oldest: 1, head: 2 },
        { stream: "job/2", oldest: 7, head: 7 },
        { stream: "job/3", oldest: 4, head: 3 },
      ]);
    },
  ],
  [
    "streams are listed by prefix, in order of name",
    async ({ streams }) => {
      const names = ["b", "a_b", "a%b", "axb", "a", "a\u{1F600}", "a\uFF5E", "A", "a'b", "ä"];
      await Promise.all(names.map((name) => streams.append(name, ["entry"])));
      const sorted = ["a", "a%b", "a'b", "a_b", "axb", "a\uFF5E", "a\u{1F600}"];
      assert.deepEqual(await namesOf(streams, "a"), sorted);
      assert.deepEqual(await namesOf(streams, "a_"), ["a_b"]);
      assert.deepEqual(await namesOf(streams, ""), ["A", ...sorted, "b", "ä"]);
      assert.deepEqual(await namesOf(streams, "c"), []);
    },
  ],
  [
    "very many streams are all listed",
    async ({ streams }) => {
      const names = Array.from({ length: 2500 }, (_, index) => `job-${10_000 + index}`);
      await Promise.all(names.map((name) => streams.append(name, ["entry"])));
      assert.deepEqual(await namesOf(streams, "job-"), names);
    },
  ],
];
