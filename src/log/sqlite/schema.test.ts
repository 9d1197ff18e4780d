import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { smallDisk } from "../../../test/small-disk.ts";
import {
  collect,
  entriesAfter,
  namesOf,
  streamAfter,
} from "../../../test/support/log/conformance-case.ts";
import type { Store } from "../store.ts";
import { openDatabase } from "./database.ts";
import { connect, type Database } from "./driver.ts";
import { sqliteStore } from "./store.ts";
import { appendOf } from "./protocol.ts";
import { Tables } from "./tables.ts";
import { appendAt } from "../../../test/support/log/append.ts";

/**
 * Written by commit afcfb67, the last one with schema 1: 24 events of an engine, the first ten of
 * them truncated, a snapshot at 24, and the streams below, one of which a crash left trimmed but
 * not swept.
 */
const OLD = new URL("../../../test/support/log/schema-1.db", import.meta.url);

const STREAMS = [
  { stream: "arcp/ledger", oldest: 1, head: 5 },
  { stream: "arcp/session/crashed", oldest: 3, head: 3 },
  { stream: "arcp/session/emptied", oldest: 3, head: 2 },
  { stream: "arcp/session/large", oldest: 1, head: 40 },
  { stream: "arcp/session/one", oldest: 1, head: 4 },
  { stream: "arcp/session/trimmed", oldest: 5, head: 6 },
];

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-schema-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return join(folder, "rollcall.db");
}

function copyOf(source: URL, path = scratch()): string {
  fs.copyFileSync(source, path);
  return path;
}

function opened(path: string): Store {
  const store = sqliteStore({ path, writtenBy: "rollcall 0.2.0" });
  onTestFinished(() => store.close());
  return store;
}

/** In a copy: who looks has the file open until the statements are collected. */
async function inspect<T>(path: string, look: (database: Database) => T): Promise<T> {
  const database = await connect(copyOf(pathToFileURL(path)));
  try {
    return look(database);
  } finally {
    database.close();
  }
}

async function metaOf(path: string): Promise<Record<string, unknown>> {
  return inspect(path, (database) => {
    const version = database.prepare<{ user_version: number }>("PRAGMA user_version").get();
    const rows = database
      .prepare<{ name: string; value: unknown }>("SELECT name, value FROM meta")
      .all();
    return { ...version, ...Object.fromEntries(rows.map(({ name, value }) => [name, value])) };
  });
}

async function expectAll({ log, streams }: Store): Promise<void> {
  expect(await log.open()).toMatchObject({ head: 24, oldest: 11 });
  expect(await entriesAfter(log, 10)).toHaveLength(14);
  const snapshot = await log.loadSnapshot(Infinity);
  expect(snapshot?.sequence).toBe(24);
  expect((await collect(snapshot?.chunks ?? [])).join("")).toContain("agent 4");
  expect(await collect(streams.ranges(""))).toEqual(STREAMS);
  const one = ["first", "second", "third", "fourth"];
  expect(await streamAfter(streams, "arcp/session/one", 0)).toEqual(one);
  expect(await streamAfter(streams, "arcp/session/trimmed", 4)).toEqual(["5", "6"]);
  expect((await streamAfter(streams, "arcp/session/large", 38))[1]).toContain("39 é世");
}

test("a file of schema 1 is read, and stays as it is until something is written", async () => {
  const path = copyOf(OLD);
  const before = await metaOf(path);
  const store = opened(path);
  await expectAll(store);
  expect(store.log.programs).toEqual({ last: "rollcall 0.1.0", own: "rollcall 0.2.0" });
  await appendAt(store.log, { entries: [] }, 24);
  await store.close();
  expect(await metaOf(path)).toEqual(before);
  expect(before).toEqual({ user_version: 1, truncated: 10, written_by: "rollcall 0.1.0" });
});

test("the first append makes it a file of ours, with all that was in it", async () => {
  const path = copyOf(OLD);
  const { log, streams } = opened(path);
  await log.open();
  const toStream = [{ stream: "arcp/session/one", entries: ["fifth"] }];
  await appendAt(log, { entries: ["event"], streams: toStream }, 24);
  expect(await entriesAfter(log, 23)).toHaveLength(2);
  const one = ["first", "second", "third", "fourth", "fifth"];
  expect(await streamAfter(streams, "arcp/session/one", 0)).toEqual(one);
  expect(await streams.append("arcp/session/emptied", ["3"], 2)).toBe(3);
  expect(await streams.append("job/new", ["1"], 0)).toBe(1);
  await streams.trim("arcp/session/trimmed", 5);
  await streams.remove("arcp/session/large");
  const names = ["ledger", "session/crashed", "session/emptied", "session/one", "session/trimmed"];
  expect(await namesOf(streams, "arcp/")).toEqual(names.map((name) => `arcp/${name}`));
  await log.close();

  const { log_id: logId, tables: _, ...rest } = await metaOf(path);
  expect(logId).toMatch(/^[0-9a-f-]{36}$/);
  const unchecked = JSON.stringify({ log: 24, snapshot: 1, stream: 6, journal: 13 });
  const written = { truncated: 10, base: 0, written_by: "rollcall 0.2.0", format: 2, unchecked };
  expect(rest).toEqual({ user_version: 3, ...written });
  const next = opened(path);
  expect(await next.log.open()).toMatchObject({ head: 25, oldest: 11 });
  expect(await streamAfter(next.streams, "arcp/session/one", 0)).toEqual(one);
  await appendAt(next.log, { entries: ["next"] }, 25);
  await next.close();
  expect(await metaOf(path)).toMatchObject({ log_id: logId });
});

