/** Writes the log of a daemon that holds many agents, leases and tasks. */
import { join } from "node:path";
import { LIBRARY } from "../../src/core/by.ts";
import { DAY } from "../../src/core/units.ts";
import { Engine } from "../../src/engine/engine.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";

const AT_ONCE = 1_000;

/** Ids of one agent, lease and task in the middle of them. */
export interface Samples {
  readonly agentId: string;
  readonly leaseKey: string;
  readonly taskId: string;
}

/** So many of each; every tenth agent holds all the leases. */
export async function fill(folder: string, count: number): Promise<Samples> {
  const store = sqliteStore({ path: join(folder, "rollcall.db") });
  const engine = await Engine.open({ log: store.log });
  const agentIds: string[] = [];
  const taskIds: string[] = [];
  await inGroups(count, async (i) => {
    const card = {
      name: `agent-${i}`,
      description: "Fetches and parses web pages",
      version: "1.0.0",
      capabilities: [],
      tools: ["browser", "http_client"],
      metadata: { workspace: `/src/project-${i % 100}` },
    };
    const made = await engine.execute({ type: "agent.register", card, ttlMs: DAY }, LIBRARY);
    agentIds.push(made.agentId);
  });
  await inGroups(count, async (i) => {
    const agentId = agentIds[i - (i % 10)] ?? "";
    const lease = { taskId: `key-${i}`, agentId, ttlMs: DAY };
    await engine.execute({ type: "lease.acquire", ...lease }, LIBRARY);
  });
  await inGroups(count, async (i) => {
    const made = await engine.execute(
      {
        type: "task.create",
        taskType: `type-${i % 10}`,
        input: "",
        requiredTools: ["none"],
        maxRetries: 0,
        ttlMs: 0,
      },
      LIBRARY,
    );
    taskIds.push(made.id);
  });
  await engine.close();
  await store.close();
  const middle = Math.floor(count / 2);
  return {
    agentId: agentIds[middle] ?? "",
    leaseKey: `key-${middle}`,
    taskId: taskIds[middle] ?? "",
  };
}

async function inGroups(count: number, act: (i: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - from);
    await Promise.all(Array.from({ length: size }, (_, i) => act(from + i)));
  }
}
