import { afterEach, beforeEach, expect, test } from "vitest";
import { parseMoment } from "./moments.ts";

const zone = process.env["TZ"];

beforeEach(() => {
  process.env["TZ"] = "Europe/Berlin";
});

afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

const NOW = Date.parse("2026-06-20T16:04:05.678+02:00");

test.each([
  ["14:03", "2026-06-20T14:03:00+02:00"],
  ["9:05:30", "2026-06-20T09:05:30+02:00"],
  // The last time that it was so: today's is yet to come.
  ["23:50", "2026-06-19T23:50:00+02:00"],
  ["today 14:03", "2026-06-20T14:03:00+02:00"],
  ["yesterday 14:03", "2026-06-19T14:03:00+02:00"],
  ["Yesterday 23:59:59", "2026-06-19T23:59:59+02:00"],
  ["2026-06-18 14:03", "2026-06-18T14:03:00+02:00"],
  ["2026-01-18T14:03", "2026-01-18T14:03:00+01:00"],
  ["2026-06-18T14:03Z", "2026-06-18T16:03:00+02:00"],
  ["2026-06-18T14:03:01.5-05:00", "2026-06-18T21:03:01.500+02:00"],
  ["10m ago", "2026-06-20T15:54:05.678+02:00"],
  ["10 min ago", "2026-06-20T15:54:05.678+02:00"],
  ["1.5h ago", "2026-06-20T14:34:05.678+02:00"],
  ["2 hours ago", "2026-06-20T14:04:05.678+02:00"],
  ["30s ago", "2026-06-20T16:03:35.678+02:00"],
  ["1 day ago", "2026-06-19T16:04:05.678+02:00"],
])("%s is %s", (text, expected) => {
  expect(new Date(parseMoment(text, NOW))).toEqual(new Date(expected));
});

test.each(["", "noon", "14", "25:00", "14:60", "yesterday", "2026-02-30 14:03", "x ago", "ago"])(
  "%j is no time",
  (text) => {
    expect(() => parseMoment(text, NOW)).toThrow("not a time, such as 14:03");
  },
);

test.each(["today 23:50", "2026-06-21 00:00", "2027-01-01T00:00Z"])("%s is yet to come", (text) => {
  expect(() => parseMoment(text, NOW)).toThrow("yet to come");
});