/** Raised from schema 1 by the last program with schema 2, which knew no checksums. */
const OLD_2 = new URL("../../../test/support/log/schema-2.db", import.meta.url);

test("a file of schema 2 is read, raised, and checked from then on", async () => {
  const path = copyOf(OLD_2);
  const before = opened(path);
  expect(await before.log.open()).toMatchObject({ head: 24, oldest: 11 });
  expect(await streamAfter(before.streams, "job/small", 0)).toEqual(["a", "b", "c"]);
  await before.close();
  expect(await metaOf(path)).toMatchObject({ user_version: 2 });

  const { log, streams } = opened(path);
  await log.open();
  await appendAt(log, { entries: ["event"] }, 24);
  await streams.append("job/small", ["d"], 3);
  await streams.append("arcp/session/one", ["fifth"], 4);
  await streams.trim("job/small", 2);
  await log.close();
  expect(await metaOf(path)).toMatchObject({ user_version: 3, truncated: 10 });

  const next = opened(path);
  expect(await next.log.open()).toMatchObject({ head: 25, oldest: 11 });
  expect(await entriesAfter(next.log, 10)).toHaveLength(15);
  expect(await streamAfter(next.streams, "job/small", 2)).toEqual(["c", "d"]);
  await next.streams.trim("job/small", 3);
  expect(await streamAfter(next.streams, "job/small", 3)).toEqual(["d"]);
  await next.close();
  await inspect(path, (database) => {
    const unchecked = "SELECT count(*) AS n FROM log WHERE checksum IS NULL AND last > 24";
    expect(database.prepare(unchecked).get()).toEqual({ n: 0 });
  });
});

test("a header that says an older schema than the tables have is damage", async () => {
  const path = scratch();
  const store = opened(path);
  await store.log.open();
  await store.close();
  const bytes = fs.readFileSync(path);
  expect(bytes.readUInt32BE(60)).toBe(3);
  for (const version of [1, 2]) {
    bytes.writeUInt32BE(version, 60);
    fs.writeFileSync(path, bytes);
    await expect(opened(path).log.open()).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
  }
});

test("a file that was raised has the same tables as a new one", async () => {
  const describe = (database: Database) => {
    const tables = database
      .prepare<{ name: string }>("SELECT name FROM sqlite_schema ORDER BY name")
      .all()
      .map(({ name }) => name);
    return tables.map((name) => [
      name,
      database.prepare(`PRAGMA table_xinfo('${name}')`).all(),
      database.prepare(`PRAGMA index_xinfo('${name}')`).all(),
    ]);
  };
  const [raised, fresh] = [copyOf(OLD), scratch()];
  for (const path of [raised, fresh]) {
    const { log } = opened(path);
    const { head } = await log.open();
    await appendAt(log, { entries: ["event"] }, head);
    await log.close();
  }
  expect(await inspect(raised, describe)).toEqual(await inspect(fresh, describe));
});

test("what an old program trimmed and did not sweep is swept", async () => {
  const database = await openDatabase(copyOf(OLD));
  const tables = new Tables(database, { path: "", writtenBy: "this test" });
  const append = appendOf({ entries: ["event"] }, { head: 24, id: "new" });
  expect(tables.sweep()).toBe(false);
  tables.commit({ appends: [append], forgets: [] });
  while (tables.sweep());
  const left = database
    .prepare("SELECT first FROM journal JOIN stream ON stream.id = stream WHERE name LIKE ?")
    .all("%crashed");
  expect(left).toEqual([{ first: 3 }]);
  tables.close();
});

test("a file of schema 1 on a full disk is read, and raised once it has room", async (context) => {
  const { folder, freeRoom } = smallDisk(context);
  const path = copyOf(OLD, join(folder, "rollcall.db"));
  const rest = fs.openSync(join(folder, "rest"), "w");
  expect(() => fs.writeSync(rest, Buffer.alloc(8 << 20)) + fs.writeSync(rest, "x")).toThrow(
    "ENOSPC",
  );
  fs.closeSync(rest);
  const store = opened(path);
  await expectAll(store);
  const append = () =>
    appendAt(store.log, { entries: ["e"], streams: [{ stream: "new", entries: ["e"] }] }, 24);
  await expect(append()).rejects.toMatchObject({ code: "STORAGE_FULL" });
  await expectAll(store);

  freeRoom();
  await append();
  expect(await namesOf(store.streams, "new")).toEqual(["new"]);
  await store.close();
  expect(await metaOf(path)).toMatchObject({ user_version: 3, format: 2 });
});
