import { expect, test } from "vitest";
import type { KeeperWatchItem } from "../../src/wires/keeper/client/events.ts";
import { clientOf, daemonOf, folder, lineTo, portOf } from "./fixture.ts";

function told(item: KeeperWatchItem): string {
  return item.kind === "resync" ? "resync" : `${item.sequence} ${item.topic}`;
}

test("restarts of the daemon and cuts of the line leave no gap and no duplicate", async () => {
  const dataDir = folder();
  let daemon = await daemonOf({ dataDir });
  const port = portOf(daemon.grpcAddress);
  const line = await lineTo(daemon.grpcAddress);
  const keeper = clientOf(line.address, { timeoutMs: 20_000 });
  const seen: string[] = [];
  const watch = keeper.watch({ from: 0 });
  const reading = (async () => {
    for await (const item of watch) {
      seen.push(told(item));
      if (item.kind === "event" && item.topic === "policy.deleted") break;
    }
  })();
  const agent = await keeper.register({ name: "a", ttlMs: 3_600_000 });
  for (let round = 0; round < 2; round += 1) {
    for (let i = 0; i < 20; i += 1) await agent.acquireLease(`${round}:${i}`);
    line.cut();
    await daemon.close();
    daemon = await daemonOf({ dataDir, port });
    for (let i = 0; i < 20; i += 1) await agent.acquireLease(`again ${round}:${i}`);
    line.cut();
  }
  const policy = { id: "p", subject: "s", action: "a", resource: "r", effect: "allow" } as const;
  await keeper.policies.set(policy);
  await keeper.policies.delete("p");
  await reading;

  const log: string[] = [];
  for await (const item of clientOf(daemon.grpcAddress).watch({ from: 0 })) {
    log.push(told(item));
    if (item.kind === "event" && item.topic === "policy.deleted") break;
  }
  expect(seen).toEqual(log);
  expect(seen.length).toBeGreaterThan(80);
}, 30_000);

test("a watch goes on where another one stopped", async () => {
  const daemon = await daemonOf();
  const keeper = clientOf(daemon.grpcAddress);
  await using first = keeper.watch({ topics: ["agent."] });
  await first.ready();
  const agent = await keeper.register({ name: "a" });
  for await (const item of first) {
    if (item.kind !== "event" || item.topic !== "agent.registered") continue;
    expect(item.agent).toMatchObject({ agentId: agent.id, card: { name: "a" }, status: "alive" });
    break;
  }
  await agent.close();
  for await (const item of keeper.watch({ topics: ["agent."], from: first.sequence })) {
    expect(item).toMatchObject({ topic: "agent.died", agent: { agentId: agent.id } });
    break;
  }
});
