import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { put } from "../../../test/support/log/append.ts";
import { collect, entriesAfter, numbered } from "../../../test/support/log/conformance-case.ts";
import { storeConformance } from "../../../test/support/log/conformance.ts";
import type { Log, LogMirror, LogRange } from "../log.ts";
import { MemoryMedium, memoryStore } from "../memory/store.ts";
import { sqliteStore } from "../sqlite/store.ts";
import type { Store } from "../store.ts";
import { MIRROR } from "./limits.ts";
import { mirroredStore } from "./store.ts";

function folder(): string {
  const path = fs.mkdtempSync(join(tmpdir(), "rollcall-mirror-"));
  onTestFinished(() => fs.rmSync(path, { recursive: true, force: true }));
  return path;
}

describe("a store with a mirror", () => {
  const medium = () => {
    const shared = new MemoryMedium();
    const path = fs.mkdtempSync(join(tmpdir(), "rollcall-mirror-"));
    let members = 0;
    const connect = () => {
      members += 1;
      const store = memoryStore({ medium: shared });
      return mirroredStore({ store, path: join(path, `${members}.db`) });
    };
    const remove = () => Promise.resolve(fs.rmSync(path, { recursive: true, force: true }));
    return Promise.resolve({ connect, remove });
  };
  const cases = storeConformance({ medium, isDurable: true, isShared: true });
  test.each(cases)("%s", (_title, run) => run());
});

interface Started {
  readonly store: Store;
  readonly log: Log;
  readonly mirror: LogMirror;
  readonly range: LogRange;
  /** The sequences after which the shared log was read. */
  readonly reads: readonly number[];
  readonly warnings: readonly string[];
}

/** A member that starts on a shared log, with its mirror at a path. */
async function start(medium: MemoryMedium, path: string): Promise<Started> {
  const shared = memoryStore({ medium });
  const reads: number[] = [];
  const warnings: string[] = [];
  const { log } = shared;
  const watched = Object.assign(Object.create(log) as Log, {
    open: () => log.open(),
    append: (...args: Parameters<Log["append"]>) => log.append(...args),
    follow: (...args: Parameters<Log["follow"]>) => log.follow(...args),
    read: (after: number, afterId?: string) => {
      reads.push(after);
      return log.read(after, afterId);
    },
    loadSnapshot: (atOrBefore: number) => log.loadSnapshot(atOrBefore),
    saveSnapshot: (...args: Parameters<Log["saveSnapshot"]>) => log.saveSnapshot(...args),
    truncate: (through: number) => log.truncate(through),
    shared: true,
    limits: log.limits,
  });
  const onWarning = (message: string) => void warnings.push(message);
  const store = mirroredStore({ store: { ...shared, log: watched }, path, onWarning });
  onTestFinished(() => store.close());
  const range = await store.log.open();
  if (!store.log.mirror) throw new Error("there is no mirror");
  return { store, log: store.log, mirror: store.log.mirror, range, reads, warnings };
}

/** Entries in appends of five, and the mirror has them. */
async function written(medium: MemoryMedium, path: string, count = 100): Promise<void> {
  const { store, log } = await start(medium, path);
  for (let { head } = await log.open(); head < count;) {
    ({ head } = await put(log, { entries: numbered(head + 1, 5) }, head));
  }
  await store.close();
}

/** What the file holds. */
async function inFile(path: string): Promise<readonly string[]> {
  const file = sqliteStore({ path, readOnly: true });
  try {
    const { oldest } = await file.log.open();
    return await entriesAfter(file.log, oldest - 1);
  } finally {
    await file.close();
  }
}

