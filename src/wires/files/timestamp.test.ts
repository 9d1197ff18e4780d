import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readTimestamp, timestampMs, writeTimestamp } from "./timestamp.ts";

const NOON = Date.UTC(2026, 5, 20, 12);

test.each([
  ["2026-06-20T12:00:00Z", NOON],
  ["2026-06-20T12:00:00+00:00", NOON],
  ["2026-06-20T14:30:00+02:30", NOON],
  ["2026-06-20T06:00:00-06", NOON],
  ["20260620T120000Z", NOON],
  ["2026-06-20 12:00Z", NOON],
  ["2026-06-20T12Z", NOON],
  ["2026-06-20T12:00:00.5Z", NOON + 500],
  ["2026-06-20T12:00:00,123456789Z", NOON + 123.456],
  ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
  ["0001-01-01T00:00:00Z", -62_135_596_800_000],
])("%s is a moment", (text, atMs) => {
  expect(readTimestamp(text)).toBe(atMs);
});

test.each(["2026-06-20", "2026-06-20T12:00:00", "20260620"])(
  "%s has no zone, and that is what is wrong with it",
  (text) => {
    expect(readTimestamp(text)).toBe(`timestamp must include timezone: ${text}`);
  },
);

test.each([
  "yesterday",
  "2026-13-01T00:00:00Z",
  "2026-02-29T00:00:00Z",
  "2026-06-20T24:00:00Z",
  "2026-06-20T12:60:00Z",
  "2026-06-20T12:00:60Z",
  "2026-06-20T12:0000Z",
  "2026-06-20T12:00:00+24:00",
  "2026-06-20T12:00:00ZZ",
  "0000-01-01T00:00:00Z",
  " 2026-06-20T12:00:00Z",
  "2026-06-20T12:00:00Z\n",
])("%j is no moment", (text) => {
  expect(readTimestamp(text)).toBe(`invalid timestamp: ${text}`);
});

test.each([[""], [null], [undefined], [5], [{}]])("%j is not even a text", (value) => {
  expect(readTimestamp(value)).toBe("timestamp must be non-empty string");
});

test("every whole second is read as it was written", () => {
  const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
  fc.assert(fc.property(seconds, (at) => timestampMs(writeTimestamp(at * 1000)) === at * 1000));
});

test("whatever comes in, the answer is a number or a sentence", () => {
  const digits = fc.string({
    unit: fc.constantFrom(..."0123456789-:+.,TZW ".split("")),
    maxLength: 30,
  });
  fc.assert(
    fc.property(fc.oneof(digits, fc.string()), (text) => {
      const read = readTimestamp(text);
      return typeof read === "string" ? read !== "" : Number.isFinite(read);
    }),
  );
});
