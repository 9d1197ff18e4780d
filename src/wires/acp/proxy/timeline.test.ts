import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { followTimelines } from "./follow.ts";
import { TIMELINE } from "./limits.ts";
import { record } from "../../../../test/support/acp-proxy/fixture.ts";
import { lineOf, sweepTimelines, TimelineWriter } from "./timeline.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "rollcall-timeline-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const change = (agent: string, atMs: number, message: string) =>
  lineOf({ agent, name: agent, atMs, record: record({ message }) });

test("what agents did comes in its order, what they do as it happens", async () => {
  const [a, b] = [new TimelineWriter("a", folder), new TimelineWriter("b", folder)];
  a.write(change("a", 1_000, "first"));
  b.write(change("b", 2_000, "second"));
  a.write(change("a", 3_000, "third"));
  a.write(change("a", 3_500, "of no interest"));
  await Promise.all([a.close(), b.close()]);
  const stop = new AbortController();
  const seen: string[] = [];
  const wanted =
    () =>
    ({ message }: { message: string | null }) =>
      message !== "of no interest";
  const { signal } = stop;
  for await (const line of followTimelines({ folder, last: 2, wanted, signal })) {
    seen.push(line.message ?? "");
    if (seen.length === 2) b.write(change("b", 4_000, "live"));
    // Half a line is none; the rest makes it one.
    if (seen.length === 3) appendFileSync(join(folder, "b.jsonl"), '{"at":"2026","status":');
    if (seen.length === 3) appendFileSync(join(folder, "b.jsonl"), '"idle","message":"late"}\n');
    if (seen.length === 4) stop.abort();
  }
  expect(seen).toEqual(["second", "third", "live", "late"]);
});

test("a timeline is for its owner alone, and never grows beyond its bound", async () => {
  const writer = new TimelineWriter("a", folder);
  const long = "x".repeat(10_000);
  for (let i = 0; i < 120; i += 1) {
    writer.write(change("a", i, long));
    if (i % 10 === 9) await writer.close();
  }
  await writer.close();
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)));
  expect(sizes).toHaveLength(2);
  for (const { size, mode } of sizes) {
    expect(size).toBeLessThanOrEqual(TIMELINE.bytes);
    expect(mode & 0o777).toBe(0o600);
  }
});

test("after a day nobody asks for it", async () => {
  const writer = new TimelineWriter("a", folder);
  writer.write(change("a", 0, "x"));
  await writer.close();
  utimesSync(join(folder, "a.jsonl"), 1_000, 1_000);
  await sweepTimelines(1_000_000 + TIMELINE.keptMs, folder);
  expect(readdirSync(folder)).toHaveLength(1);
  await sweepTimelines(1_000_001 + TIMELINE.keptMs, folder);
  expect(readdirSync(folder)).toEqual([]);
});
