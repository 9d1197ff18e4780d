import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as threads from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  collect,
  entriesAfter,
  Follower,
  rejects,
} from "../../../test/support/log/conformance-case.ts";
import { sqliteStore } from "./store.ts";
import { appendAt } from "../../../test/support/log/append.ts";

const BUILT = new URL("../../../dist/lib/index.js", import.meta.url).href;

/** The thread cannot go on when it gets this. */
const NO_REQUEST = null;

const started = vi.hoisted(() => [] as threads.Worker[]);
vi.mock(import("node:worker_threads"), async (original) => {
  const module = await original();
  return {
    ...module,
    Worker: class extends module.Worker {
      constructor(...given: ConstructorParameters<typeof threads.Worker>) {
        super(...given);
        started.push(this);
      }
    },
  };
});

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-thread-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return join(folder, "rollcall.db");
}

test("when the thread dies nobody knows of an append; opening starts it anew", async () => {
  const store = sqliteStore({ path: scratch() });
  const { log, streams } = store;
  await log.open();
  await appendAt(log, { entries: ["kept"] }, 0);
  const follower = new Follower(log, 1);
  const followed = rejects("UNAVAILABLE", follower.next());

  started.at(-1)?.postMessage(NO_REQUEST);
  const pending = [
    rejects("OUTCOME_UNKNOWN", appendAt(log, { entries: ["lost"] }, 1)),
    rejects("OUTCOME_UNKNOWN", streams.append("stream", ["lost"])),
    rejects("UNAVAILABLE", collect(log.read(0))),
  ];
  await Promise.all([followed, ...pending]);
  await rejects("UNAVAILABLE", appendAt(log, { entries: ["lost"] }, 1));
  await rejects("UNAVAILABLE", collect(log.read(0)));
  await rejects("UNAVAILABLE", streams.range("stream"));

  expect(await log.open()).toMatchObject({ head: 1, oldest: 1 });
  await appendAt(log, { entries: ["goes on"] }, 1);
  expect(await entriesAfter(log, 0)).toEqual(["kept", "goes on"]);
  await store.close();
});

test("a store whose thread died can be closed", async () => {
  const store = sqliteStore({ path: scratch() });
  await store.log.open();
  started.at(-1)?.postMessage(NO_REQUEST);
  await rejects("OUTCOME_UNKNOWN", appendAt(store.log, { entries: ["lost"] }, 0));
  await store.close();
  await rejects("WRONG_STATE", store.log.open());
});

test("calls made while the store opens wait for it", async () => {
  const store = sqliteStore({ path: scratch() });
  const opened = store.log.open();
  expect(await store.streams.append("stream", ["early"])).toBe(1);
  expect(await opened).toMatchObject({ head: 0, oldest: 1 });
  await store.close();
});

test("closing while the store opens closes it", async () => {
  const path = scratch();
  const store = sqliteStore({ path });
  const opened = store.log.open().catch(() => undefined);
  await Promise.all([store.close(), store.close(), opened]);
  const next = sqliteStore({ path });
  expect(await next.log.open()).toMatchObject({ head: 0, oldest: 1 });
  await next.close();
});

test("a process may exit in the middle of a commit, and its exit code is its own", () => {
  const script = `
    const { sqliteStore } = await import(${JSON.stringify(BUILT)});
    const { log } = sqliteStore({ path: process.argv[1] });
    await log.open();
    const entries = ["x".repeat(2000)];
    const append = (head) => log.append({ entries }, { head, mark: head }, { id: "exit." + head });
    for (let head = 0; head < 20; head += 1) await append(head);
    append(20);
    setImmediate(() => process.exit(7));
  `;
  for (let round = 0; round < 4; round += 1) {
    const options = ["--input-type=module", "--eval", script, scratch()];
    const { status, signal } = spawnSync(process.execPath, options);
    expect({ status, signal }).toEqual({ status: 7, signal: null });
  }
});
