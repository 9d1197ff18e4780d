/** Two principals at the real doors of one daemon: every event says which of them it came of. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCallers, type Callers, type TestCaller } from "../../test/support/daemon/callers.ts";
import { cardOf } from "../../test/support/directory/fixture.ts";
import { ArcpClient } from "../wires/arcp/client/client.ts";
import {
  EntitlementsService,
  LeaseService,
  RegistryService,
  TaskService,
} from "../wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";

let callers: Callers;
let local: TestCaller;
let ann: TestCaller;
let bob: TestCaller;

beforeAll(async () => {
  callers = await openCallers();
  local = callers.local;
  ann = await callers.token("ann", "agent");
  bob = await callers.token("bob", "agent");
});

afterAll(() => callers[Symbol.asyncDispose]());

async function callersOf(...topics: readonly string[]): Promise<readonly string[]> {
  const events = await local.events(...topics);
  return events.map(({ by }) => (by ? `${by.principal} ${by.wire} ${by.peer}` : "nobody"));
}

describe("every event says its caller", () => {
  test("over HTTP and gRPC", async () => {
    await ann.http("/v1/agents/register", { card: { name: "one" } });
    await bob.grpc(RegistryService.method.register, { card: { name: "two" } });
    await local.http("/v1/agents/register", { card: { name: "three" } });
    expect(await callersOf("agent.registered")).toEqual([
      "token:ann http 127.0.0.1",
      "token:bob grpc 127.0.0.1",
      "local http 127.0.0.1",
    ]);
    const { body } = await local.http("/v1/agents");
    expect(body["agents"]).toMatchObject([{ owner: "token:ann" }, { owner: "token:bob" }, {}]);
  });

  test("over MCP", async () => {
    await bob.mcp("create_task", { type: "ocr", input: "scan" });
    await ann.grpc(TaskService.method.createTask, { type: "ocr" });
    expect(await callersOf("task.created")).toEqual([
      "token:bob mcp 127.0.0.1",
      "token:ann grpc 127.0.0.1",
    ]);
  });

  test("over A2A, the daemon's own fetch of the card included", async () => {
    const agent_card = cardOf(callers.daemon.url);
    await ann.http("/.well-known/agents/heartbeat", { agent_card });
    expect(await callersOf("directory.")).toEqual(["token:ann a2a 127.0.0.1", "local directory "]);
  });

  test("over ARCP, by the token of the hello", async () => {
    const url = `${callers.daemon.url.replace("http", "ws")}/arcp`;
    await using client = await ArcpClient.connect(url, { token: bob.secret ?? "" });
    expect(client.session.runtime.name).toBe("rollcall");
    expect(await callersOf("session.opened")).toEqual(["token:bob arcp 127.0.0.1"]);
  });

  test("and nobody where the daemon acts of its own accord", async () => {
    expect(await callersOf("node.leading")).toEqual(["nobody"]);
  });
});

describe("an agent is its registrant's", () => {
  const { register, deregister, heartbeat } = RegistryService.method;
  const { acquireLease, releaseLease } = LeaseService.method;
  const DENIED = { code: "PERMISSION_DENIED" };

  test("others can neither let it go nor act for it, on any door; an operator can", async () => {
    const { message } = await ann.grpc(register, { card: { name: "mine" } });
    const { agentId } = message;
    const { message: held } = await ann.grpc(acquireLease, { taskId: "deploy", agentId });
    const token = { value: held.lease?.token?.value ?? 0n };
    expect(token.value).toBeGreaterThan(0n);
    await expect(bob.grpc(deregister, { agentId })).rejects.toMatchObject(DENIED);
    await expect(bob.grpc(heartbeat, { agentId })).rejects.toMatchObject(DENIED);
    const release = bob.grpc(releaseLease, { taskId: "deploy", agentId, token });
    await expect(release).rejects.toMatchObject(DENIED);
    expect((await bob.http("/v1/agents/deregister", { agentId })).status).toBe(403);
    const acquire = { task_id: "other", agent_id: agentId };
    expect(await bob.mcp("acquire_lease", acquire)).toMatchObject({ isError: true });
    const operator = await callers.token("op", "operator");
    expect((await operator.http("/v1/agents/deregister", { agentId })).status).toBe(200);
  });

  test("every door tells a lease's token to its principal and operators alone", async () => {
    const viewer = await callers.token("looker", "viewer");
    const { message } = await ann.grpc(register, { card: { name: "holder" } });
    await ann.grpc(acquireLease, { taskId: "secret", agentId: message.agentId });
    const { message: other } = await bob.grpc(register, { card: { name: "other" } });
    const { agentId } = other;
    const { message: asked } = await bob.grpc(acquireLease, { taskId: "secret", agentId });
    expect(asked).toMatchObject({ acquired: false, lease: { token: { value: 0n } } });
    const told = await bob.mcp("acquire_lease", { task_id: "secret", agent_id: agentId });
    expect(told).toMatchObject({ structuredContent: { acquired: false, lease: { token: 0 } } });
    const seen = async (caller: TestCaller) => {
      const { body } = await caller.http("/v1/leases/secret");
      const [event] = (await caller.events("lease.acquired")).slice(-1);
      return [body["lease"], event?.["lease"]] as unknown;
    };
    const hidden = { taskId: "secret", token: 0 };
    const open = { taskId: "secret", token: expect.toSatisfy((token) => token > 0) as number };
    expect(await seen(viewer)).toMatchObject([hidden, hidden]);
    expect(await seen(ann)).toMatchObject([open, open]);
    expect(await seen(local)).toMatchObject([open, open]);
  });

  test("its key, told when it registered, binds it once it was used", async () => {
    const { message, header } = await ann.grpc(register, { card: { name: "keyed" } });
    const { agentId } = message;
    const key = { "rollcall-agent-key": header("rollcall-agent-key") ?? "" };
    expect(key["rollcall-agent-key"]).toMatch(/^rollcall_agent_[\w-]{43}$/);
    await ann.grpc(heartbeat, { agentId });
    await ann.grpc(heartbeat, { agentId }, key);
    await expect(ann.grpc(heartbeat, { agentId })).rejects.toThrow("is bound to its key");
    const wrong = { "rollcall-agent-key": "rollcall_agent_wrong" };
    await expect(local.grpc(heartbeat, { agentId }, wrong)).rejects.toMatchObject(DENIED);
    await ann.grpc(deregister, { agentId }, key);
    const { body } = await ann.http("/v1/agents/register", { card: { name: "over http" } });
    expect(body["agentKey"]).toMatch(/^rollcall_agent_/);
    const events = JSON.stringify(await local.events("agent."));
    expect(events).toContain('"type":"agent.bound"');
    expect(events).not.toContain("rollcall_agent_");
  });
});

describe("the audit", () => {
  interface Entry {
    readonly by: { readonly principal: string; readonly wire: string };
    readonly action: string;
    readonly target: string;
    readonly reason: string;
    readonly outcome: string;
    readonly count: number;
  }

  async function audited(query: string): Promise<readonly Entry[]> {
    const { body } = await local.http(`/v1/audit?${query}`);
    return body["entries"] as readonly Entry[];
  }

  test("has what was denied, by the minute, and who asked on which wire", async () => {
    const eve = await callers.token("eve", "agent");
    const policy = { id: "evil", subject: "*", action: "*", resource: "*", effect: "allow" };
    for (let i = 0; i < 20; i += 1) await eve.http("/v1/policies/set", policy);
    await expect(eve.grpc(EntitlementsService.method.deletePolicy, { id: "x" })).rejects.toThrow(
      "may not",
    );
    // Two where a second went by between.
    const denied = await audited("by=token:eve&action=policy.set");
    expect(denied[0]).toMatchObject({ outcome: "denied", by: { wire: "http" } });
    expect(denied.reduce((sum, { count }) => sum + count, 0)).toBe(20);
    expect(await audited("by=token:eve&action=policy.delete")).toMatchObject([
      { outcome: "denied", by: { wire: "grpc", peer: "127.0.0.1" } },
    ]);
  });

  test("has tokens that were made and revoked, and callers that were not let in", async () => {
    const { secret = "" } = await callers.token("brief", "viewer");
    await local.http("/v1/tokens/revoke", { name: "brief" });
    const refused = await fetch(`${callers.daemon.url}/v1/agents`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(refused.status).toBe(401);
    const made = await audited("by=local&action=token.");
    expect(made.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["token.create", "token.revoke"]),
    );
    const strangers = await audited("by=nobody");
    expect(strangers).toMatchObject([
      { action: "authenticate", outcome: "denied", by: { wire: "http", peer: "127.0.0.1" } },
    ]);
    expect(JSON.stringify([made, strangers])).not.toContain("rollcall_");
  });

  test("has hellos that were refused, and calls that presented nothing", async () => {
    const { secret: viewer = "" } = await callers.token("gazer", "viewer");
    const url = `${callers.daemon.url.replace("http", "ws")}/arcp`;
    for (const [token, why] of [
      [viewer, "token:gazer (viewer) may not job.submit"],
      ["wrong", "the token is not known"],
    ] as const) {
      await expect(ArcpClient.connect(url, { token, reconnect: false })).rejects.toThrow(why);
    }
    const forwarded = await fetch(`${callers.daemon.url}/v1/agents`, { headers: { via: "1.1 p" } });
    expect(forwarded.status).toBe(403);
    expect(await audited("by=token:gazer")).toMatchObject([
      { action: "job.submit", outcome: "denied", by: { wire: "arcp" } },
    ]);
    const reasons = (await audited("by=nobody")).map(({ by, reason }) => `${by.wire}: ${reason}`);
    expect(reasons).toEqual(
      expect.arrayContaining([
        "arcp: the token is not known",
        expect.stringContaining("http: the call has the header via"),
      ]),
    );
  });

  test("has what an operator says over another's report, and its heartbeat once", async () => {
    const card = { name: "beaten" };
    const { message } = await ann.grpc(RegistryService.method.register, { card });
    const { agentId } = message;
    const facts = { liveness: { value: "alive" } };
    const report = { alias: "script:squat", agentId: "squat", facts };
    await ann.http("/v1/fleet/reports", { ...report, order: 1 });
    const operator = await callers.token("helper", "operator");
    for (let i = 0; i < 3; i += 1) {
      await operator.http("/v1/fleet/reports", { ...report, order: 1_000 + i });
      await operator.grpc(RegistryService.method.heartbeat, { agentId });
    }
    const targets = (await audited("by=token:helper")).map(({ target }) => target);
    expect(targets.toSorted()).toEqual([`agent:${agentId}`, "report:script:squat"]);
  });

  test("is for operators alone, and says how far back it reaches", async () => {
    expect((await ann.http("/v1/audit")).status).toBe(403);
    const viewer = await callers.token("onlooker", "viewer");
    expect((await viewer.http("/v1/audit")).status).toBe(403);
    const operator = await callers.token("auditor", "operator");
    const { status, body } = await operator.http("/v1/audit");
    expect(status).toBe(200);
    expect(body["reachesBackToMs"]).toBeLessThanOrEqual(Date.now());
  });
});
