/** MCP on a real door: its sessions, its older transport, its bounds, and who is let in. */
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LIBRARY, namedBy } from "../core/by.ts";
import { LOCAL, type Principal } from "../core/principals.ts";
import type { Caller } from "../identity/caller.ts";
import { MCP, MEMBER } from "../wires/mcp/limits.ts";
import { openGround, type TestGround } from "../../test/support/mcp/fixture.ts";
import { McpWire } from "../wires/mcp/wire.ts";
import { ask, openDoor, say, type OpenDoor } from "../../test/support/daemon/fixture.ts";

const SESSIONS = 16;

let ground: TestGround;
let wire: McpWire;
let opened: OpenDoor;
const clients: Client[] = [];

beforeEach(async () => {
  ground = await openGround();
  wire = new McpWire({ ...ground.options, maxSessions: SESSIONS });
  opened = await openDoor({ authenticator: { authenticate: namedCaller } });
  opened.door.mount({ routes: wire.routes() });
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((each) => each.close()));
  await wire.close();
  await opened.door.close(0);
  await ground.close();
  expect(ground.clock.timers).toBe(0);
  expect([...opened.faults, ...ground.faults]).toEqual([]);
});

/** A caller says by a header that it is an agent of a name. */
const WHO = "x-test-caller";

/** The role and the host that such a caller has by now. */
const standings = new Map<string, Partial<Principal>>();

function namedCaller(caller: Caller): Principal {
  const name = caller.header(WHO);
  if (name === undefined) return LOCAL;
  return { ...LOCAL, name, roles: ["agent"], ...standings.get(name) };
}

const JSON_BODY = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
};

const TASK = {
  taskType: "review",
  input: "",
  requiredTools: [],
  maxRetries: 0,
  ttlMs: 0,
} as const;

function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return ask(opened.port, path, {
    method: "POST",
    headers: { ...JSON_BODY, ...headers },
    body: text,
  });
}

function url(path: string): URL {
  return new URL(`http://127.0.0.1:${opened.port}${path}`);
}

async function connected(kind: "session" | "single" | "sse", who?: string): Promise<Client> {
  const mode = kind === "single" ? ({ pin: "2026-07-28" } as const) : "legacy";
  const client = new Client({ name: kind, version: "1" }, { versionNegotiation: { mode } });
  clients.push(client);
  await client.connect(
    kind === "sse"
      ? // oxlint-disable-next-line typescript/no-deprecated -- it is the older one that is tested
        new SSEClientTransport(url("/mcp/sse"))
      : new StreamableHTTPClientTransport(url("/mcp"), {
          requestInit: who === undefined ? {} : { headers: { [WHO]: who } },
        }),
  );
  return client;
}

async function begin(who?: string): Promise<string> {
  const as = who === undefined ? {} : { [WHO]: who };
  const { status, headers } = await post("/mcp", INITIALIZE, as);
  expect(status).toBe(200);
  return String(headers["mcp-session-id"]);
}

test.each(["session", "single", "sse"] as const)(
  "a client on a %s lists, reads and calls",
  async (kind) => {
    const client = await connected(kind);
    expect((await client.listTools()).tools).toHaveLength(14);
    const { contents } = await client.readResource({ uri: "rollcall://fleet" });
    expect(contents).toHaveLength(1);
    const result = await client.callTool({ name: "who_needs_me", arguments: {} });
    expect(result.structuredContent).toEqual({ total: 0, questions: [] });
    expect(client.getServerVersion()).toMatchObject({ name: "rollcall", version: "1.2.3" });
  },
);

test.each(["session", "sse"] as const)("a client on a %s hears what changes", async (kind) => {
  const client = await connected(kind);
  const heard: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(params.uri);
  });
  await client.subscribeResource({ uri: "a2a://agents" });
  await vi.waitFor(async () => {
    ground.directory.put({ url: "http://a", tier: "owner", card: {} });
    await ground.clock.advance(MCP.changeMs);
    expect(heard).toContain("a2a://agents");
  });
});

