import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { numbered } from "../../../test/support/log/conformance-case.ts";
import type { AppendBatch } from "../log.ts";
import { openDatabase } from "./database.ts";
import type { Database } from "./driver.ts";
import { appendOf } from "./protocol.ts";
import { Tables } from "./tables.ts";
import { newAppendId } from "../../../test/support/log/append.ts";

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-tables-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "rollcall.db");
}

/** Given the database of an earlier one, as a process finds it that starts after a crash. */
async function open(path: string | Database) {
  const database = typeof path === "string" ? await openDatabase(path) : path;
  const tables = new Tables(database, { path: "", writtenBy: "this test" });
  const append = (batch: Partial<AppendBatch>, head?: number) => {
    const at = head === undefined ? undefined : { head, id: newAppendId() };
    return tables.commit({ appends: [appendOf({ entries: [], ...batch }, at)], forgets: [] });
  };
  const say = (stream: string, ...entries: string[]) =>
    append({ streams: [{ stream, entries }] }).outcomes[0]?.heads[0];
  const forget = (stream: string, through?: number) =>
    tables.commit({ appends: [], forgets: [{ streams: [stream], through }] });
  const read = (stream: string) => {
    const { page } = tables.streams.read(stream, { after: 0, through: Infinity });
    return page && Buffer.from(page.bytes).toString().split("\n");
  };
  const rows = () =>
    Object.fromEntries(
      ["log", "snapshot", "chunk", "stream", "journal"].map((table) => {
        const sql = `SELECT count(*) AS n FROM ${table}`;
        return [table, database.prepare<{ n: number }>(sql).get()?.n];
      }),
    );
  return { database, tables, append, say, forget, read, rows };
}

/** Gives in how many pieces. */
function sweepAll(tables: Tables): number {
  let pieces = 0;
  while (tables.sweep()) pieces += 1;
  return pieces;
}

test("a stream that is small and new is one row", async () => {
  const { say, read, rows } = await open(scratch());
  expect(say("one", ...numbered(1, 3))).toBe(3);
  expect(say("other", "x".repeat(2000))).toBe(1);
  expect(read("one")).toEqual(numbered(1, 3));
  expect(rows()).toMatchObject({ stream: 2, journal: 1 });
});

test("blocks of a stream are read as one, whether or not the first is in its row", async () => {
  const first = await open(scratch());
  for (const large of ["", "x".repeat(2000)]) {
    const stream = `begins with ${large.length}`;
    const entries = [large, ...numbered(2, 30)];
    for (const entry of entries) first.say(stream, entry);
    expect(first.read(stream)).toEqual(entries);
  }
  // Found anew, and long enough for a page that SQLite glues.
  const { say, read } = await open(first.database);
  expect(say("begins with 0", "entry 32")).toBe(32);
  expect(read("begins with 0")).toEqual(["", ...numbered(2, 31)]);
});

test("deletes what was truncated, trimmed, removed and replaced", async () => {
  const { tables, append, say, forget, rows } = await open(scratch());
  for (let head = 0; head < 60; head += 3) append({ entries: numbered(head + 1, 3) }, head);
  for (const sequence of [3, 30, 60, 60]) {
    const id = tables.snapshots.begin(sequence);
    tables.snapshots.add({ id, from: 0, chunks: numbered(1, 50) });
    tables.finishSnapshot(id);
  }
  for (let head = 0; head < 10; head += 1) {
    say("trimmed", "entry");
    say("removed", "entry");
  }
  say("removed at once", "entry");
  forget("trimmed", 9);
  forget("removed");
  forget("removed at once");
  tables.truncate(58);
  sweepAll(tables);
  expect(rows()).toEqual({ log: 1, snapshot: 1, chunk: 50, stream: 1, journal: 1 });
});

test("what was to be swept when the process died is swept by the next one", async () => {
  const first = await open(scratch());
  for (let head = 0; head < 10; head += 1) {
    first.say("trimmed", "entry");
    first.say("removed", "entry");
  }
  first.forget("trimmed", 9);
  first.forget("removed");
  const id = first.tables.snapshots.begin(0);
  first.tables.snapshots.add({ id, from: 0, chunks: ["half", "a snapshot"] });
  expect(first.rows()).toMatchObject({ snapshot: 1, chunk: 2, stream: 2, journal: 18 });

  const next = await open(first.database);
  expect(next.tables.snapshots.find(0)).toBeUndefined();
  sweepAll(next.tables);
  expect(next.tables.streams.list("", "")).toEqual([{ stream: "trimmed", oldest: 10, head: 10 }]);
  expect(next.rows()).toEqual({ log: 0, snapshot: 0, chunk: 0, stream: 1, journal: 1 });
});

test("a stream of the same name can begin while the removed one is being swept", async () => {
  const { tables, say, forget, read, rows } = await open(scratch());
  for (let head = 0; head < 1500; head += 1) say("one", "old");
  forget("one");
  expect(tables.sweep()).toBe(true);
  expect(say("one", "new")).toBe(1);
  expect(say("one", "newer")).toBe(2);
  sweepAll(tables);
  expect(read("one")).toEqual(["new", "newer"]);
  expect(rows()).toMatchObject({ stream: 1, journal: 1 });
});

test("very much is swept in pieces that an append can wait for", async () => {
  const { tables, say, forget, rows } = await open(scratch());
  const many = Array.from({ length: 2000 }, (_, index) => ({ stream: `${index}`, entries: ["x"] }));
  for (let round = 0; round < 2; round += 1) {
    tables.commit({
      appends: [appendOf({ entries: [], streams: many })],
      forgets: [],
    });
  }
  const large = "x".repeat(1 << 20);
  for (let head = 0; head < 5; head += 1) say("large", large);
  for (const { stream } of many) forget(stream);
  forget("large");
  // At most 128 rows a piece, or a quarter of a megabyte, but at least one row.
  expect(sweepAll(tables)).toBeGreaterThanOrEqual(4000 / 128 + 5);
  expect(rows()).toMatchObject({ stream: 0, journal: 0 });
});

test("a commit that fails leaves heads as they were", async () => {
  const { tables, append, say } = await open(scratch());
  append({ entries: ["one"] }, 0);
  say("stream", "one");
  const bad = { stream: "stream", entries: [Symbol("no text") as unknown as string] };
  const good = { stream: "other", entries: ["good"] };
  expect(() => append({ entries: ["two"], streams: [good, bad] }, 1)).toThrow(TypeError);
  expect(tables.range()).toMatchObject({ head: 1, oldest: 1 });
  expect(tables.streams.list("", "")).toEqual([{ stream: "stream", oldest: 1, head: 1 }]);
  expect(say("stream", "two")).toBe(2);
});
