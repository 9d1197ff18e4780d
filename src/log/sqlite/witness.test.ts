import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { flipBit } from "../../../test/flips/flips.ts";
import type { Store } from "../store.ts";
import { sqliteStore } from "./store.ts";
import { backUp, compact, verify } from "./upkeep.ts";
import { readWal } from "./wal.ts";
import { WalRoom } from "./wal-room.ts";
import { HeadWitness, readWitness } from "./witness.ts";
import { appendAt } from "../../../test/support/log/append.ts";

const FRAME = 24 + 4096;
const LARGE = "x".repeat(100_000);

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-witness-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return join(folder, "rollcall.db");
}

function opened(path: string): Store {
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  return store;
}

/** Sixty commits, and the files as the death of the process leaves them. */
async function killed(): Promise<string> {
  const { log, path } = await working();
  for (let head = 0; head < 60; head += 1) await appendAt(log, { entries: [`${head}`] }, head);
  return copyOf(path);
}

async function working(): Promise<Store & { readonly path: string }> {
  const path = scratch();
  const store = opened(path);
  await store.log.open();
  return { ...store, path };
}

function copyOf(source: string): string {
  const path = scratch();
  for (const end of ["", "-wal", ".witness"]) fs.copyFileSync(source + end, path + end);
  return path;
}

/** Takes away the end of the last commit, and the room behind it. */
function tear(path: string): void {
  const { committed } = readWal(`${path}-wal`);
  fs.truncateSync(`${path}-wal`, 32 + committed * FRAME - 10);
}

async function refusalOf(path: string): Promise<string> {
  const refusal: unknown = await opened(path)
    .log.open()
    .catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "STORAGE_CORRUPT" });
  return String(refusal);
}

test("files as a kill leaves them are opened with all that was acknowledged", async () => {
  const path = await killed();
  const { committed, verified } = readWal(`${path}-wal`);
  expect(readWitness(path)?.head).toMatchObject({ head: 60, frames: committed });
  expect(verified).toBe(committed);
  expect(await opened(path).log.open()).toMatchObject({ head: 60, oldest: 1 });
});

test("a bit of any frame of the write-ahead log is damage, and it stays as it is", async () => {
  const path = await killed();
  const { committed } = readWal(`${path}-wal`);
  for (const frame of [1, Math.ceil(committed / 2), committed]) {
    const copy = copyOf(path);
    flipBit(`${copy}-wal`, { at: 32 + (frame - 1) * FRAME + 200, bit: 3 });
    const before = fs.readFileSync(`${copy}-wal`);
    expect(await refusalOf(copy)).toContain(`frame ${frame} of ${copy}-wal is damaged`);
    expect(fs.readFileSync(`${copy}-wal`).equals(before)).toBe(true);
  }
});

test("readers refuse what the writer refuses, and leave it as it is", async () => {
  const path = await killed();
  const { committed } = readWal(`${path}-wal`);
  const target = `${path}.backup`;
  const readers = [
    () => verify(path),
    () => backUp({ path, target, madeBy: "this test" }),
    () => compact(path),
  ];
  const whole = fs.readFileSync(`${path}-wal`);
  for (const read of readers.slice(0, 2)) await read();
  expect(fs.readFileSync(`${path}-wal`).equals(whole)).toBe(true);
  fs.rmSync(target);

  flipBit(`${path}-wal`, { at: 32 + (committed - 1) * FRAME + 200, bit: 3 });
  const before = fs.readFileSync(`${path}-wal`);
  for (const read of readers) {
    await expect(read()).rejects.toThrow(`frame ${committed} of ${path}-wal is damaged`);
  }
  const reader = sqliteStore({ path, readOnly: true });
  await expect(reader.log.open()).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
  await reader.close();
  expect(fs.readFileSync(`${path}-wal`).equals(before)).toBe(true);
  expect(await refusalOf(path)).toContain(`frame ${committed} of ${path}-wal is damaged`);
});

test("a reader finds that what was acknowledged is not there", async () => {
  const path = await killed();
  fs.rmSync(`${path}-wal`);
  await expect(verify(path)).rejects.toThrow("the log ends at 0, but 60 was acknowledged");
});

test("a second writer and a reader beside a busy one find it in use, not damaged", async () => {
  const { log, path } = await working();
  let isOver = false;
  const busy = (async () => {
    for (let head = 0; !isOver; head += 1) await appendAt(log, { entries: [LARGE] }, head);
  })();
  for (let round = 0; round < 20; round += 1) {
    const second = sqliteStore({ path });
    await expect(second.log.open()).rejects.toMatchObject({ code: "LOCKED" });
    const reader = sqliteStore({ path, readOnly: true });
    await reader.log.open();
    await reader.close();
  }
  isOver = true;
  await busy;
});

test("a write-ahead log without its database is refused, and stays", async () => {
  const path = await killed();
  fs.rmSync(path);
  expect(await refusalOf(path)).toContain(`it is missing, but ${path}-wal is there without it`);
  expect(fs.existsSync(`${path}-wal`)).toBe(true);
});

