import { expect, test } from "vitest";
import {
  decodeEntry,
  decodeSessionEntry,
  encodeEntry,
  encodeSessionEntry,
  lastSeqOf,
} from "./job-stream.ts";

const entry = { atMs: 1_700_000_000_123, seq: 4, kind: "log", body: '{"message":"a b ! c"}' };

test("an entry of a job is read as it was written, whatever its body says", () => {
  expect(encodeEntry(entry)).toBe('1700000000123 4 log {"message":"a b ! c"}');
  expect(decodeEntry(encodeEntry(entry))).toEqual(entry);
});

test("a span numbers the frames of a session by entries of a job", () => {
  const span = { seq: 7, jobId: "job_1", first: 3, last: 5 };
  expect(encodeSessionEntry(span)).toBe("7 job_1 3 5");
  expect(decodeSessionEntry("7 job_1 3 5")).toEqual(span);
  expect(lastSeqOf(span)).toBe(9);
});

test("a notice stands whole among the numbers of a session", () => {
  const notice = { ...entry, seq: 10, jobId: "job_1" };
  expect(encodeSessionEntry(notice)).toBe('10 job_1 ! 1700000000123 log {"message":"a b ! c"}');
  expect(decodeSessionEntry(encodeSessionEntry(notice))).toEqual(notice);
  expect(lastSeqOf(notice)).toBe(10);
});
