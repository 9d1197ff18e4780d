import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { smallDisk } from "../../../test/small-disk.ts";
import { expect, onTestFinished, test } from "vitest";
import type { ErrorCode } from "../../core/errors.ts";
import { checksumOf } from "./checksum.ts";
import { connect } from "./driver.ts";
import { sqliteStore } from "./store.ts";
import { appendAt } from "../../../test/support/log/append.ts";

const BUILT = new URL("../../../dist/lib/index.js", import.meta.url).href;

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-database-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return join(folder, "rollcall.db");
}

/** Nine entries in three batches, a snapshot at 6, and a stream. */
async function written(): Promise<string> {
  const path = scratch();
  const store = sqliteStore({ path });
  const { log } = store;
  await log.open();
  for (const head of [0, 3, 6]) await appendAt(log, { entries: ["a", "b", "c"] }, head);
  for (const entry of ["one", "two"]) await store.streams.append("other", [entry]);
  await log.saveSnapshot({ sequence: 6, chunks: ["six"] });
  await store.close();
  return path;
}

async function tampered(sql: string): Promise<string> {
  const path = await written();
  const database = await connect(path);
  database.exec(sql);
  database.close();
  return path;
}

/** With a checksum that holds: as another program, or a bug of ours, would do it. */
function settingOf(name: string, value: number): string {
  const checksum = checksumOf([name, value]);
  return `UPDATE meta SET value = ${value}, checksum = ${checksum} WHERE name = '${name}'`;
}

async function expectRefusal(path: string, code: ErrorCode, message: RegExp): Promise<void> {
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  const refusal: unknown = await store.log.open().catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code });
  expect(String(refusal)).toMatch(message);
  expect(String(refusal)).toContain(path);
}

test("only its owner can read the file and the folder that was made for it", async () => {
  const path = join(dirname(scratch()), "made", "on the way", "rollcall.db");
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  await store.log.open();
  await appendAt(store.log, { entries: ["secret"] }, 0);
  for (const end of ["", "-wal", "-shm", ".lock"])
    expect(fs.statSync(path + end).mode & 0o777).toBe(0o600);
  expect(fs.statSync(dirname(path)).mode & 0o777).toBe(0o700);
});

test("a file that others could read or write is closed to them", async () => {
  const path = await written();
  fs.chmodSync(path, 0o666);
  const store = sqliteStore({ path });
  await store.log.open();
  await store.close();
  expect(fs.statSync(path).mode & 0o777).toBe(0o640);
});

test("a file that was closed leaves only its witness beside it", async () => {
  const path = await written();
  expect(fs.readdirSync(dirname(path))).toEqual(["rollcall.db", "rollcall.db.witness"]);
});

test("a file of a newer version says which one wrote it and what to do", async () => {
  const path = await tampered(
    "PRAGMA user_version = 9; UPDATE meta SET value = 'rollcall 9.1.0' WHERE name = 'written_by'",
  );
  const before = fs.readFileSync(path);
  await expectRefusal(
    path,
    "STORAGE_TOO_NEW",
    /rollcall 9\.1\.0 with schema 9; .*run that version/,
  );
  expect(fs.readFileSync(path).equals(before)).toBe(true);
});

test("a file of a newer format is refused: it has entries that are not known here", async () => {
  const path = await tampered(settingOf("format", 3));
  await expectRefusal(path, "STORAGE_TOO_NEW", /with format 3; .* format 2: run that version/);
});

test("the database of another program is refused and not touched", async () => {
  const path = scratch();
  const database = await connect(path);
  database.exec("CREATE TABLE bookmarks (url TEXT)");
  database.close();
  const before = fs.readFileSync(path);
  await expectRefusal(path, "STORAGE_CORRUPT", /no database of rollcall/);
  expect(fs.readFileSync(path).equals(before)).toBe(true);
});

test("a file that is no database is refused and not touched", async () => {
  const path = scratch();
  const text = "this is a text of somebody, not a database".repeat(100);
  fs.writeFileSync(path, text);
  await expectRefusal(path, "STORAGE_CORRUPT", /restore it from a backup/);
  expect(fs.readFileSync(path, "utf8")).toBe(text);
});

test.each([
  ["lost its end", "DELETE FROM log WHERE last > 3", /snapshot stands at 6 but the log ends at 3/],
  ["lost its beginning", "DELETE FROM log WHERE last = 3", /entries 1 to 3 are missing/],
  ["has a gap", "DELETE FROM log WHERE last = 6", /entry 7 follows entry 3/],
  ["lost an entry", "UPDATE log SET entries = x'61' WHERE last = 9", /entries 7 to 9 are 1/],
  ["lost its snapshot", settingOf("truncated", 7), /begins after 7 and no/],
  ["ends before it begins", settingOf("truncated", 12), /ends at 9 but/],
])("a log that %s is refused, and the message says so", async (_what, sql, message) => {
  await expectRefusal(await tampered(sql), "STORAGE_CORRUPT", message);
});

