import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { appendAt, newAppendId, put } from "../../test/support/log/append.ts";
import { NatsCluster } from "../../test/support/nats/server.ts";
import { PostgresServer } from "../../test/support/postgres/server.ts";
import { backUpStore } from "./backup.ts";
import { copyStore, digestOf } from "./copy.ts";
import { memoryStore } from "./memory/store.ts";
import type { Filling } from "./filling.ts";
import { fillNats, natsMoment, natsStore } from "./nats/store.ts";
import { fillPostgres, postgresMoment, postgresStore } from "./postgres/store.ts";
import { sqliteStore } from "./sqlite/store.ts";
import { beginRestore } from "./sqlite/upkeep.ts";
import type { Store } from "./store.ts";

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-copy-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function closedLater(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}

function fileStore(): Store {
  return closedLater(sqliteStore({ path: join(scratch(), "rollcall.db") }));
}

/** Truncated, trimmed, with two snapshots, large entries, and a stream of which nothing is left. */
async function filled(store: Store): Promise<Store> {
  const { log, streams } = store;
  let { head, mark } = await log.open();
  const add = async (entries: readonly string[]) => {
    ({ head, mark } = await log.append({ entries }, { head, mark }, { id: newAppendId() }));
  };
  for (let n = 1; n <= 20; n += 1) await add([`entry ${n}`, ""]);
  await log.saveSnapshot({ sequence: 10, chunks: ["ten", "", " events"] });
  await add(Array.from({ length: 5 }, (_, n) => `${n}`.repeat(700_000)));
  await log.saveSnapshot({ sequence: 40, chunks: ["forty"] });
  await log.truncate(10);
  for (const entry of ["one", "two", "three"]) await streams.append("job/1", [entry]);
  await streams.trim("job/1", 1);
  await streams.append("job/2", ["", "x".repeat(1_500_000)]);
  await streams.append("job/gone", ["a", "b"]);
  await streams.trim("job/gone", 2);
  await streams.append("ünïcode", ["\u0000 \u{1F600}"]);
  return store;
}

/** Everything in it, whatever its pages are; large texts by their length. */
async function contentOf({ log, streams }: Store): Promise<readonly unknown[]> {
  const { head, oldest } = await log.open();
  const seen: unknown[] = [head, oldest];
  const see = (texts: readonly string[]) =>
    seen.push(...texts.map((text) => (text.length > 99 ? [text.length, text[0]] : text)));
  for await (const { entries } of log.read(oldest - 1)) see(entries);
  for (let at = head; at >= oldest - 1;) {
    const saved = await log.loadSnapshot(at);
    seen.push(saved?.sequence);
    for await (const chunk of saved?.chunks ?? []) see([chunk]);
    at = (saved?.sequence ?? 0) - 1;
  }
  for await (const range of streams.ranges("")) {
    seen.push(range);
    for await (const { entries } of streams.read(range.stream, range.oldest - 1)) see(entries);
  }
  return seen;
}

describe("a copy of a store", () => {
  test("holds the same under the same sequences, and its log goes on there", async () => {
    const from = await filled(fileStore());
    const to = fileStore();
    const seen: string[] = [];
    const range = await copyStore(from, to, ({ what, events }) => seen.push(`${what} ${events}`));
    expect(await contentOf(to)).toEqual(await contentOf(from));
    const copied = await to.log.open();
    expect(copied).toMatchObject({ head: 45, oldest: 11, lastId: range.lastId });
    expect(copied.logId).not.toBe(range.logId);
    expect(seen.at(-1)).toBe("compared 45");
    expect(seen).toContain("copied 45");
    // A reader of the old log goes on in the new one.
    for await (const batch of to.log.read(40, (await idAt(from, 40)) ?? "")) {
      expect(batch.first).toBe(41);
      break;
    }
    await appendAt(to.log, { entries: ["goes on"] }, 45);
  });

  test("goes through a store of any kind, and nothing is too empty for it", async () => {
    const from = await filled(memoryStore());
    const to = fileStore();
    const back = memoryStore();
    await copyStore(from, to);
    await copyStore(to, back);
    expect(await contentOf(back)).toEqual(await contentOf(from));
    const empty = fileStore();
    await copyStore(memoryStore(), empty);
    expect(await empty.log.open()).toMatchObject({ head: 0, oldest: 1 });
  });

  test("of a log that was truncated to its end goes on at its head", async () => {
    const from = memoryStore();
    await from.log.open();
    await put(from.log, { entries: ["one", "two"] }, 0);
    await from.log.saveSnapshot({ sequence: 2, chunks: ["two"] });
    await from.log.truncate(2);
    const to = fileStore();
    await copyStore(from, to);
    expect(await to.log.open()).toMatchObject({ head: 2, oldest: 3 });
    expect(await digestOf(to)).toBe(await digestOf(from));
  });

  test("is refused where anything is, and what is not kept as written is noticed", async () => {
    const from = await filled(memoryStore());
    const taken = memoryStore();
    await taken.log.open();
    await taken.streams.append("job", ["mine"]);
    await expect(copyStore(from, taken)).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    const busy = await filled(memoryStore());
    await expect(copyStore(from, busy)).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    const forgetful = memoryStore();
    const { streams } = forgetful;
    const forgets: Store = {
      ...forgetful,
      streams: Object.assign(Object.create(streams) as typeof streams, {
        appendAll: () => Promise.resolve([]),
        ranges: (prefix: string) => streams.ranges(prefix),
        trim: () => Promise.resolve(),
      }),
    };
    const copy = copyStore(from, forgets);
    await expect(copy).rejects.toThrow("does not hold what was written into it");
  });
});

