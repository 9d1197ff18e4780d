import * as fs from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { scratch, statusOf } from "../../../test/support/files/fixture.ts";
import { watchStatusDir, type StatusWatch, type StatusWatchOptions } from "./watch.ts";
import { writeStatus, writeStatusSync } from "./write.ts";

/** A watch and where it says things stand: the name of each file, and what it does. */
class Watched implements Disposable {
  readonly watch: StatusWatch;
  readonly seen = new Map<string, string>();
  batches = 0;
  error: unknown;
  readonly done: Promise<void>;

  constructor(folder: string, options: StatusWatchOptions = {}) {
    this.watch = watchStatusDir(folder, options);
    this.done = this.#follow();
  }

  async #follow(): Promise<void> {
    try {
      for await (const { read, removed } of this.watch) {
        for (const path of removed) this.seen.delete(nameOf(path));
        for (const each of read) {
          const does = each.kind === "status" ? each.status.task?.summary : each.reason;
          this.seen.set(nameOf(each.path), does ?? "idle");
        }
        this.batches += 1;
      }
    } catch (error) {
      this.error = error;
    }
  }

  async shows(expected: Readonly<Record<string, string>>, timeout = 5000): Promise<void> {
    await vi.waitFor(() => expect(Object.fromEntries(this.seen)).toEqual(expected), {
      timeout,
      interval: 1,
    });
  }

  async begins(): Promise<void> {
    await vi.waitFor(() => expect(this.batches).toBeGreaterThan(0), { interval: 1 });
  }

  [Symbol.dispose](): void {
    this.watch.close();
  }
}

function nameOf(path: string): string {
  return path.split("/").at(-1) ?? "";
}

function write(folder: string, agent_id: string, summary: string): void {
  writeStatusSync(statusOf({ agent_id, task: { summary } }), folder);
}

test("first everything that is there comes at once, then what changes", async () => {
  using folder = scratch();
  for (let i = 0; i < 250; i += 1) {
    const status = statusOf({ agent_id: `a${i}`, task: { summary: "start" } });
    fs.writeFileSync(join(folder.path, `a${i}.json`), JSON.stringify(status));
  }
  using watched = new Watched(folder.path);
  await watched.begins();
  expect(watched.seen.size).toBe(250);
  expect(watched.batches).toBe(1);
  write(folder.path, "a7", "later");
  await vi.waitFor(() => expect(watched.seen.get("a7.json")).toBe("later"));
  fs.rmSync(join(folder.path, "a7.json"));
  await vi.waitFor(() => expect(watched.seen.has("a7.json")).toBe(false));
});

test("a change is told within 100 ms", async () => {
  using folder = scratch();
  using watched = new Watched(folder.path);
  await watched.begins();
  const delays: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    write(folder.path, "a", `step ${i}`);
    const writtenAt = performance.now();
    await watched.shows({ "a.json": `step ${i}` });
    delays.push(performance.now() - writtenAt);
  }
  // The median: on a busy machine a single one may wait for its turn.
  expect(delays.toSorted((a, b) => a - b)[5]).toBeLessThan(100);
});

test("a file that goes bad is told as refused, and as a status when it is mended", async () => {
  using folder = scratch();
  write(folder.path, "a", "fine");
  using watched = new Watched(folder.path);
  await watched.shows({ "a.json": "fine" });
  fs.writeFileSync(join(folder.path, "a.json"), "{");
  await watched.shows({ "a.json": "json" });
  write(folder.path, "a", "mended");
  await watched.shows({ "a.json": "mended" });
});

test("it begins before there is a directory, and survives when that goes", async () => {
  using place = scratch();
  const folder = join(place.path, "state", "deep", "agent-status");
  using watched = new Watched(folder);
  await watched.begins();
  write(folder, "a", "first");
  await watched.shows({ "a.json": "first" });
  fs.rmSync(join(place.path, "state"), { recursive: true });
  await watched.shows({});
  write(folder, "b", "second");
  await watched.shows({ "b.json": "second" });
  fs.renameSync(folder, `${folder}-away`);
  await watched.shows({});
  fs.renameSync(`${folder}-away`, folder);
  await watched.shows({ "b.json": "second" });
  write(folder, "b", "third");
  await watched.shows({ "b.json": "third" });
});

test("removed and made again in one breath, it is watched as before", async () => {
  using place = scratch();
  const folder = join(place.path, "agent-status");
  write(folder, "a", "old");
  using watched = new Watched(folder);
  await watched.shows({ "a.json": "old" });
  for (let i = 0; i < 20; i += 1) {
    fs.rmSync(folder, { recursive: true });
    write(folder, "b", `new ${i}`);
  }
  await watched.shows({ "b.json": "new 19" });
  write(folder, "b", "and on");
  await watched.shows({ "b.json": "and on" });
});

test("what the system did not tell is found by looking", async () => {
  using folder = scratch();
  const elsewhere = join(folder.path, "elsewhere");
  write(elsewhere, "a", "unseen");
  // A bind through a link: the names under it change without a notice for the link itself.
  const link = join(folder.path, "agent-status");
  fs.symlinkSync(elsewhere, link);
  using watched = new Watched(link, { rescanMs: 20 });
  await watched.shows({ "a.json": "unseen" });
  const other = join(folder.path, "other");
  write(other, "b", "found");
  fs.rmSync(link);
  fs.symlinkSync(other, link);
  await watched.shows({ "b.json": "found" });
});

test("hundreds of writes end with the last one, however many were told", async () => {
  using folder = scratch();
  using watched = new Watched(folder.path);
  await watched.begins();
  for (let i = 0; i < 40; i += 1) {
    await Promise.all(
      ["a", "b", "c", "d", "e"].map((agent_id) =>
        writeStatus(statusOf({ agent_id, task: { summary: `${i}` } }), folder.path),
      ),
    );
  }
  const last = { "a.json": "39", "b.json": "39", "c.json": "39", "d.json": "39" };
  await watched.shows({ ...last, "e.json": "39" });
});

test("it ends by close, by its signal and by leaving the loop, and leaves no timer", async () => {
  using folder = scratch();
  const abort = new AbortController();
  const bySignal = new Watched(folder.path, { signal: abort.signal });
  const byClose = new Watched(folder.path);
  await bySignal.begins();
  abort.abort();
  byClose.watch.close();
  byClose.watch.close();
  await Promise.all([bySignal.done, byClose.done]);
  for await (const _ of watchStatusDir(folder.path)) break;
  const isOpen = (name: string) => process.getActiveResourcesInfo().includes(name);
  await vi.waitFor(() => expect(isOpen("FSEventWrap")).toBe(false));
  expect(bySignal.error).toBeUndefined();
});

test("a folder that is a file holds nothing, until it is one", async () => {
  using place = scratch();
  const folder = join(place.path, "agent-status");
  fs.writeFileSync(folder, "in the way");
  using watched = new Watched(folder);
  await watched.begins();
  expect(watched.seen.size).toBe(0);
  fs.rmSync(folder);
  write(folder, "a", "there");
  await watched.shows({ "a.json": "there" });
});
