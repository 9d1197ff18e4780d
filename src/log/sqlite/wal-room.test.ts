import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { appendAt } from "../../../test/support/log/append.ts";
import { sqliteStore } from "./store.ts";
import { readWal } from "./wal.ts";
import { WAL_BYTES, WalRoom } from "./wal-room.ts";

const FRAME = 24 + 4096;
const MIB = 1 << 20;

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-room-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return join(folder, "rollcall.db");
}

function sizeOf(path: string): number {
  return fs.statSync(`${path}-wal`).size;
}

test("a commit finds room in the write-ahead log, and closing leaves none of it", async () => {
  const path = scratch();
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  await store.log.open();
  for (let head = 0; head < 3; head += 1) await appendAt(store.log, { entries: ["one"] }, head);
  const size = sizeOf(path);
  const { committed } = readWal(`${path}-wal`);
  expect(size).toBeGreaterThan(committed * FRAME + MIB / 2);
  await appendAt(store.log, { entries: ["more"] }, 3);
  expect(sizeOf(path)).toBe(size);
  await store.close();
  expect(fs.existsSync(`${path}-wal`) && sizeOf(path) > 0).toBe(false);
});

test("there is room for as much as is written before the log begins anew, and no more", () => {
  const path = scratch();
  fs.writeFileSync(`${path}-wal`, "frames");
  const room = new WalRoom(path);
  onTestFinished(() => room.close());
  room.make(0);
  expect(sizeOf(path)).toBe("frames".length);
  for (let frames = 1; frames <= 4000; frames += 1) {
    room.make(frames);
    expect(sizeOf(path)).toBeGreaterThanOrEqual(Math.min(frames * FRAME, WAL_BYTES));
  }
  expect(sizeOf(path)).toBe(WAL_BYTES);
  expect(fs.readFileSync(`${path}-wal`, "latin1").slice(0, 6)).toBe("frames");
});
