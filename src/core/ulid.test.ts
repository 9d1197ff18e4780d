import { expect, test } from "vitest";
import { newId } from "./jobs/ids.ts";
import { isUlid, ulids, ulidTime } from "./ulid.ts";

/** A maker whose time and chance are what the test says. */
function maker(nowMs: () => number, byte = 0): () => string {
  return ulids({ nowMs, fillRandom: (bytes) => bytes.fill(byte) });
}

test("an id says when it was made", () => {
  const nowMs = Date.parse("2026-11-15T10:00:00.123Z");
  const id = maker(() => nowMs)();
  expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(isUlid(id)).toBe(true);
  expect(ulidTime(id)).toBe(nowMs);
  // The example of the ULID specification: this moment is these ten characters.
  expect(maker(() => 1_469_918_176_385)().slice(0, 10)).toBe("01ARYZ6S41");
});

test("ids grow, within a millisecond and while the clock runs backwards", () => {
  const times = [5, 5, 5, 4, 1, 5, 6, 6, 2];
  let at = 0;
  const next = maker(() => times[at++] ?? 7, 255);
  const ids = Array.from({ length: 12 }, next);
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(12);
});

test("counting on carries from the lower half to the upper", () => {
  const next = maker(() => 0, 255);
  const [first, second] = [next(), next()];
  expect(first).toBe(`${"0".repeat(10)}FZZZZZZZ${"Z".repeat(8)}`);
  expect(second).toBe(`${"0".repeat(10)}G0000000${"0".repeat(8)}`);
});

test("a million ids are a million", () => {
  let ms = 0;
  const next = maker(() => (ms += 0.01), 7);
  let last = "";
  for (let i = 0; i < 1_000_000; i += 1) {
    const id = next();
    if (id <= last) throw new Error(`${id} does not follow ${last}`);
    last = id;
  }
});

test("ids carry what they are of, and nothing else passes for a ULID", () => {
  const next = maker(() => 1);
  expect(newId("message", next)).toMatch(/^msg_/);
  expect(isUlid(newId("job", next).slice("job_".length))).toBe(true);
  for (const text of ["", "job_", "job_~QFH38", "8".repeat(26), `job_${"u".repeat(26)}`]) {
    expect(isUlid(text)).toBe(false);
    expect(ulidTime(text)).toBeUndefined();
  }
});
