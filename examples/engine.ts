/** The engine as a library: two agents, one task, and everybody who watches sees the same. */
import assert from "node:assert/strict";
// #region use
import { Engine, LIBRARY, memoryStore } from "rollcall";

const engine = await Engine.open({ log: memoryStore().log });
const events = engine.watch({ prefixes: ["lease."] });

const [one, two] = await Promise.all([join("scraper-1"), join("scraper-2")]);
const won = await acquire(one.agentId);
const lost = await acquire(two.agentId);
console.log(won.acquired, lost.acquired, lost.lease.holder === one.agentId); // true false true

// The agent goes, and what it held is free in the same step of the log.
await engine.execute({ type: "agent.deregister", agentId: one.agentId }, LIBRARY);
console.log((await acquire(two.agentId)).lease.token); // 2: tokens only ever grow

function join(name: string) {
  const card = {
    name,
    description: "Fetches and parses web pages",
    version: "1.0.0",
    capabilities: [],
    tools: ["browser"],
    metadata: {},
  };
  return engine.execute({ type: "agent.register", card, ttlMs: 30_000 }, LIBRARY);
}

function acquire(agentId: string) {
  return engine.execute(
    {
      type: "lease.acquire",
      taskId: "task:invoice-42",
      agentId,
      ttlMs: 60_000,
    },
    LIBRARY,
  );
}
// #endregion

const seen: string[] = [];
for await (const item of events) {
  if (item.kind === "event") seen.push(item.recorded.event.type);
  if (seen.length === 3) break;
}
assert.deepEqual(seen, ["lease.acquired", "lease.released", "lease.acquired"]);
await engine.close();
