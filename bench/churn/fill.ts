/** Writes a log as a daemon would that has been at work for a while: agents, then leases. */
import { join } from "node:path";
import { Engine } from "../../src/engine/engine.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { LIBRARY } from "../../src/core/by.ts";

const AT_ONCE = 1000;

export interface Filling {
  /** The data directory of the daemon that will be started on it. */
  readonly folder: string;
  readonly agents: number;
  readonly ttlSeconds: number;
  /** How far the log reaches when it is done. */
  readonly events: number;
}

export interface Filled {
  readonly agentIds: readonly string[];
  /** Leases acquired, and all of them released. */
  readonly granted: number;
}

export async function fill({ folder, agents, ttlSeconds, events }: Filling): Promise<Filled> {
  const store = sqliteStore({ path: join(folder, "rollcall.db") });
  const engine = await Engine.open({ log: store.log });
  const agentIds: string[] = [];
  await inGroups(agents, async (i) => {
    const card = {
      name: `agent-${i}`,
      description: "Fetches and parses web pages",
      version: "1.0.0",
      capabilities: [],
      tools: ["browser", "http_client"],
      metadata: {},
    };
    const ttlMs = ttlSeconds * 1000;
    const { agentId } = await engine.execute({ type: "agent.register", card, ttlMs }, LIBRARY);
    agentIds.push(agentId);
  });
  const granted = Math.max(0, Math.floor((events - agents) / 2));
  await inGroups(granted, async (i) => {
    const about = { taskId: `before:${i}`, agentId: agentIds[i % agents] ?? "" };
    const { lease } = await engine.execute({ type: "lease.acquire", ...about, ttlMs: 0 }, LIBRARY);
    await engine.execute({ type: "lease.release", ...about, token: lease.token }, LIBRARY);
  });
  await engine.close();
  await store.close();
  return { agentIds, granted };
}

async function inGroups(count: number, act: (i: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - from);
    await Promise.all(Array.from({ length: size }, (_, i) => act(from + i)));
  }
}
