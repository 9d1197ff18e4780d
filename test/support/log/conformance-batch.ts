/** The sentences of log.ts on events and stream entries in one append. */
import assert from "node:assert/strict";
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
import { newAppendId, put } from "./append.ts";

export const batchCases: readonly (readonly [string, Check])[] = [
  [
    "events and entries of streams are written by one append",
    async ({ log, streams }) => {
      await put(
        log,
        {
          entries: numbered(1, 2),
          streams: [
            { stream: "job/1", entries: numbered(1, 3) },
            { stream: "job/2", entries: ["only"] },
          ],
        },
        0,
      );
      await put(
        log,
        { entries: ["entry 3"], streams: [{ stream: "job/1", entries: ["entry 4"] }] },
        2,
      );
      assert.deepEqual(await entriesAfter(log, 0), numbered(1, 3));
      assert.deepEqual(await streamAfter(streams, "job/1", 0), numbered(1, 4));
      assert.deepEqual(await collect(streams.ranges("job/")), [
        { stream: "job/1", oldest: 1, head: 4 },
        { stream: "job/2", oldest: 1, head: 1 },
      ]);
    },
  ],
  [
    "an append that is fenced writes to no stream",
    async ({ log, streams }) => {
      const toStream = [{ stream: "job", entries: ["late"] }];
      await put(log, { entries: ["one"] }, 0);
      await rejects("FENCED", put(log, { entries: ["two"], streams: toStream }, 0));
      await rejects("FENCED", put(log, { entries: [], streams: toStream }, 2));
      assert.deepEqual(await namesOf(streams, ""), []);
    },
  ],
  [
    "an append is fenced whole by the head of one of its streams",
    async ({ log, streams }) => {
      await streams.append("a", numbered(1, 2));
      const first = { stream: "b", entries: ["one"], expectedHead: 0 };
      const moved = { stream: "a", entries: ["three"], expectedHead: 1 };
      const attempt = put(log, { entries: ["event"], streams: [first, moved] }, 0);
      await rejects("FENCED", attempt);
      assert.deepEqual(await reachOf(log), { head: 0, oldest: 1 });
      assert.deepEqual(await namesOf(streams, ""), ["a"]);
      const right = { ...moved, expectedHead: 2 };
      await put(log, { entries: ["event"], streams: [first, right] }, 0);
      assert.deepEqual(await streams.range("a"), { oldest: 1, head: 3 });
    },
  ],
  [
    "an append to streams only moves no head, and followers see a sign of life",
    async ({ log, streams }) => {
      await put(log, { entries: ["one"] }, 0);
      const follower = new Follower(log, 1);
      const waiting = follower.next();
      await put(log, { entries: [], streams: [{ stream: "job", entries: ["said"] }] }, 1);
      assert.deepEqual(await waiting, []);
      assert.deepEqual(await reachOf(log), { head: 1, oldest: 1 });
      assert.deepEqual(await streamAfter(streams, "job", 0), ["said"]);
      await put(log, { entries: ["two"] }, 1);
      assert.deepEqual(await follower.through(2), ["two"]);
      follower.stop();
    },
  ],
  [
    "an append with a part that cannot be written is refused whole",
    async ({ log, streams }) => {
      const good = { stream: "a", entries: ["good"] };
      const bad = [
        { stream: "b", entries: ["b\nad"] },
        { stream: "", entries: ["no name"] },
        { stream: "b", entries: [] },
        { stream: "a", entries: ["twice"] },
      ];
      for (const each of bad) {
        const attempt = put(log, { entries: ["event"], streams: [good, each] }, 0);
        await rejects("INVALID_ARGUMENT", attempt);
      }
      const attempt = put(log, { entries: ["b\nad"], streams: [good] }, 0);
      await rejects("INVALID_ARGUMENT", attempt);
      assert.deepEqual(await reachOf(log), { head: 0, oldest: 1 });
      assert.deepEqual(await namesOf(streams, ""), []);
    },
  ],
  [
    "appends to a stream with the log and without it keep the order of the calls",
    async ({ log, streams }) => {
      const at = await log.open();
      const own = [1, 2].map((n) => streams.append("job", [`entry ${n}`]));
      const third = [{ stream: "job", entries: ["entry 3"] }];
      const joint = log.append({ entries: ["event"], streams: third }, at, { id: newAppendId() });
      const last = streams.append("job", ["entry 4"]);
      await Promise.all([...own, joint]);
      assert.equal(await last, 4);
      assert.deepEqual(await streamAfter(streams, "job", 0), numbered(1, 4));
    },
  ],
  [
    "one append may write to thousands of streams",
    async ({ log, streams }) => {
      const names = Array.from({ length: 3000 }, (_, index) => `job/${10_000 + index}`);
      for (const [head, event] of ["one", "two"].entries()) {
        const parts = names.map((stream) => ({ stream, entries: [`${event} of ${stream}`] }));
        await put(log, { entries: [event], streams: parts }, head);
      }
      assert.deepEqual(await namesOf(streams, "job/"), names);
      for (const stream of [names[0] ?? "", names[2999] ?? ""]) {
        const said = [`one of ${stream}`, `two of ${stream}`];
        assert.deepEqual(await streamAfter(streams, stream, 0), said);
      }
    },
  ],
];