async function idAt({ log }: Store, sequence: number): Promise<string | undefined> {
  for await (const { previous } of log.read(sequence)) return previous;
  return undefined;
}

interface Shared {
  readonly kind: "postgres" | "nats";
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** The URL of a log that is not there yet. */
  readonly newPlace: () => string;
  readonly member: (url: string) => Store;
  readonly moment: (url: string) => Store;
  readonly fill: (url: string, options?: FillOptions) => Filling;
  readonly emptyMark: unknown;
}

interface FillOptions {
  readonly logId?: string;
  readonly writtenBy?: string;
}

let places = 0;

function postgres(): Shared {
  let server: PostgresServer;
  return {
    kind: "postgres",
    start: async () => void (server = await PostgresServer.start()),
    stop: () => server.stop(),
    newPlace: () => server.url(`copy_${(places += 1)}`),
    member: (url) => postgresStore({ url }),
    moment: (url) => postgresMoment({ url }),
    fill: (url, { logId, ...options } = {}) => fillPostgres({ url, ...options }, logId),
    emptyMark: 0,
  };
}

function nats(): Shared {
  let servers: NatsCluster;
  const options = (url: string) => ({ url, monitors: servers.monitors });
  return {
    kind: "nats",
    start: async () => void (servers = await NatsCluster.start()),
    stop: () => servers.stop(),
    newPlace: () => servers.url(`copy_${(places += 1)}`),
    member: (url) => natsStore(options(url)),
    moment: (url) => natsMoment(options(url)),
    fill: (url, { logId, ...more } = {}) => fillNats({ ...options(url), ...more }, logId),
    emptyMark: expect.any(Number),
  };
}

const SHARED = [postgres(), nats()].filter(({ kind }) => !lacks(kind));

beforeAll(async () => {
  for (const { start } of SHARED) await start();
}, 60_000);

afterAll(async () => {
  for (const { stop } of SHARED) await stop();
});

