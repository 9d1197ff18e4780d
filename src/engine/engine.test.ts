import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { AgentCard } from "../core/agents.ts";
import { memoryStore, MemoryMedium } from "../log/memory.ts";
import { Engine } from "./engine.ts";
import { InProcessForwarder } from "./forward.ts";

const card: AgentCard = {
  name: "scraper-1",
  description: "",
  version: "1",
  capabilities: [],
  tools: [],
  metadata: {},
};

function options(node = "solo") {
  return { node, newId: () => randomUUID().replaceAll("-", ""), random: () => 0.5 };
}

test("a command is answered, and what came of it can be read and watched", async () => {
  const engine = await Engine.open({ ...options(), log: memoryStore().log });
  const watch = engine.watch({ from: 0 });
  const agent = await engine.execute({ type: "agent.register", card, ttlMs: 0 });
  const got = await engine.execute({
    type: "lease.acquire",
    taskId: "t",
    agentId: agent.agentId,
    ttlMs: 0,
  });
  expect(got.acquired).toBe(true);
  expect(await engine.read((s) => s.agents.byId.get(agent.agentId)?.agent)).toEqual(agent);
  const topics: string[] = [];
  for await (const item of watch) {
    topics.push(item.kind === "event" ? item.recorded.event.type : item.kind);
    if (topics.length === 4) break;
  }
  expect(topics).toEqual(["node.leading", "agent.registered", "lease.acquired", "bookmark"]);
  await engine.close();
});

test("a follower forwards commands to the leader and applies what it writes", async () => {
  const medium = new MemoryMedium();
  const forwarder = new InProcessForwarder();
  const nodes = [];
  for (const name of ["a", "b"]) {
    const engine = await Engine.open({
      ...options(name),
      log: memoryStore({ medium }).log,
      forwarder,
    });
    forwarder.nodes.set(name, engine);
    nodes.push(engine);
    while (nodes[0]?.mode !== "leading") await new Promise((r) => setImmediate(r));
  }
  const [a, b] = nodes;
  expect(a?.mode).toBe("leading");
  expect(b?.mode).toBe("following");
  const agent = await b?.execute({ type: "agent.register", card, ttlMs: 0 });
  const seen = await b?.read((s) => s.agents.byId.get(agent?.agentId ?? "")?.agent);
  expect(seen).toEqual(agent);
  await a?.close();
  await b?.close();
});
