import { assert, constantFrom, integer, json, nat, property, record, string } from "fast-check";
import { describe, expect, test } from "vitest";
import {
  budgetOf,
  decodeEntry,
  decodeSessionEntry,
  encodeEntry,
  encodeSessionEntry,
  isNotice,
  isShown,
  jobStream,
  lastSeqOf,
  sessionStream,
} from "./job-stream.ts";

const aKind = constantFrom("input", "budget", "end", "log", "x-vendor.acme.step", "result_chunk");
const aJobId = string({ minLength: 1, maxLength: 12 }).map(
  (text) => `job_${text.replace(/ /g, "")}`,
);

test("an entry of a job reads as it was written, whatever its body says", () => {
  const anEntry = record({ atMs: nat(), seq: nat(), kind: aKind, body: json() });
  assert(
    property(anEntry, (entry) => {
      const text = encodeEntry(entry);
      expect(decodeEntry(text)).toEqual(entry);
      expect(text).not.toContain("\n");
    }),
  );
  expect(encodeEntry({ atMs: 5, seq: 4, kind: "progress", body: '{"current":1}' })).toBe(
    '5 4 progress {"current":1}',
  );
});

test("the input and the budget are nobody's to see", () => {
  const shown = ["input", "budget", "end", "log", "status"].filter((kind) => isShown({ kind }));
  expect(shown).toEqual(["end", "log", "status"]);
  const entry = decodeEntry('7 0 budget {"USD":"1.5"}');
  expect(budgetOf(entry)).toEqual({ USD: "1.5" });
});

describe("an entry of a session", () => {
  test("reads as it was written, a span or a notice", () => {
    const aSpan = record({ seq: integer({ min: 1 }), jobId: aJobId, first: nat(), last: nat() });
    const seq = integer({ min: 1 });
    const aNotice = record({ seq, jobId: aJobId, atMs: nat(), kind: aKind, body: json() });
    assert(
      property(aSpan, aNotice, (span, notice) => {
        expect(decodeSessionEntry(encodeSessionEntry(span))).toEqual(span);
        expect(decodeSessionEntry(encodeSessionEntry(notice))).toEqual(notice);
        expect([isNotice(span), isNotice(notice)]).toEqual([false, true]);
      }),
    );
  });

  test("stands for as many frames as its span is long; a notice for one", () => {
    const span = decodeSessionEntry("7 job_1 3 5");
    expect(lastSeqOf(span)).toBe(9);
    expect(lastSeqOf(decodeSessionEntry('10 job_1 ! 5 status {"phase":"a b"}'))).toBe(10);
  });
});

test("streams are named after what they are of", () => {
  expect([jobStream("job_1"), sessionStream("s1")]).toEqual(["job/job_1", "session/s1"]);
});
