import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  collect,
  entriesAfter,
  numbered,
  streamAfter,
} from "../../../test/support/log/conformance-case.ts";
import { storeConformance } from "../../../test/support/log/conformance.ts";
import { connect } from "./driver.ts";
import { sqliteStore } from "./store.ts";

const BUILT = new URL("../../../dist/log/sqlite/store.js", import.meta.url).href;

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

/** How many rows each table has, in a file that nobody has open. */
async function rows(path: string): Promise<Record<string, number>> {
  const database = await connect(path);
  const counted = ["log", "snapshot", "chunk", "stream", "journal"].map((table) => {
    const sql = `SELECT count(*) AS n FROM ${table}`;
    return [table, database.prepare<{ n: number }>(sql).get()?.n ?? 0] as const;
  });
  database.close();
  return Object.fromEntries(counted);
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

  test("deletes what was truncated, trimmed, removed and replaced", async () => {
    const path = scratch();
    const store = sqliteStore({ path });
    const { log, streams } = store;
    await log.open();
    for (let head = 0; head < 60; head += 3)
      await log.append({ entries: numbered(head + 1, 3) }, head);
    for (const sequence of [3, 30, 60, 60]) {
      await log.saveSnapshot({ sequence, chunks: numbered(1, 50) });
    }
    for (let head = 0; head < 10; head += 1) {
      await streams.append("trimmed", ["entry"]);
      await streams.append("removed", ["entry"]);
    }
    await streams.trim("trimmed", 9);
    await streams.remove("removed");
    await log.truncate(58);
    await store.close();
    expect(await rows(path)).toEqual({ log: 1, snapshot: 1, chunk: 50, stream: 1, journal: 1 });
  });

  test("deletes what a crash left half-done", async () => {
    const path = scratch();
    const store = sqliteStore({ path });
    await store.log.open();
    await store.close();
    const database = await connect(path);
    database.exec(`
      INSERT INTO snapshot (sequence, is_complete) VALUES (0, 0);
      INSERT INTO chunk VALUES (1, 0, x'61'), (1, 1, x'62');
      INSERT INTO stream (name, trimmed) VALUES (NULL, 0);
      INSERT INTO journal VALUES (1, 1, 1, x'61');
    `);
    database.close();

    const next = sqliteStore({ path });
    await next.log.open();
    expect(await next.log.loadSnapshot(0)).toBeUndefined();
    await next.streams.remove("any: it sweeps and waits for the end of it");
    await next.close();
    expect(await rows(path)).toEqual({ log: 0, snapshot: 0, chunk: 0, stream: 0, journal: 0 });
  });
});

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
    await log.append({ entries: number(head + 1, 3) }, head);
    head += 3;
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
