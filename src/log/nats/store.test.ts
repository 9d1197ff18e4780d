import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../../scripts/prerequisites.mjs";
import { newAppendId, put } from "../../../test/support/log/append.ts";
import {
  collect,
  entriesAfter,
  Follower,
  numbered,
} from "../../../test/support/log/conformance-case.ts";
import { storeConformance } from "../../../test/support/log/conformance.ts";
import { NatsCluster } from "../../../test/support/nats/server.ts";
import { codeOf } from "../../core/errors.ts";
import type { Store } from "../store.ts";
import { natsStore, type NatsStoreOptions } from "./store.ts";

let servers: NatsCluster;
let logs = 0;

const hasServer = !lacks("nats");

beforeAll(async () => {
  if (hasServer) servers = await NatsCluster.start();
}, 60_000);

afterAll(async () => {
  if (hasServer) await servers.stop();
});

function newName(): string {
  logs += 1;
  return `case-${logs}`;
}

async function remove(name: string): Promise<void> {
  await servers.call(`STREAM.DELETE.rollcall_${name}`).catch(() => undefined);
  await servers.call(`STREAM.DELETE.rollcall_${name}_snapshots`).catch(() => undefined);
}

/** A log of its own. */
function medium() {
  const name = newName();
  const { monitors } = servers;
  const connect = () => natsStore({ url: servers.url(name), monitors });
  return Promise.resolve({ connect, remove: () => remove(name) });
}