describe.each(SHARED)("a copy into $kind and out of it", (shared) => {
  const { newPlace, member: memberOf, moment: momentOf, fill, emptyMark } = shared;

  test("holds the same; a backup of it is restored into a file", async () => {
    const from = await filled(fileStore());
    const { logId } = await from.log.open();
    const place = newPlace();
    const filling = fill(place, { logId });
    await copyStore(from, filling.store);
    await filling.commit();
    const member = closedLater(memberOf(place));
    expect(await member.log.open()).toMatchObject({ logId, head: 45, oldest: 11 });
    expect(await contentOf(member)).toEqual(await contentOf(from));

    const target = join(scratch(), "one.backup");
    const backup = { from: () => momentOf(place), target, madeBy: "this test" };
    const facts = await backUpStore(backup);
    expect(facts).toMatchObject({ logId, head: 45, madeBy: "this test" });
    expect(fs.readdirSync(join(target, ".."))).toEqual(["one.backup"]);
    const restoring = beginRestore(target, join(scratch(), "rollcall.db"));
    expect(await contentOf(restoring.store)).toEqual(await contentOf(member));
    await restoring.abandon();
    const again = backUpStore({ ...backup, from: () => momentOf(place) });
    await expect(again).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  });

  test("is of one moment, whatever members write meanwhile", async () => {
    const place = newPlace();
    const member = await filled(closedLater(memberOf(place)));
    const add = async (entry: string) => {
      const streams = ["job/2", "job/3"].map((stream) => ({ stream, entries: [entry] }));
      await put(member.log, { entries: [entry], streams }, (await member.log.open()).head);
    };
    await add("last");
    const before = await contentOf(member);
    const moment = closedLater(momentOf(place));
    await moment.log.open();
    await add("later");
    await member.streams.append("job/gone", ["later"]);
    await member.streams.append("job/new", ["later"]);
    await member.log.saveSnapshot({ sequence: 46, chunks: ["new"] });
    const to = fileStore();
    await copyStore(moment, to);
    expect(await contentOf(to)).toEqual(before);
    const write = moment.streams.append("job/2", ["no"]);
    await expect(write).rejects.toMatchObject({ code: "STORAGE_READ_ONLY" });
  });

  test("is all or nothing: no member opens one that was cut off, and it is run again", async () => {
    const from = await filled(memoryStore());
    const place = newPlace();
    const cut = fill(place, { writtenBy: "a restore" });
    await copyStore(from, cut.store);
    await cut.store.close();
    const member = closedLater(memberOf(place));
    const refused = {
      code: "WRONG_STATE",
      message: expect.stringContaining("a restore") as string,
    };
    await expect(member.log.open()).rejects.toMatchObject(refused);
    await expect(closedLater(momentOf(place)).log.open()).rejects.toMatchObject(refused);

    const again = fill(place);
    await copyStore(from, again.store);
    await again.commit();
    expect(await contentOf(member)).toEqual(await contentOf(from));
    const third = fill(place);
    const taken = third.store.log.open();
    await expect(taken).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await third.abandon();
    expect(await contentOf(member)).toEqual(await contentOf(from));
  });

  test("that is given up leaves an empty log; a second one fences the first", async () => {
    const place = newPlace();
    const first = fill(place);
    await filled(first.store);
    const second = fill(place);
    await second.store.log.open();
    const at = { head: 0, mark: 0 };
    const late = first.store.log.append({ entries: ["late"] }, at, { id: newAppendId() });
    await expect(late).rejects.toMatchObject({ code: "DIVERGED" });
    await expect(first.commit()).rejects.toMatchObject({ code: "DIVERGED" });
    await second.abandon();
    const member = closedLater(memberOf(place));
    expect(await member.log.open()).toMatchObject({ head: 0, mark: emptyMark, oldest: 1 });
    await put(member.log, { entries: ["mine"] }, 0);
  });

  test("needs a log that is there", async () => {
    const nowhere = closedLater(momentOf(newPlace()));
    await expect(nowhere.log.open()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe.each(SHARED.filter(({ kind }) => kind === "postgres"))("a moment of $kind", (shared) => {
  test("keeps what members truncate and remove meanwhile", async () => {
    const place = shared.newPlace();
    const member = await filled(closedLater(shared.member(place)));
    const before = await contentOf(member);
    const moment = closedLater(shared.moment(place));
    await moment.log.open();
    await member.log.saveSnapshot({ sequence: 45, chunks: ["new"] });
    await member.log.truncate(45);
    await member.streams.remove("job/1", "ünïcode");
    const to = fileStore();
    await copyStore(moment, to);
    expect(await contentOf(to)).toEqual(before);
  });
});

describe.each(SHARED.filter(({ kind }) => kind === "nats"))("a moment of $kind", (shared) => {
  test("lacks what members trim and remove meanwhile, and nothing else", async () => {
    const place = shared.newPlace();
    const member = await filled(closedLater(shared.member(place)));
    await member.streams.append("job/3", ["a", "b", "c"]);
    const before = await contentOf(member);
    const moment = closedLater(shared.moment(place));
    await moment.log.open();
    await member.streams.append("job/3", ["d", "e"]);
    await member.streams.trim("job/3", 4);
    await member.streams.trim("job/1", 2);
    await member.streams.append("job/1", ["four"]);
    await member.streams.remove("ünïcode", "job/2");
    await member.streams.append("job/2", ["another life"]);
    const to = fileStore();
    await copyStore(moment, to);
    const first = before.findIndex((each) => typeof each === "object" && "stream" in Object(each));
    expect(await contentOf(to)).toEqual([
      ...before.slice(0, first),
      { stream: "job/1", oldest: 3, head: 3 },
      "three",
      { stream: "job/3", oldest: 4, head: 3 },
      { stream: "job/gone", oldest: 3, head: 2 },
    ]);
  });

  test("that members truncate is given up, and a backup begins anew", async () => {
    const place = shared.newPlace();
    const member = await filled(closedLater(shared.member(place)));
    const moment = closedLater(shared.moment(place));
    await moment.log.open();
    await member.log.saveSnapshot({ sequence: 45, chunks: ["new"] });
    await member.log.truncate(44);
    await expect(copyStore(moment, fileStore())).rejects.toMatchObject({ code: "OUT_OF_RANGE" });
    const moments = [moment, shared.moment(place)];
    const target = join(scratch(), "one.backup");
    const from = () => moments.shift() ?? memoryStore();
    expect(await backUpStore({ from, target, madeBy: "this test" })).toMatchObject({ head: 45 });
    const restoring = beginRestore(target, join(scratch(), "rollcall.db"));
    expect(await contentOf(restoring.store)).toEqual(await contentOf(member));
    await restoring.abandon();
  });
});