test("a file that was moved tells the witness of its successor nothing", async () => {
  const first = await working();
  const { path } = first;
  await appendAt(first.log, { entries: ["one", "two"] }, 0);
  for (const end of ["", "-wal", "-shm"]) fs.renameSync(path + end, `${path}.moved${end}`);
  const second = opened(path);
  await second.log.open();
  await appendAt(second.log, { entries: ["another"] }, 0);
  await first.close();
  expect(readWitness(path)?.head).toMatchObject({ head: 1 });
  await second.close();
  expect(await opened(path).log.open()).toMatchObject({ head: 1 });
});

test("a write-ahead log that was cut or whose header is damaged is refused", async () => {
  const path = await killed();
  const cut = copyOf(path);
  tear(cut);
  expect(await refusalOf(cut)).toContain("were acknowledged");
  flipBit(`${path}-wal`, { at: 18, bit: 0 });
  expect(await refusalOf(path)).toContain(`the header of ${path}-wal is damaged`);
});

test("a write-ahead log that is gone is refused", async () => {
  const path = await killed();
  fs.rmSync(`${path}-wal`);
  expect(await refusalOf(path)).toContain("the log ends at 0, but 60 was acknowledged");
});

test("without a witness, commits behind a damaged frame are proof, a torn end is not", async () => {
  const path = await killed();
  fs.rmSync(`${path}.witness`);
  const torn = scratch();
  fs.copyFileSync(path, torn);
  fs.copyFileSync(`${path}-wal`, `${torn}-wal`);
  tear(torn);
  expect(await opened(torn).log.open()).toMatchObject({ head: 59, oldest: 1 });

  flipBit(`${path}-wal`, { at: 32 + 5 * FRAME + 1000, bit: 1 });
  expect(await refusalOf(path)).toMatch(
    /frame 6 of .* is damaged, and \d+ commits stand behind it/,
  );
});

test("a commit that was not acknowledged may be torn", async () => {
  const { log, path } = await working();
  await appendAt(log, { entries: ["acknowledged"] }, 0);
  const witness = fs.readFileSync(`${path}.witness`);
  await appendAt(log, { entries: ["not"] }, 1);
  const copy = copyOf(path);
  fs.writeFileSync(`${copy}.witness`, witness);
  tear(copy);
  expect(await opened(copy).log.open()).toMatchObject({ head: 1, oldest: 1 });
});

test("what a sweep deleted may come back by a power cut", async () => {
  const { log, streams, path } = await working();
  await appendAt(log, { entries: ["one"] }, 0);
  for (let block = 0; block < 20; block += 1) await streams.append("job", [LARGE]);
  await streams.remove("job");
  const frames = () => readWitness(path)?.head?.frames ?? 0;
  await vi.waitFor(() => expect(readWal(`${path}-wal`).committed).toBeGreaterThan(frames()));
  const copy = copyOf(path);
  fs.truncateSync(`${copy}-wal`, 32 + frames() * FRAME);
  expect(await opened(copy).log.open()).toMatchObject({ head: 1 });
});

test("a file that was emptied is refused, and one that was moved away begins anew", async () => {
  const { log, path } = await working();
  await appendAt(log, { entries: ["one"] }, 0);
  await log.close();
  fs.truncateSync(path, 0);
  expect(await refusalOf(path)).toContain("it is empty, but 1 events were in it");
  fs.rmSync(path);
  expect(await opened(path).log.open()).toMatchObject({ head: 0, oldest: 1 });
});

test("an older copy in its place is refused", async () => {
  const { log, path } = await working();
  await appendAt(log, { entries: ["one"] }, 0);
  await log.close();
  const old = fs.readFileSync(path);
  const store = opened(path);
  await store.log.open();
  await appendAt(store.log, { entries: ["two"] }, 1);
  await store.close();
  fs.writeFileSync(path, old);
  expect(await refusalOf(path)).toContain("the log ends at 1, but 2 was acknowledged");
});

test("a file that was moved or replaced is written no more, until it is back", async () => {
  const { log, path } = await working();
  await appendAt(log, { entries: ["one"] }, 0);
  const elsewhere = join(dirname(path), "elsewhere.db");
  const sign = () => appendAt(log, { entries: [] }, 1);
  const refusal = (what: string) =>
    vi.waitFor(
      async () => {
        const error: unknown = await sign().catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: "UNAVAILABLE" });
        expect(String(error)).toContain(`${path} ${what} while it was open`);
      },
      { timeout: 10_000 },
    );
  fs.renameSync(path, elsewhere);
  await refusal("was moved or deleted");
  await expect(appendAt(log, { entries: ["two"] }, 1)).rejects.toThrow("nothing more is written");
  fs.writeFileSync(path, "another");
  await refusal("was replaced by another file");
  fs.renameSync(elsewhere, path);
  await appendAt(log, { entries: ["two"] }, 1);
});

test("a floor that was owed is not handed out again, also where no room can be made", () => {
  const path = scratch();
  vi.spyOn(WalRoom.prototype, "make").mockImplementation(() => {
    throw new Error("too many open files");
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const witness = new HeadWitness(path, { floor: 1_000, isOwed: true, head: undefined });
  witness.saw(1, 0, 1_001);
  witness.close(undefined);
  expect(readWitness(path)).toMatchObject({ floor: 1_000, isOwed: false });
});
