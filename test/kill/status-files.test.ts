/**
 * "Whole or not at all", on the real thing: processes that write one status file as fast as they
 * can, readers that look all the time, and `kill -9` at random moments.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { prune, readStatus, type StatusReading } from "../../src/status.ts";
import { Random } from "../simulation/random.ts";

const KILLS = 15;
const WRITER = new URL("status-writer.mjs", import.meta.url).pathname;

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "rollcall-status-kill-"));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function startWriter(name: string) {
  return spawn(process.execPath, [WRITER, directory, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Which text it is; throws when it is not one of them from the first to the last byte. */
function numberOf(reading: StatusReading): number {
  if (reading.kind === "refused") throw new Error(reading.problems.join());
  const { agent_name: name, runtime, x_meta: meta } = reading.status;
  const { pid: number = 0 } = runtime;
  expect(meta?.["last"]).toBe(`${name} ${number}`);
  expect(meta?.["filler"] === `${number} `.repeat(100_000)).toBe(true);
  return number;
}

/** A text is being written that was not there before. */
async function whenDrafting(): Promise<void> {
  const before = new Set(readdirSync(directory));
  for (let looks = 0; looks < 10_000; looks += 1) {
    if (readdirSync(directory).some((name) => !before.has(name))) return;
    await new Promise((turn) => setImmediate(turn));
  }
}

function read(): StatusReading {
  return readStatus(join(directory, "victim.json"));
}

test(
  "a writer that is killed in the middle leaves the old file or the new one",
  { timeout: 60_000 },
  async () => {
    const seed = Date.now() % 1_000_000;
    const random = new Random(seed);
    let drafts = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const writer = startWriter(`writer-${kill}`);
      const ended = once(writer, "close");
      const last = random.between(1, 30);
      let written = 0;
      for await (const line of createInterface({ input: writer.stdout })) {
        written = Number(line);
        if (written === last) void whenDrafting().then(() => writer.kill("SIGKILL"));
      }
      await ended;
      const found = numberOf(read());
      expect(found, `after kill ${kill} of seed ${seed}`).toBeGreaterThanOrEqual(written);
      expect(found).toBeLessThanOrEqual(written + 1);
      drafts = readdirSync(directory).length - 1;
    }
    // It did hit writers in the middle; what they left is swept.
    expect(drafts, `of seed ${seed}`).toBeGreaterThan(0);
    prune({ folder: directory, nowMs: Date.now() + 1000, pruneAfterMs: 1000 });
    expect(readdirSync(directory)).toEqual([]);
  },
);

test(
  "whoever reads while several write sees one whole text after another",
  { timeout: 60_000 },
  async () => {
    const writers = ["a", "b", "c"].map(startWriter);
    const ended = writers.map((writer) => once(writer, "close"));
    await Promise.all(writers.map((writer) => once(writer.stdout, "data")));
    const seen = new Set<string>();
    for (let reads = 0; reads < 600; reads += 1) {
      const reading = read();
      const number = numberOf(reading);
      if (reading.kind === "status") seen.add(`${reading.status.agent_name} ${number}`);
      // The pipes of the writers must not fill up.
      for (const { stdout } of writers) stdout.resume();
      if (reads % 10 === 0) await new Promise((turn) => setImmediate(turn));
    }
    for (const writer of writers) writer.kill("SIGKILL");
    await Promise.all(ended);
    expect(seen.size).toBeGreaterThan(20);
  },
);
