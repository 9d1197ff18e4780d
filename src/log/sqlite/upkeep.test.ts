import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { contentOf } from "../../../test/flips/life.ts";
import { flipBit } from "../../../test/flips/flips.ts";
import type { Store } from "../store.ts";
import { connect } from "./driver.ts";
import { sqliteStore } from "./store.ts";
import { backUp, beginRestore, compact, verify } from "./upkeep.ts";
import { readWitness } from "./witness.ts";
import { appendAt } from "../../../test/support/log/append.ts";

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-upkeep-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return join(folder, "rollcall.db");
}

function opened(path: string): Store {
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  return store;
}

/** In use, with some of everything in it. */
async function inUse() {
  const path = scratch();
  const store = opened(path);
  await store.log.open();
  for (let head = 0; head < 20; head += 1) {
    await appendAt(store.log, { entries: [`entry ${head + 1}`], fence: head * 10 }, head);
  }
  await store.log.saveSnapshot({ sequence: 10, chunks: ["ten", " events"] });
  await store.log.truncate(10);
  for (const entry of ["one", "two", "three"]) await store.streams.append("job", [entry]);
  await store.streams.trim("job", 1);
  const target = join(dirname(path), "one.backup");
  return { path, store, target, madeBy: "this test" };
}

test("a backup of a file in use is all of it, and is put in an empty place", async () => {
  const { store, ...options } = await inUse();
  const content = await contentOf(store);
  const facts = await backUp(options);
  expect(facts).toMatchObject({ head: 20, madeBy: "this test" });
  expect(facts.logId).toMatch(/^[0-9a-f-]{36}$/);
  await appendAt(store.log, { entries: ["later"] }, 20);

  const place = scratch();
  const restoring = beginRestore(options.target, place);
  expect(restoring.facts).toEqual(facts);
  await restoring.commit();
  expect(fs.statSync(place).mode & 0o777).toBe(0o600);
  const restored = opened(place);
  const { floor = 0 } = await restored.log.open();
  expect(floor).toBeGreaterThan(facts.floor);
  expect(await contentOf(restored)).toBe(content);
  await appendAt(restored.log, { entries: ["goes on"], fence: floor + 1 }, 20);
  expect(readWitness(place)?.floor).toBeGreaterThan(floor);
});

test("a floor that is known at the place counts, too", async () => {
  const { store, ...options } = await inUse();
  await backUp(options);
  await appendAt(store.log, { entries: ["high"], fence: 1e15 }, 20);
  await store.close();
  fs.rmSync(options.path);
  await beginRestore(options.target, options.path).commit();
  expect((await opened(options.path).log.open()).floor).toBeGreaterThan(1e15);
});

test("where a backup knows no floor, the fence of its state counts", async () => {
  const { store, ...options } = await inUse();
  fs.rmSync(`${options.path}.witness`);
  expect(await backUp(options)).toMatchObject({ floor: 0 });
  await store.close();
  const place = scratch();
  await beginRestore(options.target, place).commit(1e15);
  expect((await opened(place).log.open()).floor).toBeGreaterThan(1e15);
});

test("a backup goes to no place that is taken, and over no other backup", async () => {
  const { store, ...options } = await inUse();
  await backUp(options);
  await expect(backUp(options)).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  expect(() => beginRestore(options.target, options.path)).toThrow("is there already");
  const place = scratch();
  await beginRestore(options.target, place).abandon();
  expect(fs.readdirSync(dirname(place))).toEqual([]);
  expect(await verify(options.path)).toEqual(await store.log.open());
});

test("a backup that is damaged, cut or another file is refused with its name", async () => {
  const { store: _, ...options } = await inUse();
  const { bytes } = await backUp(options);
  const refused = (what: RegExp) => {
    expect(() => beginRestore(options.target, scratch())).toThrow(what);
    expect(() => beginRestore(options.target, scratch())).toThrow(options.target);
  };
  flipBit(options.target, { at: bytes - 100, bit: 2 });
  refused(/does not have the digest/);
  flipBit(options.target, { at: bytes + 30, bit: 2 });
  refused(/its last line is damaged/);
  fs.truncateSync(options.target, 100);
  refused(/no backup of rollcall/);
  fs.rmSync(options.target);
  refused(/no such file/);
});

test("a file that is damaged gets into no backup", async () => {
  const { store, path, ...options } = await inUse();
  await store.close();
  const bytes = fs.readFileSync(path);
  const at = bytes.indexOf("entry 15");
  flipBit(path, { at, bit: 1 });
  await expect(verify(path)).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
  await expect(backUp({ path, ...options })).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
  expect(fs.readdirSync(dirname(path)).filter((name) => name.includes("backup"))).toEqual([]);
});

test("an index that leaves out a row gets into no backup", async () => {
  const { store, path, ...options } = await inUse();
  await store.close();
  const copy = `${path}.copy`;
  fs.copyFileSync(path, copy);
  const sql = "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'journal_by_stream'";
  const { page = 0 } = (await connect(copy)).prepare<{ page: number }>(sql).get() ?? {};
  const bytes = fs.readFileSync(path);
  const cells = (page - 1) * 4096 + 3;
  bytes.writeUInt16BE(bytes.readUInt16BE(cells) - 1, cells);
  fs.writeFileSync(path, bytes);
  await expect(backUp({ path, ...options })).rejects.toThrow(`${path} is damaged`);
  expect(fs.readdirSync(dirname(path)).filter((name) => name.includes("backup"))).toEqual([]);
});

test("a page that holds nothing and is damaged is refused, by a backup as by a start", async () => {
  const { store, path, ...options } = await inUse();
  await store.streams.append("large", ["x".repeat(1 << 20)]);
  await store.streams.remove("large");
  await store.close();
  const bytes = fs.readFileSync(path);
  const firstFreePage = bytes.readUInt32BE(32);
  expect(firstFreePage).toBeGreaterThan(0);
  const count = (firstFreePage - 1) * 4096 + 4;
  bytes.writeUInt32BE(bytes.readUInt32BE(count) - 1, count);
  fs.writeFileSync(path, bytes);
  await expect(backUp({ path, ...options })).rejects.toThrow(`${path} is damaged`);
  await expect(sqliteStore({ path }).log.open()).rejects.toThrow(`${path} is damaged`);
});

test("compacting gives room back, and all that was there stays", async () => {
  const { store, path } = await inUse();
  await store.streams.append("large", ["x".repeat(1 << 20)]);
  await expect(compact(path)).rejects.toMatchObject({ code: "LOCKED" });
  await store.streams.remove("large");
  const content = await contentOf(store);
  await store.close();
  const { before, after } = await compact(path);
  expect(before).toBeGreaterThan(1 << 20);
  expect(after).toBeLessThan(1 << 18);
  expect(await contentOf(opened(path))).toBe(content);
});
