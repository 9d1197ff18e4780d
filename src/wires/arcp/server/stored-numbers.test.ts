import { expect, test } from "vitest";
import { encodeSessionEntry, sessionStream } from "../../../core/job-stream.ts";
import type { SessionEntry } from "../../../core/sessions.ts";
import { STREAM } from "../../../jobs/limits.ts";
import { memoryStore } from "../../../log/memory/store.ts";
import { storedSessions } from "./stored-numbers.ts";

test("the streams of many sessions are read beside each other, some at once", async () => {
  const { log, streams } = memoryStore();
  await log.open();
  const ids = Array.from({ length: 200 }, (_, n) => `s${n}`);
  const span = { jobId: "j", first: 1, last: 3 };
  for (const [n, id] of ids.entries()) {
    await streams.append(sessionStream(id), [encodeSessionEntry({ ...span, seq: n + 1 })]);
  }
  let [open, most] = [0, 0];
  const slow = {
    ranges: (prefix: string) => streams.ranges(prefix),
    async *read(stream: string, after: number) {
      open += 1;
      most = Math.max(most, open);
      // As from another machine: the others are asked before this one answers.
      await new Promise(setImmediate);
      yield* streams.read(stream, after);
      open -= 1;
    },
  };
  const known = new Map(ids.slice(1).map((id) => [id, { subscriptions: new Map() }]));
  const { found, others } = await storedSessions(known, slow);
  expect(others).toEqual(["s0"]);
  expect([...found.keys()].toSorted()).toEqual(ids.slice(1).toSorted());
  for (const [n, id] of ids.entries()) if (n > 0) expect(found.get(id)?.oldest).toBe(n + 1);
  expect(most).toBe(STREAM.foundAtOnce);
});

test("of short and of long sessions the first and the last number are known", async () => {
  const { log, streams } = memoryStore();
  await log.open();
  const known = new Map<string, Pick<SessionEntry, "subscriptions">>();
  for (const count of [1, 2, STREAM.readWhole, STREAM.readWhole + 1, 500]) {
    const id = `s${count}`;
    // From an older program a session does not begin with 1.
    const spans = Array.from({ length: count }, (_, n) => ({ seq: 40 + n, jobId: "j", at: n + 1 }));
    const entries = spans.map(({ at, ...span }) => ({ ...span, first: at, last: at }));
    await streams.append(sessionStream(id), entries.map(encodeSessionEntry));
    known.set(id, { subscriptions: new Map() });
  }
  const reads: string[] = [];
  const counted = {
    ranges: (prefix: string) => streams.ranges(prefix),
    read(stream: string, after: number) {
      reads.push(stream);
      return streams.read(stream, after);
    },
  };
  const { found } = await storedSessions(known, counted);
  for (const [id, { oldest, seq, spans }] of found) {
    expect([id, oldest, seq]).toEqual([id, 40, 39 + spans]);
    const isShort = spans <= STREAM.readWhole;
    expect(reads.filter((stream) => stream === sessionStream(id))).toHaveLength(isShort ? 1 : 2);
  }
});
