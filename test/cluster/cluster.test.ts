/** Three members on a real Postgres, as processes. `npm run faults` goes on for longer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { decode, type Event } from "../../src/core/events.ts";
import { postgresMoment } from "../../src/log/postgres/store.ts";
import { systemClock } from "../../src/machine/clock.ts";
import { callUnary } from "../../src/net/grpc/client.ts";
import { GrpcChannel } from "../../src/net/grpc/client-channel.ts";
import type { JobHandle } from "../../src/wires/arcp/client/job.ts";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { NO_TOKEN } from "../../src/wires/arcp/codec/messages.ts";
import {
  LeaseService,
  RegistryService,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { hurt } from "./faults.ts";
import { TestCluster, type MemberProcess } from "./members.ts";
import { testPeers } from "./peers.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

describe.skipIf(lacks("postgres"))("three members on one Postgres", () => {
  let cluster: TestCluster;
  let follower: MemberProcess;

  beforeAll(async () => {
    cluster = await TestCluster.start("postgres");
  });

  // Another one after each test that killed the leader.
  beforeEach(async () => {
    follower = await cluster.follower();
  });

  afterAll(() => cluster.close());

  testPeers(() => cluster, { isWhole: true });

  function arcpOf({ url }: MemberProcess): string {
    return `${url.replace("http", "ws")}/arcp`;
  }

  /** The lines that a job logs, as they come. */
  function heard(job: JobHandle): string[] {
    const lines: string[] = [];
    const listen = async () => {
      for await (const event of job.events()) {
        if (event.kind === "log") lines.push(event.body.message);
      }
    };
    void listen();
    return lines;
  }

  /** Of the log itself. */
  async function events(): Promise<readonly Event[]> {
    const { flags } = cluster.store;
    const store = postgresMoment({ url: flags[flags.indexOf("--log") + 1] ?? "" });
    const { oldest } = await store.log.open();
    const found: Event[] = [];
    for await (const { first, entries } of store.log.read(oldest - 1)) {
      found.push(...entries.map((text, n) => decode(text, first + n).event));
    }
    await store.close();
    return found;
  }

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

  test("a job that may begin again goes on at the next leader; each ends once", async () => {
    const leader = await cluster.leader();
    const [near, far] = cluster.members.filter((member) => member !== leader);
    if (!near || !far) throw new Error("three members were started");
    await using client = await ArcpClient.connect(arcpOf(near), { token: NO_TOKEN });
    const steady = await client.submit({ agent: "steady", input: { ms: 3000 } });
    const fragile = await client.submit({ agent: "echo", input: { ms: 600_000 } });
    const [before, during] = [heard(steady), heard(fragile)];
    await vi.waitFor(() => expect([...before, ...during]).toEqual(["here", "here"]), 30_000);
    await leader.end();
    // The client resumes its session where it was, and gets the frames of the new leader.
    expect((await steady.ended).result).toEqual({ echoed: { ms: 3000 } });
    // ARCP has no code for UNAVAILABLE; the log has.
    const { error } = await fragile.ended;
    expect(error).toMatchObject({ code: "INTERNAL_ERROR", message: `${leader.node} is gone` });
    expect(before).toEqual(["here", "here"]);

    // Another client goes on with the session at another member, with what it has not seen.
    const again = await client.submit({ agent: "steady", input: { ms: 2000 } });
    const resume = client.resumption;
    if (!resume) throw new Error("the session can be resumed");
    await near.end();
    // While nobody leads a new connection is refused with 1013: try again.
    await cluster.leader();
    await using next = await ArcpClient.connect(arcpOf(far), { token: NO_TOKEN, resume });
    expect((await next.job(again.id).ended).result).toEqual({ echoed: { ms: 2000 } });
    for (const member of [leader, near]) await member.start();
    await cluster.settled();

    const endings = new Map<string, number>();
    const restarts = new Map<string, string>();
    for (const event of await events()) {
      if (event.type === "job.moved") restarts.set(event.job.id, event.from);
      if (event.type !== "job.ended") continue;
      if (event.job.id === fragile.id) expect(event.job.code).toBe("UNAVAILABLE");
      endings.set(event.job.id, (endings.get(event.job.id) ?? 0) + 1);
    }
    for (const { id } of [steady, fragile, again]) expect(endings.get(id)).toBe(1);
    expect(restarts.get(steady.id)).toBe(leader.node);
    expect(restarts.has(fragile.id)).toBe(false);
  });

  test("through kills and stops nothing is lost, done twice, or seen out of order", async () => {
    const one = ["kill leader", "stop leader"] as const;
    const faults = [...one, "step down", ...one, "kill leader"] as const;
    const { problems, acknowledged, jobs, rounds } = await hurt(cluster, faults);
    expect(problems).toEqual([]);
    expect(acknowledged).toBeGreaterThan(50);
    expect(jobs).toBeGreaterThan(2);
    for (const { silentMs } of rounds) expect(silentMs).toBeLessThan(20_000);
  });
});
