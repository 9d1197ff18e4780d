import { expect, test } from "vitest";
import { encodeSessionEntry, sessionStream } from "../../../core/job-stream.ts";
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
