/** A file of many events, and how long it takes to move all of it to Postgres and compare both. */
import { LIBRARY } from "../../src/core/by.ts";
import { moveCopy } from "../../src/engine/copies.ts";
import { Engine } from "../../src/engine/engine.ts";
import { fillPostgres } from "../../src/log/postgres/store.ts";
import type { Store } from "../../src/log/store.ts";
import { CARD } from "./commands.ts";

const LEASES = 1_000;
/** As a busy daemon appends. */
const BATCH = 512;

/** Real events: leases that come and go. There is no snapshot: all of them are replayed. */
export async function fillWithEvents({ log }: Store, count: number): Promise<void> {
  const engine = await Engine.open({ log });
  const register = { type: "agent.register", card: CARD, ttlMs: 0 } as const;
  const { agentId } = await engine.execute(register, LIBRARY);
  const [from, turns] = [engine.head, Array.from({ length: LEASES }, (_, n) => `a/lease/${n}`)];
  const held = turns.map(async (taskId) => {
    const acquire = { type: "lease.acquire", taskId, agentId, ttlMs: 0 } as const;
    const { token } = (await engine.execute(acquire, LIBRARY)).lease;
    await engine.execute({ type: "lease.release", taskId, agentId, token }, LIBRARY);
  });
  await Promise.all(held);
  const events: string[] = [];
  for await (const { entries } of log.read(from)) events.push(...entries);
  await engine.close();
  let at = await log.open();
  for (let n = 0; at.head < count; n += 1) {
    const first = (n * BATCH) % (events.length - BATCH);
    const entries = events.slice(first, first + BATCH);
    at = { ...at, ...(await log.append({ entries }, at, { id: `fill.${n}` })) };
  }
}

/** In seconds: copied, read back, and both states compared, as `rollcall migrate` does. */
export async function moveSeconds(from: Store, url: string): Promise<number> {
  const filling = fillPostgres({ url });
  const startedMs = performance.now();
  await moveCopy({ from, to: filling.store });
  await filling.commit();
  return (performance.now() - startedMs) / 1000;
}
