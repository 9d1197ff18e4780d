import { expect, test } from "vitest";
import { memoryStore, MemoryMedium } from "../log/memory/store.ts";
import { openEngine, register, TestClock } from "../../test/support/engine/fixture.ts";
import { put } from "../../test/support/log/append.ts";
import type { Engine } from "./engine.ts";
import { InProcessForwarder } from "./forward.ts";

/** The log forgets its newest appends, as a standby does that had not heard of them. */
function lose(medium: MemoryMedium, appends: number): void {
  medium.appends.splice(-appends);
  const { last = 0, mark = 0 } = medium.appends.at(-1) ?? {};
  medium.entries.length = last;
  medium.tail.moveTo({ head: last, mark });
}

async function write(engine: Engine, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await register(engine);
}

test("a node that starts notices that the log has lost what it saw, at any length", async () => {
  const medium = new MemoryMedium();
  const store = () => memoryStore({ medium, shared: false });
  const first = await openEngine({ log: store().log });
  await write(first.engine, 5);
  const { known } = first.engine;
  await first.engine.close();
  expect(known).toMatchObject({ logId: medium.logId, head: first.engine.head });

  lose(medium, 2);
  const shorter = openEngine({ log: store().log, known });
  await expect(shorter).rejects.toMatchObject({ code: "DIVERGED" });
  const { engine } = await openEngine({ log: store().log, known, acceptLoss: true });
  await write(engine, 5);
  const current = engine.known;
  await engine.close();
  await expect(openEngine({ log: store().log, known })).rejects.toThrow("has lost entry");
  const again = await openEngine({ log: store().log, known: current });
  await again.engine.close();
});

test("a node refuses another log in the place of its own", async () => {
  const first = await openEngine();
  const { known } = first.engine;
  await first.engine.close();
  const other = openEngine({ log: memoryStore().log, known });
  await expect(other).rejects.toMatchObject({ code: "DIVERGED" });
  await expect(other).rejects.toThrow(known.logId);
});

test("nodes on a log that lost entries count it, and go on with what is left", async () => {
  const medium = new MemoryMedium();
  const clock = new TestClock();
  const forwarder = new InProcessForwarder();
  const nodes = await Promise.all(
    ["a", "b"].map((node) =>
      openEngine({ node, clock, forwarder, log: memoryStore({ medium }).log }),
    ),
  );
  for (const { engine } of nodes) forwarder.nodes.set(engine.node, engine);
  await clock.advance(10_000);
  const leader = nodes.find(({ engine }) => engine.mode === "leading");
  const follower = nodes.find(({ engine }) => engine.mode === "following");
  if (!leader || !follower) throw new Error("one leads and one follows");
  await write(leader.engine, 4);
  await clock.advance(100);
  const seen = follower.engine.head;
  lose(medium, 2);
  // Another writer goes on, past the entries that were lost.
  const { log } = memoryStore({ medium });
  const { head } = await log.open();
  const deleted = `${clock.wallMs()} {"type":"policy.deleted","id":"x"}`;
  await put(log, { entries: Array.from({ length: 4 }, () => deleted) }, head);
  await clock.advance(10_000);
  for (const { engine, troubles } of nodes) {
    expect(engine.stats.divergences).toBe(1);
    expect(troubles).toContain("the log has lost what was acknowledged");
    expect(engine.head).toBeGreaterThan(seen);
    const agents = await engine.read((state) => state.agents.byId.size);
    expect(agents).toBe(2);
  }
  for (const { engine } of nodes) await engine.close();
});