describe("a member that starts again", () => {
  test("reads its mirror, and of the shared log only the end", async () => {
    const medium = new MemoryMedium();
    const path = join(folder(), "mirror.db");
    await written(medium, path);
    const other = memoryStore({ medium });
    await other.log.open();
    await put(other.log, { entries: numbered(101, 3) }, 100);
    const { log, reads, warnings } = await start(medium, path);
    expect(await entriesAfter(log, 0)).toEqual(numbered(1, 103));
    expect(await entriesAfter(log, 57)).toEqual(numbered(58, 46));
    expect(Math.min(...reads)).toBe(100);
    expect(warnings).toEqual([]);
  });

  test("checks a reader's id where the mirror knows it, and asks the shared log else", async () => {
    const medium = new MemoryMedium();
    const path = join(folder(), "mirror.db");
    await written(medium, path);
    const { log } = await start(medium, path);
    const id = medium.idAt(50) ?? "";
    expect((await collect(log.read(50, id))).flatMap(({ entries }) => entries)).toHaveLength(50);
    await expect(collect(log.read(50, "of another log"))).rejects.toMatchObject({
      code: "DIVERGED",
    });
  });

  test("without any mirror has one soon, from the newest snapshot of the log on", async () => {
    const medium = new MemoryMedium();
    const leader = memoryStore({ medium });
    await leader.log.open();
    await put(leader.log, { entries: numbered(1, 60) }, 0);
    await leader.log.saveSnapshot({ sequence: 60, chunks: ["si", "xty"] });
    await leader.log.truncate(60);
    await put(leader.log, { entries: numbered(61, 40) }, 60);
    const path = join(folder(), "mirror.db");
    const { store, mirror } = await start(medium, path);
    await vi.waitFor(async () => expect(await mirror.newest()).toBeDefined());
    const follow = store.log.follow(100, undefined, AbortSignal.timeout(60_000));
    const followed = follow[Symbol.asyncIterator]();
    const next = followed.next();
    await put(leader.log, { entries: numbered(101, 5) }, 100);
    await next;
    await store.close();
    expect(await inFile(path)).toEqual(numbered(61, 45));
    const again = await start(medium, path);
    const kept = await again.mirror.newest();
    expect(kept).toMatchObject({ sequence: 60, id: medium.truncatedId });
    expect(await collect(kept?.chunks ?? [])).toEqual(["si", "xty"]);
    expect(await entriesAfter(again.log, 60)).toEqual(numbered(61, 45));
    expect(Math.min(...again.reads)).toBe(105);
  });

  test("keeps snapshots of its own: the last two, and what came after the first", async () => {
    const medium = new MemoryMedium();
    const path = join(folder(), "mirror.db");
    const { store, log, mirror } = await start(medium, path);
    for (let head = 0; head < 40; head += 10) {
      await put(log, { entries: numbered(head + 1, 10) }, head);
      const snapshot = { sequence: head + 10, chunks: [`state ${head + 10}`] };
      if (head === 10) await log.saveSnapshot(snapshot);
      else expect(await mirror.keep(snapshot)).toBe(true);
    }
    expect(await mirror.keep({ sequence: 40, chunks: ["state 40"] })).toBe(true);
    // The shared log knows only the one that was for all.
    expect([...medium.snapshots]).toEqual([[20, ["state 20"]]]);
    expect(await log.loadSnapshot(Infinity)).toMatchObject({ sequence: 20 });
    expect(await entriesAfter(log, 0)).toEqual(numbered(1, 40));
    await store.close();
    expect(await inFile(path)).toEqual(numbered(31, 10));
  });
});

test("a slow replay that snapshots overtake ends in the shared log; the mirror stays", async () => {
  const medium = new MemoryMedium();
  const path = join(folder(), "mirror.db");
  // Each is a page of its own.
  const long = "x".repeat(1 << 20);
  for (let head = 0; head < 5; head += 1) {
    const { store, log } = await start(medium, path);
    await put(log, { entries: [long] }, head);
    await store.close();
  }
  const { log, mirror, reads, warnings } = await start(medium, path);
  const seen: string[] = [];
  const kept: boolean[] = [];
  for await (const { entries } of log.read(0)) {
    for (const entry of entries) seen.push(entry);
    if (kept.length > 0) continue;
    // By the third, what the second truncated is gone from the file.
    for (const sequence of [4, 5, 5]) kept.push(await mirror.keep({ sequence, chunks: ["state"] }));
  }
  expect(kept).toEqual([true, true, true]);
  expect(seen).toEqual(Array(5).fill(long));
  expect(warnings).toEqual([]);
  expect(reads).toContain(2);
});

// On Node 20 each signal that is combined with one that stays leaves something in it for good.
test("a mirror that is written for long combines no signals", async () => {
  const any = vi.spyOn(AbortSignal, "any");
  onTestFinished(() => any.mockRestore());
  const { log, mirror } = await start(new MemoryMedium(), join(folder(), "mirror.db"));
  for (let head = 0; head < 3; head += 1) {
    await put(log, { entries: ["one"] }, head);
    expect(await mirror.keep({ sequence: head + 1, chunks: ["state"] })).toBe(true);
  }
  expect(any.mock.calls).toHaveLength(0);
});