test("a client without a session listens to a stream of changes", async () => {
  const client = await connected("single");
  const heard: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(params.uri);
  });
  const listening = await client.listen({ resourceSubscriptions: ["a2a://agents"] });
  expect(wire.clients.listeners).toBe(1);
  ground.directory.put({ url: "http://a", tier: "owner", card: {} });
  await ground.clock.advance(MCP.changeMs);
  await vi.waitFor(() => expect(heard).toEqual(["a2a://agents"]));
  await listening.close();
  await vi.waitFor(() => expect(wire.clients.listeners).toBe(0));
  expect(ground.directory.watchers).toBe(0);
});

test("a session ends when its client says so, and its agent with it", async () => {
  const id = await begin();
  const call = { name: "acquire_lease", arguments: { task_id: "k" } };
  const message = { jsonrpc: "2.0", id: 2, method: "tools/call", params: call };
  expect((await post("/mcp", message, { "mcp-session-id": id })).body).toContain("You hold");
  const headers = { "mcp-session-id": id };
  expect(await ask(opened.port, "/mcp", { method: "DELETE", headers })).toMatchObject({
    status: 200,
  });
  expect(wire.clients.sessions).toBe(0);
  await vi.waitFor(() => expect(ground.engine.peek(({ leases }) => leases.byTask.size)).toBe(0));
  expect((await post("/mcp", message, headers)).status).toBe(404);
});

test("a session in which nobody says anything is over; one with a stream is not", async () => {
  const silent = await begin();
  const listening = await begin();
  const host = `Host: 127.0.0.1:${opened.port}`;
  const session = `Accept: text/event-stream\r\nMcp-Session-Id: ${listening}`;
  const raw = say(opened.port, `GET /mcp HTTP/1.1\r\n${host}\r\n${session}\r\n\r\n`);
  await vi.waitFor(() => expect(raw.heard).toContain("200 OK"));
  // In one step: ticking through half an hour takes too long.
  const idle = async () => {
    ground.clock.suspend(MCP.idleMs - 1);
    await ground.clock.advance(1);
  };
  await idle();
  expect(wire.clients.sessions).toBe(1);
  const ping = { jsonrpc: "2.0", id: 3, method: "ping" };
  expect((await post("/mcp", ping, { "mcp-session-id": silent })).status).toBe(404);
  expect((await post("/mcp", ping, { "mcp-session-id": listening })).status).toBe(200);
  raw.socket.destroy();
  await vi.waitFor(async () => {
    await idle();
    expect(wire.clients.sessions).toBe(0);
  });
});

test("unknown and missing sessions are refused as the protocol says", async () => {
  const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
  for (const id of ["nobody", "x".repeat(8_000), "../../etc"]) {
    expect(await post("/mcp", list, { "mcp-session-id": id })).toMatchObject({ status: 404 });
    const headers = { accept: "text/event-stream", "mcp-session-id": id };
    expect(await ask(opened.port, "/mcp", { headers })).toMatchObject({ status: 404 });
  }
  expect(await post("/mcp", list)).toMatchObject({ status: 400 });
  expect(await ask(opened.port, "/mcp")).toMatchObject({ status: 400 });
  expect(await post("/mcp/messages?session_id=nobody", list)).toMatchObject({ status: 404 });
  expect(await post("/mcp/messages", list)).toMatchObject({ status: 404 });
  expect(wire.clients).toEqual({ sessions: 0, connections: 0, listeners: 0 });
});

test.each([
  ["roles", { roles: ["operator"] }, { roles: ["viewer"] }],
  ["hosts", { host: "box" }, { host: "den" }],
] as const)("a session is over for its caller once it has other %s", async (_, first, later) => {
  const create = {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "create_task", arguments: { type: "t", input: "x" } },
  };
  standings.set("token:ci", first);
  const id = await begin("token:ci");
  const head = `Host: 127.0.0.1:${opened.port}\r\n${WHO}: token:ci`;
  const raw = say(opened.port, `GET /mcp/sse HTTP/1.1\r\n${head}\r\n\r\n`);
  await vi.waitFor(() => expect(raw.heard).toMatch(/session_id=\S+\n/));
  const [, endpoint = ""] = /data: (\S+)/.exec(raw.heard) ?? [];
  standings.set("token:ci", later);
  const asked = await post("/mcp", create, { [WHO]: "token:ci", "mcp-session-id": id });
  expect(asked.status).toBe(404);
  expect((await post(endpoint, create, { [WHO]: "token:ci" })).status).toBe(404);
  expect(ground.engine.peek(({ tasks }) => tasks.byId.size)).toBe(0);
  raw.socket.destroy();
});

