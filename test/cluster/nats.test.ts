/** Three members on three NATS servers. `npm run faults -- --store nats` goes on for longer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { NO_TOKEN } from "../../src/wires/arcp/codec/messages.ts";
import { hurt } from "./faults.ts";
import { TestCluster, type MemberProcess } from "./members.ts";
import { testPeers } from "./peers.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

describe.skipIf(lacks("nats"))("three members on NATS", () => {
  let cluster: TestCluster;
  let follower: MemberProcess;

  beforeAll(async () => {
    cluster = await TestCluster.start("nats");
  });

  // Another one after each test that killed the leader.
  beforeEach(async () => {
    follower = await cluster.follower();
  });

  afterAll(() => cluster.close());

  testPeers(() => cluster, { isWhole: false });

  test("a member that does not lead takes a command, and sees at once what it did", async () => {
    const answer = await fetch(`${follower.url}/v1/agents/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ card: { name: "one" } }),
    });
    expect(answer.status).toBe(200);
    const { agent } = (await answer.json()) as { agent: { agentId: string } };
    const list = await (await fetch(`${follower.url}/v1/agents`)).text();
    expect(list).toContain(agent.agentId);
  });

  test("and a job, whose stream is written in the same batch as its events", async () => {
    const url = `${follower.url.replace("http", "ws")}/arcp`;
    await using client = await ArcpClient.connect(url, { token: NO_TOKEN });
    const job = await client.submit({ agent: "echo", input: { hi: 1 } });
    expect((await job.done).result).toEqual({ echoed: { hi: 1 } });
  });

  test("through kills and stops of members and a kill of a server nothing is lost", async () => {
    const one = ["kill leader", "stop leader"] as const;
    const faults = [...one, "kill store", ...one, "step down", "kill leader"] as const;
    const { problems, acknowledged, jobs, rounds } = await hurt(cluster, faults);
    expect(problems).toEqual([]);
    expect(acknowledged).toBeGreaterThan(50);
    expect(jobs).toBeGreaterThan(2);
    for (const { silentMs } of rounds) expect(silentMs).toBeLessThan(30_000);
  });
});
