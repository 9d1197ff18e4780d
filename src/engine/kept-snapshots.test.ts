/** Members that start from their mirror of the log. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { quiet } from "../../test/support/engine/fixture.ts";
import { LIBRARY } from "../core/by.ts";
import { rules } from "../core/rules.ts";
import type { LogMirror } from "../log/log.ts";
import { MemoryMedium, memoryStore } from "../log/memory/store.ts";
import { mirroredStore } from "../log/mirror/store.ts";
import { sqliteStore } from "../log/sqlite/store.ts";
import type { Store } from "../log/store.ts";
import { Engine } from "./engine.ts";
import { KeptSnapshots } from "./kept-snapshots.ts";
import { load } from "./replica.ts";

const NEWER = '{"part":"scalars","records":[{"version":1000}]}';

const medium = () => new MemoryMedium();

function folder(): string {
  const path = fs.mkdtempSync(join(tmpdir(), "rollcall-kept-"));
  onTestFinished(() => fs.rmSync(path, { recursive: true, force: true }));
  return path;
}

async function leader(shared: MemoryMedium): Promise<Engine> {
  const { log } = memoryStore({ medium: shared });
  const engine = await Engine.open({ log, node: "leader" });
  onTestFinished(() => engine.close());
  return engine;
}

async function registered(engine: Engine, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const card = {
      name: `worker ${n}`,
      description: "",
      version: "1",
      capabilities: [],
      tools: [],
    };
    const register = { type: "agent.register", ttlMs: 0, card: { ...card, metadata: {} } } as const;
    await vi.waitFor(() => engine.execute(register, LIBRARY));
  }
}

interface Follower {
  readonly engine: Engine;
  readonly store: Store;
  readonly warnings: readonly string[];
}

async function follower(shared: MemoryMedium, path: string): Promise<Follower> {
  const warnings: string[] = [];
  const store = mirroredStore({
    store: memoryStore({ medium: shared }),
    path,
    onWarning: (message) => void warnings.push(message),
  });
  const retention = { snapshotEveryEvents: 10 };
  const engine = await Engine.open({ log: store.log, node: "f", mayLead: false, retention });
  onTestFinished(async () => {
    await engine.close();
    await store.close();
  });
  return { engine, store, warnings };
}

async function closed({ engine, store }: Follower): Promise<void> {
  await engine.close();
  await store.close();
}

/** Once it has seen all, how many agents it knows. */
async function agents(engine: Engine, head: number): Promise<number> {
  await vi.waitFor(() => expect(engine.head).toBeGreaterThanOrEqual(head));
  return engine.peek((state) => state.agents.byId.size);
}

test("a follower keeps snapshots, and starts from the newest of them", async () => {
  const shared = medium();
  const leading = await leader(shared);
  const path = join(folder(), "mirror.db");
  const first = await follower(shared, path);
  await registered(leading, 30);
  await agents(first.engine, leading.head);
  const kept = () => first.store.log.mirror?.newest();
  await vi.waitFor(async () => expect((await kept())?.sequence).toBeGreaterThan(10));
  await closed(first);
  await registered(leading, 5);
  const again = await follower(shared, path);
  expect(await agents(again.engine, leading.head)).toBe(35);
  expect(again.warnings).toEqual([]);
  expect(shared.snapshots.size).toBe(0);
});

test("a kept snapshot that this version cannot read is not missed", async () => {
  const shared = medium();
  const leading = await leader(shared);
  const path = join(folder(), "mirror.db");
  const first = await follower(shared, path);
  await registered(leading, 30);
  await agents(first.engine, leading.head);
  await vi.waitFor(async () => expect(await first.store.log.mirror?.newest()).toBeDefined());
  await closed(first);
  const file = sqliteStore({ path });
  const { head } = await file.log.open();
  await file.log.saveSnapshot({ sequence: head, chunks: [NEWER] });
  await file.close();
  const again = await follower(shared, path);
  expect(await agents(again.engine, leading.head)).toBe(30);
  expect(again.warnings).toEqual([expect.stringContaining("is made anew")]);
});

test("a follower whose mirror takes no snapshots tries no more often than others", async () => {
  for (const outcome of [() => false, () => Promise.reject(new Error("no room"))]) {
    const { log } = memoryStore();
    const replica = await load(log, rules);
    const keep = vi.fn<LogMirror["keep"]>(async () => outcome());
    const mirror = { keep, newest: async () => undefined, discard: async () => undefined };
    const kept = new KeptSnapshots({ mirror, everyEvents: 10, onTrouble: () => undefined });
    for (let batch = 1; batch <= 100; batch += 1) {
      kept.applied({ ...replica, head: batch });
      await quiet();
    }
    expect(keep).toHaveBeenCalledTimes(10);
  }
});