test("what is no message is refused, and leaves nothing behind", async () => {
  for (const path of ["/mcp", "/mcp/messages?session_id=x"]) {
    expect(await post(path, "{")).toMatchObject({ status: 400 });
    expect((await post(path, "{}", { "content-type": "text/plain" })).status).toBe(415);
    const many = Array.from({ length: MCP.batch + 1 }, () => INITIALIZE);
    expect((await post(path, many)).body).toContain("at most 32 messages");
    expect((await post(path, `"${"x".repeat(1024 * 1024)}"`)).status).toBe(413);
  }
  for (const body of [null, 7, [], {}, { jsonrpc: "2.0", id: 1, method: 7 }, [INITIALIZE, 7]]) {
    expect((await post("/mcp", body)).status).toBeGreaterThanOrEqual(400);
  }
  expect(wire.clients.sessions).toBe(0);
});

test("there are only so many sessions: the one that was idle longest makes room", async () => {
  const first = await begin();
  const second = await begin();
  const ping = { jsonrpc: "2.0", id: 3, method: "ping" };
  expect((await post("/mcp", ping, { "mcp-session-id": first })).status).toBe(200);
  for (let i = wire.clients.sessions; i <= SESSIONS; i += 1) await begin();
  expect(wire.clients.sessions).toBe(SESSIONS);
  expect((await post("/mcp", ping, { "mcp-session-id": second })).status).toBe(404);
  expect((await post("/mcp", ping, { "mcp-session-id": first })).status).toBe(200);
});

test("a session that holds a lease outlasts every initialize and every silence", async () => {
  const id = await begin("token:ann");
  const headers = { "mcp-session-id": id, [WHO]: "token:ann" };
  const call = { name: "acquire_lease", arguments: { task_id: "deploy", ttl_seconds: 7200 } };
  const message = { jsonrpc: "2.0", id: 2, method: "tools/call", params: call };
  expect((await post("/mcp", message, headers)).body).toContain("You hold");
  for (let i = 0; i <= SESSIONS; i += 1) await begin();
  for (let i = 0; i <= SESSIONS; i += 1) await begin("token:ann");
  // In one step: ticking through half an hour takes too long.
  ground.clock.suspend(MCP.idleMs - 1);
  await ground.clock.advance(1);
  expect(ground.engine.peek(({ leases }) => leases.byTask.size)).toBe(1);
  const ping = { jsonrpc: "2.0", id: 3, method: "ping" };
  expect((await post("/mcp", ping, headers)).status).toBe(200);
});

test("the agent of a session that made room lives out its time", async () => {
  const first = await begin();
  const call = { name: "publish_status", arguments: { activity: "idle" } };
  const message = { jsonrpc: "2.0", id: 2, method: "tools/call", params: call };
  await post("/mcp", message, { "mcp-session-id": first });
  for (let i = 0; i < SESSIONS; i += 1) await begin();
  expect((await post("/mcp", message, { "mcp-session-id": first })).status).toBe(404);
  const statuses = () =>
    ground.engine.peek(({ agents }) =>
      Array.from(agents.byId.values(), ({ agent }) => agent.status),
    );
  expect(statuses()).toEqual(["alive"]);
  await ground.clock.advance(2 * MEMBER.ttlMs + 1_000);
  expect(statuses()).toEqual(["dead"]);
});

test("principals share the sessions: idle ones of those that have most make room", async () => {
  const ping = { jsonrpc: "2.0", id: 3, method: "ping" };
  const first = await begin();
  for (let i = 1; i < SESSIONS; i += 1) await begin();
  const own = await begin("token:ann");
  const headers = { "mcp-session-id": own, [WHO]: "token:ann" };
  expect((await post("/mcp", ping, { "mcp-session-id": first })).status).toBe(404);
  for (let i = 0; i < SESSIONS; i += 1) await begin();
  expect((await post("/mcp", ping, headers)).status).toBe(200);
  expect(wire.clients.sessions).toBe(SESSIONS);
});

