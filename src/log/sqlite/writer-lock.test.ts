/** Who may have the file at the same time: one writer, any readers, and programs of before. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { entriesAfter, streamAfter } from "../../../test/support/log/conformance-case.ts";
import { codeOf } from "../../core/errors.ts";
import type { Store } from "../store.ts";
import { connect } from "./driver.ts";
import { sqliteStore, type SqliteStoreOptions } from "./store.ts";
import { appendAt } from "../../../test/support/log/append.ts";

vi.setConfig({ testTimeout: 60_000 });
const BUILT = new URL("../../../dist/lib/index.js", import.meta.url).href;

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-lock-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return join(folder, "rollcall.db");
}

function storeOf(path: string, options: Partial<SqliteStoreOptions> = {}): Store {
  const store = sqliteStore({ path, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A store with one entry, open in this process. */
async function writerOf(path: string): Promise<Store> {
  const store = storeOf(path);
  await store.log.open();
  await appendAt(store.log, { entries: ["first"] }, 0);
  return store;
}

/** Another process that opens the file: what it prints, once it has or was refused. */
async function elsewhere(
  script: string,
): Promise<{ readonly said: string; kill(): Promise<void> }> {
  const say = "console.log(await open().then(() => 'open', (error) => String(error.message)))";
  const child = spawn(process.execPath, ["--input-type=module", "--eval", `${script}; ${say}`]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const kill = async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { said: said.toString().trim(), kill };
}

function newWriter(path: string) {
  return elsewhere(`
    const { sqliteStore } = await import(${JSON.stringify(BUILT)});
    const open = () => sqliteStore({ path: ${JSON.stringify(path)} }).log.open();
  `);
}

/** As the program of schema 1 and the first one of schema 2 lock the file: for themselves. */
function oldWriter(path: string) {
  return elsewhere(`
    const sqlite = process.getBuiltinModule("node:sqlite") ?? import("@photostructure/sqlite");
    const open = async () => {
      globalThis.database = new (await sqlite).DatabaseSync(${JSON.stringify(path)});
      database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
      process.stdin.resume();
    };
  `);
}

test("a reader beside the writer sees what is committed, again and again", async () => {
  const path = scratch();
  const { log, streams } = await writerOf(path);
  const reader = storeOf(path, { readOnly: true });
  expect(await reader.log.open()).toMatchObject({ head: 1, oldest: 1 });
  await appendAt(log, { entries: ["second"], streams: [{ stream: "job", entries: ["said"] }] }, 1);
  await streams.append("job", ["more"]);
  expect(await entriesAfter(reader.log, 0)).toEqual(["first"]);
  expect(await streamAfter(reader.streams, "job", 0)).toEqual(["said", "more"]);
  expect(await reader.log.open()).toMatchObject({ head: 2, oldest: 1 });
  expect(await entriesAfter(reader.log, 0)).toEqual(["first", "second"]);
});

test("a reader writes nothing", async () => {
  const path = scratch();
  await writerOf(path);
  const reader = storeOf(path, { readOnly: true });
  await reader.log.open();
  await expect(appendAt(reader.log, { entries: ["mine"] }, 1)).rejects.toMatchObject({
    code: "STORAGE_READ_ONLY",
  });
});

test("a reader of a file that nobody has open leaves it as it was", async () => {
  const path = scratch();
  await (await writerOf(path)).close();
  const before = fs.readFileSync(path);
  const reader = storeOf(path, { readOnly: true });
  await reader.log.open();
  expect(await entriesAfter(reader.log, 0)).toEqual(["first"]);
  await reader.close();
  expect(fs.readFileSync(path).equals(before)).toBe(true);
  expect(fs.readdirSync(dirname(path))).toEqual(["rollcall.db", "rollcall.db.witness"]);
});

test("a reader makes no file where there is none", async () => {
  const path = scratch();
  const refusal = storeOf(path, { readOnly: true }).log.open();
  await expect(refusal).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(fs.existsSync(path)).toBe(false);
});

test("a second writer finds no other way to the file: no link, no new name", async () => {
  const path = scratch();
  await writerOf(path);
  const [linked, hard, moved] = ["linked", "hard", "moved"].map((name) =>
    join(dirname(path), `${name}.db`),
  ) as [string, string, string];
  fs.symlinkSync(path, linked);
  fs.linkSync(path, hard);
  for (const { said } of await Promise.all([path, linked, hard].map(newWriter))) {
    expect(said).toMatch(/is in use by /);
  }
  fs.renameSync(path, moved);
  expect((await newWriter(moved)).said).toMatch(/is in use by another process/);
});

test("a copy is another file, whoever has the first one", async () => {
  const path = scratch();
  await (await writerOf(path)).close();
  const holder = await newWriter(path);
  expect(holder.said).toBe("open");
  const copy = dirname(scratch());
  fs.cpSync(dirname(path), copy, { recursive: true });
  expect(await storeOf(join(copy, "rollcall.db")).log.open()).toMatchObject({ head: 1, oldest: 1 });
});

test("a second store of this process that is refused gives the file to no other", async () => {
  const path = scratch();
  await writerOf(path);
  expect(codeOf(await storeOf(path).log.open().catch(Object))).toBe("LOCKED");
  expect((await newWriter(path)).said).toContain(`process ${process.pid} on `);
});

test("a program of before is kept out while this one runs, reader or not", async () => {
  const path = scratch();
  const writer = await writerOf(path);
  expect((await oldWriter(path)).said).toMatch(/locked/);
  await writer.close();
  expect((await oldWriter(path)).said).toBe("open");
});

test("while a program of before runs this one neither writes nor reads", async () => {
  const path = scratch();
  await (await writerOf(path)).close();
  const old = await oldWriter(path);
  expect(old.said).toBe("open");
  for (const readOnly of [false, true]) {
    const refusal = storeOf(path, { readOnly }).log.open();
    await expect(refusal).rejects.toMatchObject({ code: "LOCKED" });
  }
  await old.kill();
  expect(await storeOf(path).log.open()).toMatchObject({ head: 1, oldest: 1 });
});

test("of writers that begin at once never two get the file", async () => {
  const path = scratch();
  await (await writerOf(path)).close();
  const openings = [storeOf(path), storeOf(path), storeOf(path)].map(({ log }) =>
    log.open().then(() => "open", codeOf),
  );
  const outcomes = await Promise.all(openings);
  // By chance all three may stand in each other's way until the last one gives up.
  expect(outcomes.filter((outcome) => outcome === "LOCKED").length).toBeGreaterThanOrEqual(2);
});

test("a writer waits a little for who looks into the file by hand, and is refused", async () => {
  const path = scratch();
  await (await writerOf(path)).close();
  const database = await connect(path);
  onTestFinished(() => database.close());
  database.prepare("SELECT count(*) FROM log").get();
  await expect(storeOf(path).log.open()).rejects.toThrow(/is in use by another process/);
});

test("where no index can be shared the writer has the file for itself", async () => {
  const path = scratch();
  await (await writerOf(path)).close();
  fs.symlinkSync("/nowhere", `${path}-shm`);
  const { log } = storeOf(path);
  await log.open();
  await appendAt(log, { entries: ["second"] }, 1);
  fs.rmSync(`${path}-shm`);
  expect(await entriesAfter(log, 0)).toEqual(["first", "second"]);
  const reader = storeOf(path, { readOnly: true }).log.open();
  await expect(reader).rejects.toThrow(`process ${process.pid} on `);
});
