import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, type TestContext } from "vitest";
import { codeOf } from "../../core/errors.ts";
import { smallDisk } from "../../../test/small-disk.ts";
import { collect, entriesAfter } from "../../../test/support/log/conformance-case.ts";
import { storageError } from "./driver.ts";
import { sqliteStore } from "./store.ts";
import type { Store } from "../store.ts";
import { appendAt } from "../../../test/support/log/append.ts";

interface StoreOnSmallDisk {
  readonly path: string;
  readonly store: Store;
  readonly freeRoom: () => void;
}

async function onSmallDisk(context: TestContext): Promise<StoreOnSmallDisk> {
  const { folder, freeRoom } = smallDisk(context);
  const path = join(folder, "rollcall.db");
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  await store.log.open();
  return { path, store, freeRoom };
}

test("a damaged file is told as such, also where the driver has no number for the error", () => {
  const error = new Error("database disk image is malformed");
  expect(storageError(error, "a.db")).toMatchObject({ code: "STORAGE_CORRUPT" });
});

test("a full disk refuses an append whole, and takes it once there is room", async (context) => {
  const { store, freeRoom } = await onSmallDisk(context);
  const { log } = store;
  const batch = ["x".repeat(200_000), "y".repeat(200_000)];
  let head = 0;
  const fill = async () => {
    for (; head < 100; head += 2) await appendAt(log, { entries: batch }, head);
  };
  await expect(fill()).rejects.toMatchObject({ code: "STORAGE_FULL" });
  await expect(appendAt(log, { entries: batch }, head)).rejects.toMatchObject({
    code: "STORAGE_FULL",
  });
  expect(await log.open()).toMatchObject({ head, oldest: 1 });

  freeRoom();
  await appendAt(log, { entries: batch }, head);
  expect(await entriesAfter(log, 0)).toHaveLength(head + 2);
});

test("a store on a full disk can be opened and read", async (context) => {
  const { store, path } = await onSmallDisk(context);
  await appendAt(store.log, { entries: ["kept"] }, 0);
  await store.close();
  const rest = fs.openSync(`${path}.rest`, "w");
  expect(() => fs.writeSync(rest, Buffer.alloc(8 << 20)) + fs.writeSync(rest, "x")).toThrow(
    "ENOSPC",
  );
  fs.closeSync(rest);

  const next = sqliteStore({ path });
  onTestFinished(() => next.close());
  expect(await next.log.open()).toMatchObject({ head: 1, oldest: 1 });
  expect(await entriesAfter(next.log, 0)).toEqual(["kept"]);
  await expect(appendAt(next.log, { entries: ["no room"] }, 1)).rejects.toMatchObject({
    code: "STORAGE_FULL",
  });
});

test("a full disk refuses what streams wait to write, and leaves no gap", async (context) => {
  const { store, freeRoom } = await onSmallDisk(context);
  const { streams } = store;
  const entry = "x".repeat(500_000);
  const all = Array.from({ length: 20 }, (_, index) => streams.append("one", [`${index}${entry}`]));
  const first = await Promise.allSettled(all);
  expect(first.every(({ status }) => status === "rejected")).toBe(true);
  expect(await streams.range("one")).toEqual({ oldest: 1, head: 0 });

  freeRoom();
  expect(await streams.append("one", ["after"])).toBe(1);
  expect(await collect(streams.read("one", 0))).toEqual([{ first: 1, entries: ["after"] }]);
});

test.each([
  [{ errcode: 5 | (1 << 8) }, "LOCKED"],
  [{ errcode: 8 | (6 << 8) }, "STORAGE_READ_ONLY"],
  [{ errcode: 11 }, "STORAGE_CORRUPT"],
  [{ errcode: 13 }, "STORAGE_FULL"],
  [{ errcode: 10 | (4 << 8) }, "UNAVAILABLE"],
  [{ code: "EROFS", syscall: "open" }, "STORAGE_READ_ONLY"],
  [{ code: "ENOSPC", syscall: "write" }, "STORAGE_FULL"],
  [{ code: "EMFILE", syscall: "open" }, "UNAVAILABLE"],
  [{ code: "ERR_INVALID_ARG_TYPE" }, "INTERNAL"],
])("what is said as %j is %s", (said, code) => {
  const error = storageError(Object.assign(new Error("as it is said"), said), tmpdir());
  expect(codeOf(error)).toBe(code);
  expect(error.message).toContain("as it is said");
});
