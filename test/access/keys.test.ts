/**
 * Keys of agents, as our own clients send them: an agent of one is its own, also before others that
 * present the same token.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startEmbedded, type Embedded } from "../../src/embedded.ts";
import { connect as connectHttp } from "../../src/wires/api/client/client.ts";
import { connect } from "../../src/wires/keeper/client/keeper.ts";
import {
  LeaseService,
  RegistryService,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { Person } from "./person.ts";

let daemon: Embedded;
let ann: Person;
let bob: Person;

beforeAll(async () => {
  daemon = await startEmbedded();
  ann = await Person.with(daemon, "ann", "agent");
  bob = await Person.with(daemon, "bob", "agent");
});

afterAll(async () => {
  for (const person of [ann, bob]) await person[Symbol.asyncDispose]();
  await daemon.close();
});

const BOUND = { code: 7, details: expect.stringContaining("is bound to its key") as string };

test("an agent of the TypeScript client acts, and nobody else acts for it", async () => {
  await using keeper = connect({ address: daemon.grpcAddress, socket: false, token: ann.token });
  await using agent = await keeper.register({ name: "worker" });
  const lease = await agent.acquireLease("deploy");
  const release = {
    taskId: "deploy",
    agentId: agent.id,
    token: { value: BigInt(lease?.token ?? 0) },
  };
  for (const person of [ann, bob]) {
    const { releaseLease } = LeaseService.method;
    await expect(person.call(releaseLease, release)).rejects.toMatchObject(BOUND);
    const { deregister } = RegistryService.method;
    await expect(person.call(deregister, { agentId: agent.id })).rejects.toMatchObject(BOUND);
    const { status } = await person.post("/v1/elections/campaign", {
      group: "g",
      agentId: agent.id,
    });
    expect(status).toBe(403);
  }
  await using campaign = await agent.campaign("g");
  expect(campaign.isLeader).toBe(true);
  await keeper.tasks.create({ type: "t" });
  const claim = await keeper.tasks.claim(agent.id);
  await keeper.tasks.complete(claim);
  await lease?.release();
  const { id } = agent;
  await agent.close();
  expect((await keeper.getAgent(id)).status).toBe("dead");
});

test("a command of a program that was given the key acts for its agent", async () => {
  await using keeper = connect({ address: daemon.grpcAddress, socket: false, token: ann.token });
  await using agent = await keeper.register({ name: "parent" });
  await agent.acquireLease("own");
  const acquire = async (agentKey: string | undefined) => {
    await using child = connectHttp({ url: daemon.url, socket: false, token: ann.token, agentKey });
    return await child.post("/v1/leases/acquire", { taskId: "other", agentId: agent.id });
  };
  await expect(acquire(undefined)).rejects.toThrow(/is bound to its key/);
  await expect(acquire("rollcall_agent_wrong")).rejects.toThrow(/the key is not that of agent/);
  expect(await acquire(agent.key)).toMatchObject({ acquired: true });
});

test("an agent of MCP is its connection's alone", async () => {
  const own = await ann.mcp();
  const acquire = (agent_id?: string) => ({
    name: "acquire_lease",
    arguments: { task_id: "mcp", ...(agent_id !== undefined && { agent_id }) },
  });
  const { structuredContent } = await own.callTool(acquire());
  const { holder } = (structuredContent as { lease: { holder: string } }).lease;
  for (const person of [ann, bob]) {
    const other = await (await person.mcp()).callTool(acquire(holder));
    expect(JSON.stringify(other)).toMatch(/PERMISSION_DENIED.*is bound to its key/);
  }
  expect(await own.callTool(acquire(holder))).toMatchObject({
    structuredContent: { acquired: true },
  });
});

const MESSAGE = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  "mcp-protocol-version": "2025-06-18",
};

const INITIALIZE = {
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "a test", version: "1" },
  },
};

/** Sends messages of ann's to a place of the daemon, with a key or without. */
function sender(place: string, session: Readonly<Record<string, string>> = {}) {
  return (message: object, key?: string) =>
    fetch(daemon.url + place, {
      method: "POST",
      headers: {
        ...MESSAGE,
        ...session,
        authorization: `Bearer ${ann.token}`,
        ...(key !== undefined && { "rollcall-agent-key": key }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
}

async function registered() {
  const { body } = await ann.post("/v1/agents/register", { card: { name: "keyed" } });
  return {
    id: (body["agent"] as { readonly agentId: string }).agentId,
    key: String(body["agentKey"]),
  };
}

function acquireAs(agent_id: string) {
  const params = { name: "acquire_lease", arguments: { task_id: `of-${agent_id}`, agent_id } };
  return { method: "tools/call", params };
}

test("a wrong key is refused with any request of an MCP session, also a later one", async () => {
  const agent = await registered();
  const begin = async (key?: string) => {
    const { headers } = await sender("/mcp")(INITIALIZE, key);
    return sender("/mcp", { "mcp-session-id": headers.get("mcp-session-id") ?? "" });
  };
  const plain = await begin();
  const refused = await plain(acquireAs(agent.id), "rollcall_agent_wrong");
  expect([refused.status, await refused.text()]).toEqual([
    403,
    expect.stringContaining("rollcall-agent-key is not the one that this session began with"),
  ]);
  expect((await ann.get("/v1/leases")).text).not.toContain(`of-${agent.id}`);
  const keyed = await begin(agent.key);
  expect((await keyed(acquireAs(agent.id), "rollcall_agent_wrong")).status).toBe(403);
  for (const key of [agent.key, undefined]) {
    expect(await (await keyed(acquireAs(agent.id), key)).text()).toContain('"acquired":true');
  }
});

test("a wrong key is refused with a message of an MCP connection, too", async () => {
  const agent = await registered();
  const stream = await ann.stream("/mcp/sse");
  await vi.waitFor(() => expect(stream.heard).toContain("session_id"));
  const send = sender(/data: (\S+)/.exec(stream.heard)?.[1] ?? "");
  expect((await send(INITIALIZE)).status).toBe(202);
  expect((await send(acquireAs(agent.id), "rollcall_agent_wrong")).status).toBe(403);
  expect((await send({ ...acquireAs(agent.id), id: 2 })).status).toBe(202);
  await vi.waitFor(() => expect(stream.heard).toContain('"acquired":true'));
});
