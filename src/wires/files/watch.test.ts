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

  constructor(directory: string, options: StatusWatchOptions = {}) {
    this.watch = watchStatusDir(directory, options);
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

function write(directory: string, agent_id: string, summary: string): void {
  writeStatusSync(statusOf({ agent_id, task: { summary } }), directory);
}

test("first everything that is there comes at once, then what changes", async () => {
  using directory = scratch();
  for (let i = 0; i < 250; i += 1) {
    const status = statusOf({ agent_id: `a${i}`, task: { summary: "start" } });
    fs.writeFileSync(join(directory.path, `a${i}.json`), JSON.stringify(status));
  }
  using watched = new Watched(directory.path);
  await watched.begins();
  expect(watched.seen.size).toBe(250);
  expect(watched.batches).toBe(1);
  write(directory.path, "a7", "later");
  await vi.waitFor(() => expect(watched.seen.get("a7.json")).toBe("later"));
  fs.rmSync(join(directory.path, "a7.json"));
  await vi.waitFor(() => expect(watched.seen.has("a7.json")).toBe(false));
});

test("a change is told within 100 ms", async () => {
  using directory = scratch();
  using watched = new Watched(directory.path);
  await watched.begins();
  const delays: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    write(directory.path, "a", `step ${i}`);
    const writtenAt = performance.now();
    await watched.shows({ "a.json": `step ${i}` });
    delays.push(performance.now() - writtenAt);
  }
  // The median: on a busy machine a single one may wait for its turn.
  expect(delays.toSorted((a, b) => a - b)[5]).toBeLessThan(100);
});

test("a file that goes bad is told as refused, and as a status when it is mended", async () => {
  using directory = scratch();
  write(directory.path, "a", "fine");
  using watched = new Watched(directory.path);
  await watched.shows({ "a.json": "fine" });
  fs.writeFileSync(join(directory.path, "a.json"), "{");
  await watched.shows({ "a.json": "json" });
  write(directory.path, "a", "mended");
  await watched.shows({ "a.json": "mended" });
});

test("it begins before there is a directory, and survives when that goes", async () => {
  using place = scratch();
  const directory = join(place.path, "state", "deep", "agent-status");
  using watched = new Watched(directory);
  await watched.begins();
  write(directory, "a", "first");
  await watched.shows({ "a.json": "first" });
  fs.rmSync(join(place.path, "state"), { recursive: true });
  await watched.shows({});
  write(directory, "b", "second");
  await watched.shows({ "b.json": "second" });
  fs.renameSync(directory, `${directory}-away`);
  await watched.shows({});
  fs.renameSync(`${directory}-away`, directory);
  await watched.shows({ "b.json": "second" });
  write(directory, "b", "third");
  await watched.shows({ "b.json": "third" });
});

test("removed and made again in one breath, it is watched as before", async () => {
  using place = scratch();
  const directory = join(place.path, "agent-status");
  write(directory, "a", "old");
  using watched = new Watched(directory);
  await watched.shows({ "a.json": "old" });
  for (let i = 0; i < 20; i += 1) {
    fs.rmSync(directory, { recursive: true });
    write(directory, "b", `new ${i}`);
  }
  await watched.shows({ "b.json": "new 19" });
  write(directory, "b", "and on");
  await watched.shows({ "b.json": "and on" });
});

test("what the system did not tell is found by looking", async () => {
  using directory = scratch();
  const elsewhere = join(directory.path, "elsewhere");
  write(elsewhere, "a", "unseen");
  // A bind through a link: the names under it change without a notice for the link itself.
  const link = join(directory.path, "agent-status");
  fs.symlinkSync(elsewhere, link);
  using watched = new Watched(link, { rescanMs: 20 });
  await watched.shows({ "a.json": "unseen" });
  const other = join(directory.path, "other");
  write(other, "b", "found");
  fs.rmSync(link);
  fs.symlinkSync(other, link);
  await watched.shows({ "b.json": "found" });
});

test("hundreds of writes end with the last one, however many were told", async () => {
  using directory = scratch();
  using watched = new Watched(directory.path);
  await watched.begins();
  for (let i = 0; i < 40; i += 1) {
    await Promise.all(
      ["a", "b", "c", "d", "e"].map((agent_id) =>
        writeStatus(statusOf({ agent_id, task: { summary: `${i}` } }), directory.path),
      ),
    );
  }
  const last = { "a.json": "39", "b.json": "39", "c.json": "39", "d.json": "39" };
  await watched.shows({ ...last, "e.json": "39" });
});

test("it ends by close, by its signal and by leaving the loop, and leaves no timer", async () => {
  using directory = scratch();
  const abort = new AbortController();
  const bySignal = new Watched(directory.path, { signal: abort.signal });
  const byClose = new Watched(directory.path);
  await bySignal.begins();
  abort.abort();
  byClose.watch.close();
  byClose.watch.close();
  await Promise.all([bySignal.done, byClose.done]);
  for await (const _ of watchStatusDir(directory.path)) break;
  const isOpen = (name: string) => process.getActiveResourcesInfo().includes(name);
  await vi.waitFor(() => expect(isOpen("FSEventWrap")).toBe(false));
  expect(bySignal.error).toBeUndefined();
});

test("a directory that is a file holds nothing, until it is one", async () => {
  using place = scratch();
  const directory = join(place.path, "agent-status");
  fs.writeFileSync(directory, "in the way");
  using watched = new Watched(directory);
  await watched.begins();
  expect(watched.seen.size).toBe(0);
  fs.rmSync(directory);
  write(directory, "a", "there");
  await watched.shows({ "a.json": "there" });
});