test("a stream of changes tells of the fleet that its caller sees, and all share it", async () => {
  const heard = async (who: string) => {
    const client = await connected("single", who);
    const told: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      told.push(params.uri);
    });
    await client.listen({ resourceSubscriptions: ["rollcall://fleet"] });
    return told;
  };
  const [own, theirs] = [await heard("token:ann"), await heard("token:bob")];
  await ground.clock.advance(10_000);
  const facts = { liveness: { value: "alive", rule: "test" } } as const;
  const report = { alias: "script:1", agentId: "r", links: [], order: 1, reportedAtMs: 1, facts };
  await ground.options.fleet.report(report, namedBy("token:ann", "mcp"));
  await vi.waitFor(async () => {
    await ground.clock.advance(MCP.changeMs);
    expect(own).toEqual(["rollcall://fleet"]);
  });
  expect(theirs).toEqual([]);
  const client = await connected("single", "token:ann");
  for (let i = 1; i < MCP.listeners / 2; i += 1) {
    await client.listen({ resourceSubscriptions: ["rollcall://fleet"] });
  }
  const more = client.listen({ resourceSubscriptions: ["rollcall://fleet"] });
  await expect(more).rejects.toThrow(/its share of the limit/);
});

test("a connection is gone with its socket", async () => {
  const raw = say(opened.port, `GET /mcp/sse HTTP/1.1\r\nHost: 127.0.0.1:${opened.port}\r\n\r\n`);
  await vi.waitFor(() => expect(raw.heard).toMatch(/event: endpoint\ndata: \/mcp\/messages\?/));
  expect(raw.heard).toContain("text/event-stream");
  expect(wire.clients.connections).toBe(1);
  await ground.clock.advance(MCP.keepAliveMs);
  await vi.waitFor(() => expect(raw.heard).toContain(": still here"));
  const [, path = ""] = /data: (\S+)/.exec(raw.heard) ?? [];
  expect((await post(path, { jsonrpc: "2.0", id: 1 })).status).toBe(400);
  raw.socket.destroy();
  await vi.waitFor(() => expect(wire.clients.connections).toBe(0));
  expect((await post(path, INITIALIZE)).status).toBe(404);
});

test("web pages and strangers are kept out as everywhere on this door", async () => {
  for (const headers of [{ host: "evil.test" }, { origin: "http://evil.test" }]) {
    expect((await post("/mcp", INITIALIZE, headers)).status).toBe(403);
    expect((await ask(opened.port, "/mcp/sse", { headers })).status).toBe(403);
    expect((await post("/mcp/messages?session_id=x", INITIALIZE, headers)).status).toBe(403);
  }
});

test("closing ends every stream and session, and lets nobody in again", async () => {
  const client = await connected("sse");
  const other = await connected("session");
  await client.callTool({ name: "acquire_lease", arguments: { task_id: "k" } });
  await other.subscribeResource({ uri: "rollcall://fleet" });
  await wire.close();
  await wire.close();
  expect(wire.clients).toEqual({ sessions: 0, connections: 0, listeners: 0 });
  await vi.waitFor(() => expect(ground.engine.peek(({ leases }) => leases.byTask.size)).toBe(0));
  expect(await post("/mcp", INITIALIZE)).toMatchObject({ status: 503 });
  expect(await ask(opened.port, "/mcp/sse")).toMatchObject({ status: 503 });
});

test.each(["session", "sse"] as const)(
  "a caller (%s) that hung up claims no task that comes later",
  async (kind) => {
    const { claims, engine } = ground.options;
    const client = await connected(kind);
    const call = { name: "claim_task", arguments: { wait_seconds: 30 } };
    const waiting = client.callTool(call).catch(() => undefined);
    await vi.waitFor(() => expect(claims.waiting).toBe(1));
    await client.close();
    await waiting;
    await vi.waitFor(() => expect(claims.waiting).toBe(0));
    const { id } = await engine.execute({ type: "task.create", ...TASK }, LIBRARY);
    expect(engine.peek(({ tasks }) => tasks.byId.get(id)?.task.status)).toBe("pending");
  },
);