function storeOf(name: string, options: Partial<NatsStoreOptions> = {}): Store {
  const store = natsStore({ url: servers.url(name), monitors: servers.monitors, ...options });
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(!hasServer)("a nats store, on three servers", () => {
  const cases = storeConformance({ medium, isDurable: true, isShared: true });
  test.each(cases)("%s", (_title, run) => run());

  test("says where it is", () => {
    const places = servers.servers.map(({ ports }) => `127.0.0.1:${ports.client}`).join(",");
    expect(storeOf("fleet").description).toBe(`nats at ${places}/fleet`);
  });
});

describe.skipIf(!hasServer)("when answers do not come, a nats store", () => {
  test("says in time that the outcome is unknown, and answers to the same id later", async () => {
    const { log } = storeOf(newName());
    const at = await log.open();
    const id = newAppendId();
    for (const server of servers.servers) server.pause();
    const attempt = log.append({ entries: ["one"] }, at, { id, withinMs: 300 });
    await expect(attempt).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    for (const server of servers.servers) server.resume();
    await servers.untilReady();
    const again = () => log.append({ entries: ["one"] }, at, { id });
    const position = await vi.waitFor(again, { timeout: 30_000, interval: 50 });
    expect(position.head).toBe(1);
    expect(await entriesAfter(log, 0)).toEqual(["one"]);
  });
});

describe.skipIf(!hasServer)("what an operator does, a nats store", () => {
  test("refuses a stream of another program", async () => {
    const name = newName();
    const subjects = [`rollcall.${name}.other`];
    await servers.call(`STREAM.CREATE.rollcall_${name}`, { name: `rollcall_${name}`, subjects });
    const open = storeOf(name).log.open();
    await expect(open).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
    await expect(open).rejects.toThrow("of another program: nothing was changed");
  });

  test("refuses a log of a newer version, naming the program that wrote it", async () => {
    const name = newName();
    await storeOf(name, { writtenBy: "rollcall 9.1" }).log.open();
    const stream = `rollcall_${name}`;
    const { config } = await servers.call<{ config: Config }>(`STREAM.INFO.${stream}`);
    const metadata = { ...config.metadata, "rollcall-schema": "2" };
    await servers.call(`STREAM.UPDATE.${stream}`, { ...config, metadata });
    const open = storeOf(name, { writtenBy: "rollcall 9.0" }).log.open();
    await expect(open).rejects.toMatchObject({ code: "STORAGE_TOO_NEW" });
    await expect(open).rejects.toThrow("was written by rollcall 9.1 with schema 2");
  });

  test("does not begin anew when its stream is deleted under it", async () => {
    const name = newName();
    const { log } = storeOf(name);
    await log.open();
    const at = await put(log, { entries: ["one"] }, 0);
    await remove(name);
    const append = log.append({ entries: ["two"] }, at, { id: newAppendId(), withinMs: 1000 });
    await expect(append).rejects.toMatchObject({ code: /UNAVAILABLE|STORAGE_CORRUPT/ });
    await expect(log.open()).rejects.toThrow("its stream was deleted");
  });

  // A new log draws where its sequences begin.
  test.each([
    ["above", 1_000],
    ["below", -1_000],
  ])("tells a log that was made anew %s the one that it had open", async (_where, shift) => {
    const name = newName();
    const { log } = storeOf(name);
    const { logId } = await log.open();
    const at = await put(log, { entries: ["one"] }, 0);
    const stream = `rollcall_${name}`;
    const { config } = await servers.call<{ config: Config }>(`STREAM.INFO.${stream}`);
    await servers.call(`STREAM.DELETE.${stream}`);
    const metadata = { ...config.metadata, "rollcall-log": "another" };
    const first = config.first_seq + shift;
    await servers.call(`STREAM.CREATE.${stream}`, { ...config, metadata, first_seq: first });
    const { log: anew } = storeOf(name);
    expect((await anew.open()).logId).not.toBe(logId);
    await put(anew, { entries: ["another one"] }, 0);
    const append = log.append({ entries: ["two"] }, at, { id: newAppendId() });
    await expect(append).rejects.toMatchObject({ code: "DIVERGED" });
    await expect(collect(log.read(1))).rejects.toMatchObject({ code: "DIVERGED" });
    await expect(new Follower(log, 1).next()).rejects.toMatchObject({ code: "DIVERGED" });
    await expect(log.open()).rejects.toMatchObject({ code: "DIVERGED" });
    expect(await entriesAfter(anew, 0)).toEqual(["another one"]);
  });

  test("notices that all messages were purged, and takes no claim on what is left", async () => {
    const name = newName();
    const { log } = storeOf(name);
    const empty = await log.open();
    const at = await put(log, { entries: ["one"] }, 0);
    const follower = new Follower(log, 1);
    const heard = follower.next().catch(codeOf);
    await servers.call(`STREAM.PURGE.rollcall_${name}`);
    for (const position of [empty, at, { head: 0, mark: 0 }]) {
      const claim = log.append({ entries: ["two"] }, position, { id: newAppendId() });
      await expect(claim).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
    }
    expect(await heard).toBe("STORAGE_CORRUPT");
    const open = storeOf(name).log.open();
    await expect(open).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
    await expect(open).rejects.toThrow("all its messages were purged");
  });

  test("notices that entries or pieces of a stream were purged", async () => {
    const damages = [
      { filter: "log.entries", seq: 3 },
      { filter: "stream.job", seq: 3 },
      { filter: "snapshot.>", stream: "_snapshots" },
    ];
    for (const { filter, seq, stream = "" } of damages) {
      const name = newName();
      const { log, streams } = storeOf(name);
      const { mark } = await log.open();
      for (let head = 0; head < 4; head += 1) {
        const entries = numbered(head + 1, 1);
        await put(log, { entries, streams: [{ stream: "job", entries }] }, head);
      }
      await log.saveSnapshot({ sequence: 4, chunks: ["st", "ate"] });
      const purge = { filter: `rollcall.${name}.${filter}`, ...(seq && { seq: mark + seq }) };
      await servers.call(`STREAM.PURGE.rollcall_${name}${stream}`, purge);
      const { log: other, streams: theirs } = storeOf(name);
      const readAll = async () => {
        await other.open();
        await collect(other.read(0));
        await collect(theirs.read("job", 0));
        await collect((await other.loadSnapshot(4))?.chunks ?? []);
      };
      const code = await readAll().catch(codeOf);
      expect({ filter, code }).toEqual({
        filter,
        code: stream === "" ? "STORAGE_CORRUPT" : "OUT_OF_RANGE",
      });
      await streams.remove("job");
    }
  });

  test("deletes what was truncated, trimmed and removed", async () => {
    const name = newName();
    const { log, streams } = storeOf(name);
    await log.open();
    for (let head = 0; head < 6; head += 2) {
      const entries = numbered(head + 1, 2);
      const toStreams = ["trimmed", "removed"].map((stream) => ({ stream, entries }));
      await put(log, { entries, streams: toStreams }, head);
    }
    await log.saveSnapshot({ sequence: 3, chunks: ["three"] });
    await log.saveSnapshot({ sequence: 6, chunks: ["six"] });
    await log.truncate(5);
    await streams.trim("trimmed", 4);
    await streams.remove("removed");
    const counted = async (stream: string, filter: string) => {
      const request = { subjects_filter: `rollcall.${name}.${filter}` };
      const info = await servers.call<Info>(`STREAM.INFO.${stream}`, request);
      return Object.values(info.state.subjects ?? {}).reduce((sum, each) => sum + each, 0);
    };
    expect(await counted(`rollcall_${name}`, "log.entries")).toBe(1);
    // Its last entries, and the mark that trimming left.
    expect(await counted(`rollcall_${name}`, "stream.>")).toBe(2);
    expect(await counted(`rollcall_${name}_snapshots`, "snapshot.>")).toBe(1);
    expect(await entriesAfter(log, 5)).toEqual(["entry 6"]);
  });
});

interface Config {
  readonly first_seq: number;
  readonly metadata: Readonly<Record<string, string>>;
}

interface Info {
  readonly state: { readonly subjects?: Readonly<Record<string, number>> };
}
