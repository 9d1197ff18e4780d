import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  collect,
  entriesAfter,
  numbered,
  rejects,
  streamAfter,
} from "../../../test/support/log/conformance-case.ts";
import { storeConformance } from "../../../test/support/log/conformance.ts";
import { connect } from "./driver.ts";
import { sqliteStore } from "./store.ts";
import { appendAt } from "../../../test/support/log/append.ts";

const BUILT = new URL("../../../dist/lib/index.js", import.meta.url).href;

function medium() {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-sqlite-"));
  const path = join(folder, "rollcall.db");
  const remove = () => Promise.resolve(rmSync(folder, { recursive: true }));
  return { path, connect: () => sqliteStore({ path }), remove };
}

function scratch(): string {
  const { path, remove } = medium();
  onTestFinished(remove);
  return path;
}

describe("a sqlite store", () => {
  const cases = storeConformance({
    medium: () => Promise.resolve(medium()),
    isDurable: true,
    isShared: false,
  });
  test.each(cases)("%s", (_title, run) => run());

  test("says where it is", () => {
    const path = scratch();
    expect(sqliteStore({ path }).description).toBe(`sqlite at ${path}`);
  });
});

test("a block that is missing from a large file is damage, with its place", async () => {
  const path = scratch();
  const store = sqliteStore({ path });
  await store.log.open();
  for (let block = 0; block < 4; block += 1) await store.streams.append("job", [LARGE]);
  await appendAt(store.log, { entries: [LARGE] }, 0);
  await appendAt(store.log, { entries: [LARGE] }, 1);
  await store.close();
  const database = await connect(path);
  database.exec("DELETE FROM journal WHERE last = 1");
  database.close();

  const found = sqliteStore({ path });
  onTestFinished(() => found.close());
  await found.log.open();
  const read = collect(found.streams.read("job", 0));
  await expect(read).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
  await expect(read).rejects.toThrow(`${path} is damaged`);
  await expect(read).rejects.toThrow("of stream job");
});

test("no read of a large file ends, and no write begins, if an index is damaged", async () => {
  const path = scratch();
  const store = sqliteStore({ path });
  await store.log.open();
  for (let block = 0; block < 6; block += 1) await store.streams.append("job", [LARGE]);
  await store.close();
  // In Node 20 a connection with a statement has its file until the thread ends.
  const copy = `${path}.copy`;
  copyFileSync(path, copy);
  const database = await connect(copy);
  const { rootpage } = database
    .prepare<{ rootpage: number }>("SELECT rootpage FROM sqlite_schema WHERE name = ?")
    .get("journal_by_stream") ?? { rootpage: 0 };
  database.close();
  // Five cells instead of six: the newest block is left out.
  const file = openSync(path, "r+");
  writeSync(file, Buffer.of(0, 5), 0, 2, (rootpage - 1) * 4096 + 3);
  closeSync(file);
  const before = readFileSync(path);
  const found = sqliteStore({ path });
  // A second start goes on where the first was.
  for (let start = 0; start < 2; start += 1) {
    await found.log.open();
    await Promise.all([
      rejects("STORAGE_CORRUPT", collect(found.log.read(0))),
      rejects("STORAGE_CORRUPT", collect(found.streams.read("job", 0))),
      rejects("STORAGE_CORRUPT", appendAt(found.log, { entries: ["believed"] }, 0)),
      rejects("STORAGE_CORRUPT", found.streams.append("job", ["believed"])),
      rejects("STORAGE_CORRUPT", found.streams.remove("job")),
      rejects("STORAGE_CORRUPT", found.log.saveSnapshot({ sequence: 1, chunks: ["believed"] })),
      rejects("STORAGE_CORRUPT", found.log.truncate(1)),
    ]);
  }
  await found.close();
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a large file is written, and closed, while its pages are being checked", async () => {
  const path = scratch();
  const store = sqliteStore({ path });
  await store.log.open();
  for (let block = 0; block < 6; block += 1) await store.streams.append("job", [LARGE]);
  await store.close();
  for (let round = 1; round < 4; round += 1) {
    const again = sqliteStore({ path });
    expect(await again.log.open()).toMatchObject({ head: round - 1 });
    const appended = appendAt(again.log, { entries: [`entry ${round}`] }, round - 1);
    if (round !== 2) expect(await collect(again.streams.read("job", 0))).toHaveLength(6);
    await again.close();
    await appended;
  }
  const last = sqliteStore({ path });
  onTestFinished(() => last.close());
  await last.log.open();
  expect(await entriesAfter(last.log, 0)).toEqual(numbered(1, 3));
});

const LARGE = "x".repeat(2 << 20);

/** Appends as fast as it can and prints what was acknowledged, until it is killed. */
const WRITER = `
  const { sqliteStore } = await import(${JSON.stringify(BUILT)});
  const { log, streams } = sqliteStore({ path: process.argv[1] });
  let { head } = await log.open();
  const say = (what) => process.stdout.write(JSON.stringify(what) + "\\n");
  const number = (first, count) => Array.from({ length: count }, (_, i) => "entry " + (first + i));
  void (async () => {
    for (let end = (await streams.range("job")).head; ; ) {
      end = await streams.append("job", number(end + 1, 2));
      say({ stream: end });
    }
  })();
  void (async () => {
    for (;;) {
      const chunks = ["whole ", "x".repeat(300000), " snapshot"];
      await log.saveSnapshot({ sequence: head, chunks });
    }
  })();
  for (;;) {
    const entries = number(head + 1, 3);
    ({ head } = await log.append({ entries }, { head, mark: head }, { id: "writer." + head }));
    say({ head });
  }
`;

/** Lets a writer run for so many lines of output, then kills it; gives what it acknowledged. */
async function killedAfter(path: string, lines: number) {
  const writer = spawn(process.execPath, ["--input-type=module", "--eval", WRITER, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(writer, "exit");
  let acknowledged = { head: 0, stream: 0 };
  let seen = 0;
  for await (const line of createInterface(writer.stdout)) {
    acknowledged = { ...acknowledged, ...(JSON.parse(line) as Partial<typeof acknowledged>) };
    seen += 1;
    if (seen === lines) writer.kill("SIGKILL");
  }
  await exited;
  return acknowledged;
}

test("what was acknowledged survives a kill, and nothing is there by half", async () => {
  const seed = Number(process.env["SEED"] ?? Date.now() % 100_000);
  process.stdout.write(`kill test with SEED=${seed}\n`);
  const path = scratch();
  for (let round = 0; round < 3; round += 1) {
    const acknowledged = await killedAfter(path, 20 + ((seed * (round + 7)) % 150));

    const store = sqliteStore({ path });
    const { log, streams } = store;
    const { head } = await log.open();
    expect(acknowledged.head).toBeGreaterThan(0);
    expect(head).toBeGreaterThanOrEqual(acknowledged.head);
    expect(head % 3).toBe(0);
    expect(await entriesAfter(log, 0)).toEqual(numbered(1, head));
    const entries = await streamAfter(streams, "job", 0);
    expect(entries.length).toBeGreaterThanOrEqual(acknowledged.stream);
    expect(entries).toEqual(numbered(1, entries.length));
    const snapshot = await log.loadSnapshot(head);
    const state = await collect(snapshot?.chunks ?? []);
    expect([0, 300_015]).toContain(state.join("").length);
    await store.close();
  }
}, 30_000);
