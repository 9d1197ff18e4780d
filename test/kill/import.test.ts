/**
 * Files of an older program are taken over, on the real thing: the program that does it is killed
 * at random moments, also while the disk is full. It runs again and ends in the same state.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { rules } from "../../src/core/rules.ts";
import { fingerprint } from "../../src/core/snapshot.ts";
import { load } from "../../src/engine/replica.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { Random } from "../simulation/random.ts";
import { smallDisk } from "../small-disk.ts";
import { contentsOf, daemonFile, multiply, runtimeFile } from "../support/arcp/old-file.ts";
import { bundled } from "../support/bundled.ts";

const KILLS = 20;
const importer = await bundled("test/kill/importer.ts");

interface Life {
  readonly isDone: boolean;
  readonly stderr: string;
  /** From its first word to its last. */
  readonly tookMs: number;
}

/** Takes the file over; killed so long after it began, if that is before it is done. */
async function live(path: string, killAfterMs?: number): Promise<Life> {
  const child = spawn(process.execPath, [importer, path], { stdio: ["ignore", "pipe", "pipe"] });
  const exit = once(child, "exit");
  let killing: NodeJS.Timeout | undefined;
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const words: { readonly line: string; readonly atMs: number }[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    words.push({ line, atMs: performance.now() });
    if (line !== "begins" || killAfterMs === undefined) continue;
    // tidy-allow sleep: the moment of the kill is the test
    killing = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  }
  await exit;
  clearTimeout(killing);
  const [first, last] = [words.at(0), words.at(-1)];
  const tookMs = (last?.atMs ?? 0) - (first?.atMs ?? 0);
  return { isDone: last?.line === "done", stderr, tookMs };
}

/** All that is in a file, and what an engine makes of it. */
async function found(path: string): Promise<string> {
  const store = sqliteStore({ path });
  const contents = await contentsOf(store);
  const { state } = await load(store.log, rules);
  await store.close();
  return fingerprint(state) + JSON.stringify(contents);
}

/** As it was before any import: without the witness of one. */
function putBack(original: string, path: string): void {
  copyFileSync(original, path);
  rmSync(`${path}.witness`, { force: true });
}

/** Files of many, so that an import takes a while; and what becomes of one that nobody disturbs. */
async function made(original: string, copies: number) {
  await multiply(original, copies);
  const path = `${original}.whole`;
  copyFileSync(original, path);
  const { tookMs, isDone } = await live(path);
  expect(isDone).toBe(true);
  return { whole: await found(path), mostMs: Math.ceil(tookMs) };
}

test(
  "an import that is killed runs again and ends in the same state",
  { timeout: 300_000 },
  async () => {
    const seed = Date.now() % 1_000_000;
    const random = new Random(seed);
    const { path: original } = runtimeFile();
    const { whole, mostMs } = await made(original, 30);
    const path = `${original}.killed`;
    let cuts = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      putBack(original, path);
      const afterMs = random.between(0, mostMs);
      const { isDone } = await live(path, afterMs);
      if (!isDone) cuts += 1;
      await live(path);
      const isSame = (await found(path)) === whole;
      expect(isSame, `kill ${kill} of seed ${seed}, after ${afterMs} ms`).toBe(true);
    }
    // The kills struck while there was something to lose: else nothing was shown.
    expect(cuts, `seed ${seed}`).toBeGreaterThan(KILLS / 10);
  },
);

test(
  "an import that is killed on a full disk runs again when there is room",
  { timeout: 300_000 },
  async (context) => {
    const disk = smallDisk(context);
    disk.freeRoom();
    const seed = Date.now() % 1_000_000;
    const random = new Random(seed);
    const { path: original } = daemonFile();
    const { whole, mostMs } = await made(original, 60);
    const path = join(disk.folder, "rollcall.db");
    const ballast = join(disk.folder, "ballast");
    let refusals = 0;
    for (let round = 0; round < KILLS; round += 1) {
      putBack(original, path);
      const roomBytes = random.between(0, statSync(original).size);
      const { bavail, bsize } = statfsSync(disk.folder);
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - roomBytes)));
      await live(path, random.between(0, mostMs));
      const { isDone, stderr } = await live(path);
      if (!isDone) refusals += 1;
      if (!isDone) expect(stderr, `round ${round} of seed ${seed}`).toContain("STORAGE_FULL");
      rmSync(ballast);
      await live(path, random.between(0, mostMs));
      await live(path);
      const isSame = (await found(path)) === whole;
      expect(isSame, `round ${round} of seed ${seed}, ${roomBytes} bytes of room`).toBe(true);
    }
    expect(refusals, `seed ${seed}`).toBeGreaterThan(KILLS / 10);
  },
);
