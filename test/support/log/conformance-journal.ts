/** What journal.ts says. */
import assert from "node:assert/strict";
import type { Check } from "./conformance-case.ts";
import { collect, entriesAfter, numbered, othersTurn, rejects } from "./conformance-case.ts";
import { AWKWARD } from "./conformance-log.ts";
import type { Journal } from "../../../src/log/journal.ts";

/** All entries after `after`, which must stand without a gap. */
async function streamAfter(journal: Journal, stream: string, after: number): Promise<string[]> {
  const entries: string[] = [];
  for await (const { position, entry } of journal.read(stream, after)) {
    assert.equal(position, after + entries.length + 1, "positions have no gap");
    entries.push(entry);
  }
  return entries;
}

export const journalCases: readonly (readonly [string, Check])[] = [
  [
    "a stream nobody wrote to is empty",
    async ({ journal }) => {
      assert.deepEqual(await journal.range("nobody"), { oldest: 1, head: 0 });
      assert.deepEqual(await collect(journal.read("nobody", 0)), []);
      assert.equal(await journal.append("nobody", []), 0);
      await journal.trim("nobody", 3);
      await journal.remove("nobody");
      assert.deepEqual(await collect(journal.streams("")), []);
    },
  ],
  [
    "an append resolves with the position of its last entry, and each stream has its own",
    async ({ journal }) => {
      assert.equal(await journal.append("a", numbered(1, 2)), 2);
      assert.equal(await journal.append("b", ["only"]), 1);
      assert.equal(await journal.append("a", numbered(3, 3)), 5);
      assert.equal(await journal.append("a", []), 5);
      assert.deepEqual(await streamAfter(journal, "a", 0), numbered(1, 5));
      assert.deepEqual(await streamAfter(journal, "a", 3), numbered(4, 2));
      assert.deepEqual(await streamAfter(journal, "a", 5), []);
      assert.deepEqual(await streamAfter(journal, "b", 0), ["only"]);
      assert.deepEqual(await journal.range("a"), { oldest: 1, head: 5 });
    },
  ],
  [
    "appends to one stream are written in the order of the calls, though nobody waits",
    async ({ journal }) => {
      const counts = Array.from({ length: 100 }, (_, index) => (index % 3) + 1);
      let head = 0;
      const appends = counts.map((count) => {
        head += count;
        return journal.append("one", numbered(head - count + 1, count));
      });
      const ends = counts.map((_, index) => counts.slice(0, index + 1).reduce((a, b) => a + b));
      assert.deepEqual(await Promise.all(appends), ends);
      assert.deepEqual(await streamAfter(journal, "one", 0), numbered(1, head));
    },
  ],
  [
    "very many streams can be written at once, beside the log",
    async ({ journal, log }) => {
      const streams = Array.from({ length: 200 }, (_, index) => `job-${index}`);
      const writeStream = async (stream: string) => {
        for (let head = 0; head < 10; head += 2) {
          assert.equal(await journal.append(stream, numbered(head + 1, 2)), head + 2);
        }
      };
      const writeLog = async () => {
        for (let head = 0; head < 20; head += 1) await log.append(numbered(head + 1, 1), head);
      };
      await Promise.all([writeLog(), ...streams.map(writeStream)]);
      for (const stream of streams) {
        assert.deepEqual(await streamAfter(journal, stream, 0), numbered(1, 10));
      }
      assert.deepEqual(await entriesAfter(log, 0), numbered(1, 20));
    },
  ],
  [
    "an append to the log that is fenced does not touch the journal",
    async ({ journal, log }) => {
      const [fenced, appended] = await Promise.allSettled([
        log.append(["late"], 7),
        journal.append("stream", ["kept"]),
      ]);
      assert.equal(fenced.status, "rejected");
      assert.equal(appended.status, "fulfilled");
      assert.deepEqual(await streamAfter(journal, "stream", 0), ["kept"]);
    },
  ],
  [
    "a reader beside the appends sees all that was acknowledged and never a gap",
    async ({ journal }) => {
      let acknowledged = 0;
      let isWriting = true;
      const writer = async () => {
        while (acknowledged < 300) {
          acknowledged = await journal.append("one", numbered(acknowledged + 1, 3));
        }
        isWriting = false;
      };
      const reader = async () => {
        while (isWriting) {
          const known = acknowledged;
          const seen = await streamAfter(journal, "one", 0);
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
    async ({ journal }) => {
      await journal.append("a", numbered(1, 2));
      const both = journal.appendAll([
        { stream: "a", entries: numbered(3, 2) },
        { stream: "b", entries: numbered(1, 1) },
      ]);
      const last = journal.append("a", numbered(5, 1));
      assert.deepEqual(await both, [4, 1]);
      assert.equal(await last, 5);
      assert.deepEqual(await streamAfter(journal, "a", 0), numbered(1, 5));
      assert.deepEqual(await streamAfter(journal, "b", 0), numbered(1, 1));
      assert.deepEqual(await journal.appendAll([]), []);
    },
  ],
  [
    "an append to several streams that is refused writes to none",
    async ({ journal }) => {
      const good = { stream: "a", entries: ["good"] };
      const bad = [
        { stream: "b", entries: ["b\nad"] },
        { stream: "", entries: ["no name"] },
        { stream: "b", entries: [] },
        { stream: "a", entries: ["twice"] },
      ];
      for (const each of bad) {
        await rejects("INVALID_ARGUMENT", journal.appendAll([good, each]));
      }
      assert.deepEqual(await collect(journal.streams("")), []);
    },
  ],
  [
    "any well-formed text comes back from a stream, and entries of a megabyte",
    async ({ journal }) => {
      const big = "é".repeat(1 << 19);
      const entries = [...AWKWARD, big, "", big];
      await journal.append("awkward", entries);
      for (const entry of entries) await journal.append("one by one", [entry]);
      assert.deepEqual(await streamAfter(journal, "awkward", 0), entries);
      assert.deepEqual(await streamAfter(journal, "one by one", 0), entries);
    },
  ],
  [
    "a raw newline and a stream that cannot be named are refused",
    async ({ journal }) => {
      await rejects("INVALID_ARGUMENT", journal.append("stream", ["good", "b\nad"]));
      await rejects("INVALID_ARGUMENT", journal.append("", ["no name"]));
      await rejects("INVALID_ARGUMENT", journal.append("a\0b", ["half a name"]));
      assert.deepEqual(await collect(journal.streams("")), []);
    },
  ],
  [
    "trimming forgets the entries up to there and never renumbers",
    async ({ journal }) => {
      await journal.append("one", numbered(1, 4));
      await journal.append("one", numbered(5, 4));
      for (const through of [2, 4, 6]) {
        await journal.trim("one", through);
        assert.deepEqual(await journal.range("one"), { oldest: through + 1, head: 8 });
        await rejects("OUT_OF_RANGE", collect(journal.read("one", through - 1)));
        const kept = await streamAfter(journal, "one", through);
        assert.deepEqual(kept, numbered(through + 1, 8 - through));
      }
      await journal.trim("one", 3);
      assert.deepEqual(await journal.range("one"), { oldest: 7, head: 8 });
    },
  ],
  [
    "a stream that was trimmed to its end, or beyond it, goes on where it was",
    async ({ journal }) => {
      await journal.append("one", numbered(1, 4));
      await journal.trim("one", 100);
      assert.deepEqual(await journal.range("one"), { oldest: 5, head: 4 });
      assert.deepEqual(await streamAfter(journal, "one", 4), []);
      assert.deepEqual(await collect(journal.streams("")), ["one"]);
      assert.equal(await journal.append("one", ["five"]), 5);
      assert.deepEqual(await streamAfter(journal, "one", 4), ["five"]);
    },
  ],
  [
    "a stream that was removed starts anew, and the others stay",
    async ({ journal }) => {
      await journal.append("one", numbered(1, 4));
      await journal.append("other", ["stays"]);
      await journal.remove("one");
      assert.deepEqual(await journal.range("one"), { oldest: 1, head: 0 });
      assert.deepEqual(await collect(journal.streams("")), ["other"]);
      assert.equal(await journal.append("one", ["anew"]), 1);
      assert.deepEqual(await streamAfter(journal, "one", 0), ["anew"]);
      assert.deepEqual(await streamAfter(journal, "other", 0), ["stays"]);
    },
  ],
  [
    "trimming and removing come after the appends that were called before them",
    async ({ journal }) => {
      const trimmed = [journal.append("a", numbered(1, 3)), journal.trim("a", 2)];
      const removed = [journal.append("b", ["gone"]), journal.remove("b")];
      await Promise.all([...trimmed, ...removed]);
      assert.deepEqual(await journal.range("a"), { oldest: 3, head: 3 });
      assert.deepEqual(await journal.range("b"), { oldest: 1, head: 0 });
    },
  ],
  [
    "streams are listed by prefix, in order of name",
    async ({ journal }) => {
      const names = ["b", "a_b", "a%b", "axb", "a", "a\u{1F600}", "a\uFF5E", "A", "a'b", "ä"];
      await Promise.all(names.map((name) => journal.append(name, ["entry"])));
      const sorted = ["a", "a%b", "a'b", "a_b", "axb", "a\uFF5E", "a\u{1F600}"];
      assert.deepEqual(await collect(journal.streams("a")), sorted);
      assert.deepEqual(await collect(journal.streams("a_")), ["a_b"]);
      assert.deepEqual(await collect(journal.streams("")), ["A", ...sorted, "b", "ä"]);
      assert.deepEqual(await collect(journal.streams("c")), []);
    },
  ],
  [
    "very many streams are all listed",
    async ({ journal }) => {
      const names = Array.from({ length: 2500 }, (_, index) => `job-${10_000 + index}`);
      await Promise.all(names.map((name) => journal.append(name, ["entry"])));
      assert.deepEqual(await collect(journal.streams("job-")), names);
    },
  ],
];
