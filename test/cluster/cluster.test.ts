/** Three members on a real Postgres, as processes. `npm run faults` goes on for longer. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { systemClock } from "../../src/machine/clock.ts";
import { callUnary } from "../../src/net/grpc/client.ts";
import { GrpcChannel } from "../../src/net/grpc/client-channel.ts";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { NO_TOKEN } from "../../src/wires/arcp/codec/messages.ts";
import {
  LeaseService,
  RegistryService,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { hurt } from "./faults.ts";
import { TestCluster, type MemberProcess } from "./members.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

describe.skipIf(lacks("postgres"))("three members on one Postgres", () => {
  let cluster: TestCluster;
  let follower: MemberProcess;

  beforeAll(async () => {
    cluster = await TestCluster.start();
    follower = await cluster.follower();
  });

  afterAll(() => cluster.close());

  async function http(path: string, body?: object): Promise<Record<string, unknown>> {
    const sent = body && {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const answer = await fetch(follower.url + path, sent);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  }

  test("a member that does not lead answers HTTP, and sees at once what it did", async () => {
    const { agent } = (await http("/v1/agents/register", { card: { name: "one" } })) as {
      agent: { agentId: string };
    };
    const { agents } = (await http("/v1/agents")) as { agents: { agentId: string }[] };
    expect(agents.map(({ agentId }) => agentId)).toContain(agent.agentId);
    await http("/v1/agents/heartbeat", { agentId: agent.agentId });
    const created = await http("/v1/tokens/create", { name: "ci", role: "viewer" });
    const headers = { authorization: `Bearer ${String(created["secret"])}` };
    const who = await fetch(`${follower.url}/v1/whoami`, { headers });
    expect(await who.json()).toMatchObject({ name: "token:ci" });
    expect(await (await fetch(`${follower.url}/readyz`)).text()).toBe("ready, following");
  });

  test("and gRPC, with its refusals", async () => {
    const channel = new GrpcChannel({ address: follower.grpc, timers: systemClock });
    const { register, heartbeat } = RegistryService.method;
    const { message } = await callUnary(channel, register, { message: { card: { name: "two" } } });
    const { agentId } = message;
    await callUnary(channel, heartbeat, { message: { agentId } });
    const lease = { taskId: "key", agentId, ttlSeconds: 60 };
    const held = await callUnary(channel, LeaseService.method.acquireLease, { message: lease });
    expect(held.message.acquired).toBe(true);
    const wrong = { taskId: "key", agentId, token: { value: 99n } };
    await expect(
      callUnary(channel, LeaseService.method.releaseLease, { message: wrong }),
    ).rejects.toMatchObject({ code: "NOT_HOLDER" });
    channel.close();
  });

  test("and A2A", async () => {
    const answer = await fetch(`${follower.url}/.well-known/agents`);
    expect(answer.status).toBe(200);
  });

  test("and ARCP: the job runs on the leader, its frames come by way of this member", async () => {
    const url = `${follower.url.replace("http", "ws")}/arcp`;
    await using client = await ArcpClient.connect(url, { token: NO_TOKEN });
    const job = await client.submit({ agent: "echo", input: { hi: 1 } });
    expect((await job.done).result).toEqual({ echoed: { hi: 1 } });
    const { jobs } = (await http("/v1/jobs")) as { jobs: { node: string }[] };
    expect(jobs[0]?.node).toBe((await cluster.leader()).node);
  });

  test("the members are known to each other, and one that lives cannot be given up", async () => {
    const { members } = (await http("/v1/cluster/members")) as {
      members: { node: string; answers: boolean; isLeader: boolean }[];
    };
    expect(members.map(({ node, answers }) => `${node} ${answers}`)).toEqual([
      "a true",
      "b true",
      "c true",
    ]);
    expect(members.filter(({ isLeader }) => isLeader)).toHaveLength(1);
    const answer = await fetch(`${follower.url}/v1/cluster/leave`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ node: "a" }),
    });
    expect(answer.status).toBe(409);
  });

  test("through kills and a stop nothing is lost, done twice, or seen out of order", async () => {
    const faults = ["kill leader", "step down", "stop leader", "kill leader"] as const;
    const { problems, acknowledged, jobs, rounds } = await hurt(cluster, faults);
    expect(problems).toEqual([]);
    expect(acknowledged).toBeGreaterThan(50);
    expect(jobs).toBeGreaterThan(2);
    for (const { silentMs } of rounds) expect(silentMs).toBeLessThan(20_000);
  });
});