describe("a mirror is made anew, and the shared log is read", () => {
  async function expectRenewed(medium: MemoryMedium, path: string, why: string): Promise<void> {
    const expected = medium.entries.slice();
    const { store, log, reads, warnings } = await start(medium, path);
    expect(await entriesAfter(log, medium.truncated)).toEqual(expected);
    expect(warnings.join("\n")).toContain(why);
    expect(Math.min(...reads)).toBeLessThan(medium.tail.head);
    await vi.waitFor(async () => {
      await store.log.open();
      expect(await inFile(path)).toEqual(expected);
    });
    await store.close();
    const again = await start(medium, path);
    expect(again.warnings).toEqual([]);
    await again.store.close();
  }

  test("where it is of another log", async () => {
    const path = join(folder(), "mirror.db");
    await written(new MemoryMedium(), path);
    const medium = new MemoryMedium();
    await written(medium, join(folder(), "its own.db"), 50);
    await expectRenewed(medium, path, "it is of log");
    // It may be all that is left of that log.
    expect(await inFile(`${path}.old`)).toEqual(numbered(1, 100));
  });

  test("where the log has lost entries that it has, even if others stand there now", async () => {
    const medium = new MemoryMedium();
    const path = join(folder(), "mirror.db");
    await written(medium, path);
    for (const length of [90, 130]) {
      // A standby took over that had not heard of the last appends.
      const copy = new MemoryMedium();
      Object.assign(copy, { logId: medium.logId });
      const { log } = memoryStore({ medium: copy });
      await log.open();
      for (let head = 0; head < length; head += 10) {
        await put(log, { entries: numbered(head + 1, 10) }, head);
      }
      const own = join(folder(), "mirror.db");
      fs.cpSync(path, own);
      const why = length === 90 ? "the log ends at 90" : "was written by append";
      await expectRenewed(copy, own, why);
      expect(await inFile(`${own}.old`)).toEqual(numbered(1, 100));
    }
  });

  test("where it is damaged, at its start or on the way", async () => {
    const medium = new MemoryMedium();
    const path = join(folder(), "mirror.db");
    await written(medium, path, 4000);
    const file = fs.readFileSync(path);
    const at = file.indexOf("entry 2013");
    for (const flip of [20, at + 6]) {
      const hurt = Buffer.from(file);
      hurt[flip] = (hurt[flip] ?? 0) ^ 1;
      const own = join(folder(), "mirror.db");
      fs.writeFileSync(own, hurt);
      await expectRenewed(medium, own, "is made anew");
    }
  });

  test("where it was not finished, or ends too long ago, or was truncated away", async () => {
    const medium = new MemoryMedium();
    const path = join(folder(), "mirror.db");
    const begun = sqliteStore({ path });
    await begun.log.open();
    await put(begun.log, { entries: ["", "", ""] }, 0);
    await begun.close();
    await written(medium, join(folder(), "mirror.db"), 20);
    await expectRenewed(medium, path, "it was not finished");

    const { log } = memoryStore({ medium });
    await log.open();
    const many = Array.from({ length: MIRROR.tailEntries + 1 }, () => "");
    await put(log, { entries: many }, 20);
    const own = join(folder(), "mirror.db");
    fs.cpSync(path, own);
    await expectRenewed(medium, path, "it ends at 20, long ago");
    const { head } = await log.open();
    await log.saveSnapshot({ sequence: head, chunks: ["state"] });
    await log.truncate(head);
    await put(log, { entries: ["last"] }, head);
    await expectRenewed(medium, own, "is made anew");
  });
});

test("a member goes on without a mirror where the file cannot be used", async () => {
  const medium = new MemoryMedium();
  const path = join(folder(), "mirror.db");
  const other = sqliteStore({ path });
  onTestFinished(() => other.close());
  await other.log.open();
  const { log, mirror, warnings } = await start(medium, path);
  await put(log, { entries: ["one"] }, 0);
  expect(await entriesAfter(log, 0)).toEqual(["one"]);
  expect(await mirror.keep({ sequence: 1, chunks: ["state"] })).toBe(false);
  await log.saveSnapshot({ sequence: 1, chunks: ["state"] });
  expect([...medium.snapshots]).toEqual([[1, ["state"]]]);
  expect(warnings).toEqual([expect.stringContaining("cannot be used, the shared log is read")]);
  expect(fs.existsSync(path)).toBe(true);
});