test.each([
  [
    "an entry",
    "UPDATE log SET entries = x'610a620a64' WHERE last = 6",
    /entries 1 to 9 of the log/,
  ],
  ["an id", "UPDATE log SET id = 'other' WHERE last = 9", /entry 9 of the log/],
  ["a batch without its checksum", "UPDATE log SET checksum = NULL", /checksum is missing/],
  ["a chunk", "UPDATE chunk SET text = x'00'", /chunk 0 of snapshot 1/],
  ["a snapshot", "UPDATE snapshot SET sequence = 3", /the snapshot at 3/],
  ["a setting", "UPDATE meta SET value = 5 WHERE name = 'truncated'", /row truncated of meta/],
  [
    "a setting that is gone",
    "DELETE FROM meta WHERE name = 'log_id'",
    /row log_id of meta is miss/,
  ],
  ["a table", "DROP INDEX journal_by_stream", /the description of its tables/],
  ["the name of a stream", "UPDATE stream SET name = 'othes'", /the row of stream othes/],
  ["the block of a stream", "UPDATE journal SET entries = x'00'", /of stream other: the checksum/],
])("%s that changed is found at the next start", async (_what, sql, message) => {
  await expectRefusal(await tampered(sql), "STORAGE_CORRUPT", message);
});

test("a file with a damaged page is refused", async () => {
  const path = await written();
  const file = fs.openSync(path, "r+");
  fs.writeSync(file, Buffer.alloc(3000, 0xee), 0, 3000, 2 * 4096);
  fs.closeSync(file);
  await expectRefusal(path, "STORAGE_CORRUPT", /restore it from a backup/);
});

test("a store that was refused opens once the reason is gone", async () => {
  const path = await tampered("PRAGMA user_version = 9");
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  await expect(store.log.open()).rejects.toMatchObject({ code: "STORAGE_TOO_NEW" });
  const database = await connect(path);
  database.exec("PRAGMA user_version = 3");
  database.close();
  expect(await store.log.open()).toMatchObject({ head: 9, oldest: 1 });
});

test("a file in use names who holds it, and the death of that process frees it", async () => {
  const path = await written();
  const script = `
    const { sqliteStore } = await import(${JSON.stringify(BUILT)});
    await sqliteStore({ path: ${JSON.stringify(path)} }).log.open();
    process.stdout.write("open");
  `;
  const holder = spawn(process.execPath, ["--input-type=module", "--eval", script]);
  onTestFinished(() => void holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
  await expectRefusal(path, "LOCKED", new RegExp(`process ${String(holder.pid)} on `));

  holder.kill("SIGKILL");
  await once(holder, "exit");
  expect(fs.existsSync(`${path}.lock`)).toBe(true);
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  expect(await store.log.open()).toMatchObject({ head: 9, oldest: 1 });
});

test("a second store of the same process is turned away too", async () => {
  const path = scratch();
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  await store.log.open();
  await expectRefusal(path, "LOCKED", new RegExp(`process ${process.pid} on `));
});

test("a file on a read-only disk is refused as that, be it there or not", async (context) => {
  const { folder } = smallDisk(context);
  const path = join(folder, "rollcall.db");
  const store = sqliteStore({ path });
  await store.log.open();
  await store.close();
  expect(spawnSync("mount", ["-o", "remount,ro", folder]).status).toBe(0);
  await expectRefusal(path, "STORAGE_READ_ONLY", /check the mount/);
  await expectRefusal(join(folder, "other.db"), "STORAGE_READ_ONLY", /check the mount/);
  await expectRefusal(join(folder, "new", "r.db"), "STORAGE_READ_ONLY", /check the mount/);
});

test("an index that leaves out a row is found at a start", async () => {
  const path = await written();
  const copy = `${path}.copy`;
  fs.copyFileSync(path, copy);
  const sql = "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'journal_by_stream'";
  const { page = 0 } = (await connect(copy)).prepare<{ page: number }>(sql).get() ?? {};
  const bytes = fs.readFileSync(path);
  const cells = (page - 1) * 4096 + 3;
  bytes.writeUInt16BE(bytes.readUInt16BE(cells) - 1, cells);
  fs.writeFileSync(path, bytes);
  await expectRefusal(path, "STORAGE_CORRUPT", /is damaged/);
});
