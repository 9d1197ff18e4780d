import { request as httpRequest, type ClientRequest } from "node:http";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Agent } from "../core/agents.ts";
import type { Task } from "../core/tasks.ts";
import { CARD, quiet } from "../../test/support/engine/fixture.ts";
import { openApi, type Api } from "../../test/support/daemon/api.ts";
import { ask } from "../../test/support/daemon/fixture.ts";

const apis: Api[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.close();
});

async function open(...args: Parameters<typeof openApi>): Promise<Api> {
  const api = await openApi(...args);
  apis.push(api);
  return api;
}

async function done(api: Api, path: string, body: unknown): Promise<Record<string, unknown>> {
  const reply = await api.post(`/v1/${path}`, body);
  expect(reply.body).not.toHaveProperty("error");
  expect(reply.status).toBe(200);
  return reply.body;
}

async function register(api: Api, tools: readonly string[] = []): Promise<string> {
  const body = { card: { name: "worker", tools }, ttlMs: 30_000 };
  return ((await done(api, "agents/register", body))["agent"] as Agent).agentId;
}

async function create(api: Api, fields: object = {}): Promise<Task> {
  return (await done(api, "tasks/create", { type: "any", ...fields }))["task"] as Task;
}

function taskNow(api: Api, taskId: string): Task | undefined {
  return api.engine.peek(({ tasks }) => tasks.byId.get(taskId)?.task);
}

describe("commands", () => {
  test("an agent comes with a name alone, stays by heartbeats, and goes", async () => {
    const api = await open();
    const { agent } = await done(api, "agents/register", { card: { name: "minimal" } });
    const { agentId } = agent as Agent;
    expect(agent).toMatchObject({
      status: "alive",
      ttlMs: 30_000,
      card: { name: "minimal", description: "", tools: [], capabilities: [], metadata: {} },
    });
    await api.clock.advance(31_000);
    expect((await api.get(`/v1/agents/${agentId}`)).body).toMatchObject({
      agent: { status: "unreachable" },
    });
    expect(await done(api, "agents/heartbeat", { agentId })).toEqual({});
    expect((await api.get(`/v1/agents/${agentId}`)).body).toMatchObject({
      agent: { status: "alive" },
    });
    expect(await done(api, "agents/deregister", { agentId })).toEqual({});
    const { status, body } = await api.post("/v1/agents/heartbeat", { agentId });
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: { message: `agent ${agentId} is dead` } });
  });

  test("a lease is one agent's; the other hears whose; the token counts", async () => {
    const api = await open();
    const [one, two] = [await register(api), await register(api)];
    const taskId = "deploy/../prod?x#y %2F";
    const won = await done(api, "leases/acquire", { taskId, agentId: one, ttlMs: 5_000 });
    expect(won).toMatchObject({ acquired: true, lease: { holder: one, token: 1, ttlMs: 5_000 } });
    const lost = await done(api, "leases/acquire", { taskId, agentId: two });
    expect(lost).toMatchObject({ acquired: false, lease: { holder: one, token: 1 } });
    const renewed = await done(api, "leases/renew", {
      taskId,
      agentId: one,
      token: 1,
      ttlMs: 9_000,
    });
    expect(renewed).toMatchObject({ lease: { ttlMs: 9_000 } });
    const shown = await api.get(`/v1/leases/${encodeURIComponent(taskId)}`);
    expect(shown.body).toMatchObject({ lease: { taskId, holder: one } });
    const stolen = await api.post("/v1/leases/release", { taskId, agentId: two, token: 1 });
    expect(stolen.status).toBe(403);
    expect(stolen.body).toMatchObject({ error: { code: "NOT_HOLDER" } });
    expect(await done(api, "leases/release", { taskId, agentId: one, token: 1 })).toEqual({});
  });

  test("a group has its leader, and the next one when it resigns", async () => {
    const api = await open();
    const [one, two] = [await register(api), await register(api)];
    await done(api, "elections/campaign", { group: "g", agentId: one });
    const second = await done(api, "elections/campaign", { group: "g", agentId: two });
    expect(second).toMatchObject({ election: { leader: one, term: 1 } });
    const after = await done(api, "elections/resign", { group: "g", agentId: one });
    expect(after).toMatchObject({ election: { leader: two, term: 2 } });
  });

  test("a check answers with the policy that decided, or that there was none", async () => {
    const api = await open();
    const allow = { id: "a", subject: "*", action: "read", resource: "*", effect: "allow" };
    const deny = { id: "d", subject: "eve", action: "*", resource: "db/*", effect: "deny" };
    expect(await done(api, "policies/set", allow)).toEqual({ policy: allow });
    await done(api, "policies/set", deny);
    const check = async (subject: string, action: string) =>
      (await api.get(`/v1/policies/check?subject=${subject}&action=${action}&resource=db%2Fx`))
        .body;
    expect(await check("bob", "read")).toEqual({
      allowed: true,
      reason: 'allowed by policy "a"',
      policy: allow,
      sequence: 3,
    });
    expect(await check("eve", "read")).toMatchObject({ allowed: false, policy: deny });
    expect(await check("bob", "drop")).toMatchObject({ allowed: false, policy: null });
    expect(await done(api, "policies/delete", { id: "d" })).toEqual({});
    expect(await check("eve", "read")).toMatchObject({ allowed: true });
    expect((await api.post("/v1/policies/delete", { id: "d" })).status).toBe(404);
  });

  test("a check explains the near misses, and answers for a caller in a role", async () => {
    const api = await open();
    const narrow = { id: "n", subject: "role:agent", action: "task.*", resource: "*" };
    await done(api, "policies/set", { ...narrow, effect: "deny" });
    const check = async (more: string) =>
      (await api.get(`/v1/policies/check?subject=token:ci&resource=task:*&explain=true${more}`))
        .body;
    expect(await check("&action=task.claim")).toMatchObject({
      policy: null,
      nearMisses: [{ policy: { id: "n" }, failed: "subject" }],
    });
    expect(await check("&action=task.claim&role=agent")).toMatchObject({
      allowed: false,
      policy: { id: "n" },
      nearMisses: [],
    });
    expect(await check("&action=lease.read&role=agent")).toMatchObject({
      allowed: true,
      policy: { id: "role:agent/*.read" },
      nearMisses: [{ policy: { id: "n" }, failed: "action" }],
    });
    expect(await check("&action=task.claim&role=outpost")).toMatchObject({
      nearMisses: [
        { policy: { id: "role:outpost/daemon.read" }, failed: "action" },
        { policy: { id: "role:outpost/fleet.report" }, failed: "action" },
        { policy: { id: "role:outpost/outpost.join" }, failed: "action" },
        { policy: { id: "n" }, failed: "subject" },
      ],
    });
    const { policies } = (await api.get("/v1/policies/roles")).body;
    expect(policies).toContainEqual(expect.objectContaining({ subject: "role:viewer" }));
    expect((await api.get("/v1/policies")).body).toMatchObject({ total: 1 });
  });

  test("a task is cancelled, and one that waits too long is dead", async () => {
    const api = await open();
    const agentId = await register(api);
    const { id: taskId } = await create(api);
    const unwanted = { taskId, reason: "no longer needed" };
    expect(await done(api, "tasks/cancel", unwanted)).toMatchObject({
      task: { id: taskId, status: "cancelled", failureReason: "no longer needed" },
    });
    expect(await done(api, "tasks/claim", { agentId })).toEqual({ task: null });
    const { id } = await create(api, { pendingTtlMs: 10_000 });
    await api.clock.advance(10_000);
    const { body } = await api.get("/v1/tasks?status=dead&status=cancelled");
    expect(body).toMatchObject({ tasks: [{ id: taskId }, { id, status: "dead" }] });
    const tooLong = { type: "any", pendingTtlMs: 31 * 86_400_000 };
    expect((await api.post("/v1/tasks/create", tooLong)).status).toBe(400);
  });

  test("a task goes round as text or as bytes", async () => {
    const api = await open();
    const agentId = await register(api);
    const text = await create(api, { inputText: "grüße\u0000" });
    const bytes = await create(api, { input: "/wD+" });
    const claimed = await done(api, "tasks/claim", { agentId });
    expect(claimed).toMatchObject({ task: { id: text.id, inputText: "grüße\u0000", token: 1 } });
    const output = { taskId: text.id, agentId, token: 1, outputText: "fertig" };
    expect(await done(api, "tasks/complete", output)).toEqual({});
    const { body } = await api.get(`/v1/tasks/${text.id}`);
    expect(body).toMatchObject({ task: { status: "completed", outputText: "fertig" } });
    const second = (await done(api, "tasks/claim", { agentId }))["task"] as Task;
    expect(second).toMatchObject({ id: bytes.id, input: "/wD+" });
    expect(second).not.toHaveProperty("inputText");
    await api.clock.advance(10_000);
    const renewed = await done(api, "tasks/renew", { taskId: bytes.id, agentId });
    expect((renewed["task"] as Task).expiresAtMs).toBe(second.expiresAtMs + 10_000);
    await done(api, "tasks/fail", { taskId: bytes.id, agentId, reason: "no such\nfile" });
    expect(taskNow(api, bytes.id)).toMatchObject({
      status: "dead",
      failureReason: "no such\nfile",
    });
    expect(await done(api, "tasks/claim", { agentId })).toEqual({ task: null });
  });

  test("find asks for the query, the tools and how many", async () => {
    const asked: unknown[] = [];
    const api = await open({
      find: async (wanted) => {
        asked.push(wanted);
        return [];
      },
    });
    const { body } = await api.get("/v1/find?query=read%20scans&tool=ocr&tool=pdf&limit=3");
    expect(body).toEqual({ sequence: 1, agents: [] });
    expect(asked).toEqual([{ query: "read scans", tools: ["ocr", "pdf"], limit: 3 }]);
  });
});

describe("a claim that waits", () => {
  function claiming(api: Api, body: object): { request: ClientRequest; answer: Promise<string> } {
    const request = httpRequest({
      port: api.opened.port,
      host: "127.0.0.1",
      path: "/v1/tasks/claim",
      method: "POST",
      headers: { "content-type": "application/json" },
      agent: false,
    });
    const answer = new Promise<string>((resolve, reject) => {
      request.on("error", reject).on("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve(text));
      });
    });
    answer.catch(() => undefined);
    request.end(JSON.stringify(body));
    return { request, answer };
  }

  test("gets what comes", async () => {
    const api = await open();
    const agentId = await register(api);
    const { answer } = claiming(api, { agentId, waitMs: 60_000 });
    await vi.waitFor(() => expect(api.claims.waiting).toBe(1));
    const { id } = await create(api);
    expect(JSON.parse(await answer)).toMatchObject({ task: { id, status: "claimed" } });
  });

  test("says that nothing came when its time is up, and leaves no timer", async () => {
    const api = await open();
    const agentId = await register(api);
    const timers = api.clock.timers;
    const { answer } = claiming(api, { agentId, waitMs: 5_000 });
    await vi.waitFor(() => expect(api.claims.waiting).toBe(1));
    await api.clock.advance(5_000);
    expect(JSON.parse(await answer)).toEqual({ task: null });
    expect(api.clock.timers).toBe(timers);
    const { id } = await create(api);
    expect(taskNow(api, id)).toMatchObject({ status: "pending" });
  });

  test("claims nothing once its caller is gone", async () => {
    const api = await open();
    const agentId = await register(api);
    const timers = api.clock.timers;
    const { request } = claiming(api, { agentId, waitMs: 60_000 });
    await vi.waitFor(() => expect(api.claims.waiting).toBe(1));
    request.destroy();
    await vi.waitFor(() => expect(api.claims.waiting).toBe(0));
    expect(api.clock.timers).toBe(timers);
    const { id } = await create(api);
    await quiet();
    expect(taskNow(api, id)).toMatchObject({ status: "pending", retryCount: 0 });
  });

  test("that does not wait gives back what was claimed for a caller who left", async () => {
    const api = await open();
    const agentId = await register(api);
    const { id } = await create(api, { maxRetries: 3 });
    const release = api.log.hold();
    const { request } = claiming(api, { agentId });
    await vi.waitFor(() => expect(taskNow(api, id)?.status).toBe("claimed"));
    request.destroy();
    await vi.waitFor(() => expect(api.opened.door.connections).toBe(0));
    release();
    await vi.waitFor(() => expect(taskNow(api, id)?.status).toBe("pending"));
  });

  test("ends when its agent does", async () => {
    const api = await open();
    const agentId = await register(api);
    const { answer } = claiming(api, { agentId, waitMs: 60_000 });
    await vi.waitFor(() => expect(api.claims.waiting).toBe(1));
    await done(api, "agents/deregister", { agentId });
    expect(JSON.parse(await answer)).toMatchObject({ error: { code: "NOT_FOUND" } });
  });
});

describe("a body that makes no sense is refused by the name of its field", () => {
  const nobody = { agentId: "a" };
  test.each([
    ["the body is empty", "agents/register", ""],
    ["the body is not JSON", "agents/register", "{"],
    ["the body is [], not an object", "agents/register", []],
    ["the body is null, not an object", "agents/register", null],
    ["card is not set", "agents/register", {}],
    ["card.name is not set", "agents/register", { card: {} }],
    ["card.name is 3, not text", "agents/register", { card: { name: 3 } }],
    ["card.name is empty", "agents/register", { card: { name: "" } }],
    ["card.tools[1] is {}, not text", "agents/register", { card: { name: "x", tools: ["a", {}] } }],
    [
      "card.metadata.a is 1, not text",
      "agents/register",
      { card: { ...CARD, metadata: { a: 1 } } },
    ],
    ["__proto__ is no name", "agents/register", '{"card":{"name":"x","__proto__":{"a":1}}}'],
    ["card.nmae is unknown", "agents/register", { card: { name: "x", nmae: "y" } }],
    ["ttl is unknown; there are card, ttlMs", "agents/register", { card: { name: "x" }, ttl: 1 }],
    ["ttlMs is 1.5, not a whole number", "agents/register", { card: { name: "x" }, ttlMs: 1.5 }],
    ["ttlMs is 0.001 s, allowed are 1 to", "agents/register", { card: { name: "x" }, ttlMs: 1 }],
    ["ttlMs is -1 s", "agents/register", { card: { name: "x" }, ttlMs: -1_000 }],
    ["agentId is empty", "agents/heartbeat", { agentId: "" }],
    ["taskId has 300 characters", "leases/acquire", { taskId: "x".repeat(300), ...nobody }],
    ["taskId holds a control", "leases/acquire", { taskId: "a\nb", ...nobody }],
    ["taskId is not well-formed", "leases/acquire", { taskId: "\ud800", ...nobody }],
    ["token is not set", "leases/release", { taskId: "t", ...nobody }],
    ['token is "1", not a whole', "leases/release", { taskId: "t", ...nobody, token: "1" }],
    ["token is 1e+300, at most", "leases/release", { taskId: "t", ...nobody, token: 1e300 }],
    ["ttl is unknown", "leases/renew", { taskId: "t", ...nobody, token: 1, ttl: 1 }],
    ["text is unknown", "tasks/complete", { taskId: "t", ...nobody, text: "x" }],
    ["the body is", "agents/register", "[".repeat(500_000) + "]".repeat(500_000)],
    ["card is [[", "agents/register", `{"card":${"[".repeat(2_000)}${"]".repeat(2_000)}}`],
    ["group is not set", "elections/campaign", nobody],
    ['effect is "maybe"; it may be allow, deny', "policies/set", policy("maybe")],
    ["effect is not set", "policies/set", policy(undefined)],
    ['input is "!", not base64', "tasks/create", { type: "t", input: "!" }],
    ["input and inputText are both", "tasks/create", { type: "t", input: "", inputText: "" }],
    ["inputText is not well-formed", "tasks/create", { type: "t", inputText: "\udfff" }],
    ["maxRetries is 1001", "tasks/create", { type: "t", maxRetries: 1001 }],
    ["requiredTools[0] is empty", "tasks/create", { type: "t", requiredTools: [""] }],
    ["waitMs is 600001, at most", "tasks/claim", { ...nobody, waitMs: 600_001 }],
    ["waitMs is not a whole", "tasks/claim", { ...nobody, waitMs: -1 }],
    ["reason has 2000", "tasks/fail", { taskId: "t", ...nobody, reason: "x".repeat(2_000) }],
  ])("%s", async (message, path, body) => {
    const api = await open();
    const { status, body: answer } = await api.post(`/v1/${path}`, body);
    expect(answer).toMatchObject({ error: { code: "INVALID_ARGUMENT", retry: "never" } });
    expect((answer["error"] as { message: string }).message).toContain(message);
    expect(status).toBe(400);
    expect(api.engine.head).toBe(1);
  });

  test("a policy is flat: its fields are called as they are sent", async () => {
    const api = await open();
    const { body } = await api.post("/v1/policies/set", { ...policy("allow"), id: "" });
    expect(body).toMatchObject({ error: { message: "id is empty" } });
  });

  test("only JSON is read: not a form, not text, not nothing", async () => {
    const api = await open();
    const body = JSON.stringify({ card: { name: "x" } });
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonp",
      "",
    ]) {
      const headers = { "content-type": type };
      const { status, body: answer } = await api.post("/v1/agents/register", body, headers);
      expect(status).toBe(400);
      expect((answer["error"] as { message: string }).message).toContain("send application/json");
    }
    for (const type of ["application/json;charset=utf-8", "Application/JSON ; charset=utf-8"]) {
      const headers = { "content-type": type };
      expect((await api.post("/v1/agents/register", body, headers)).status).toBe(200);
    }
  });

  test("what is too large is refused, and so is what has no route", async () => {
    const api = await open();
    const large = { type: "t", inputText: "x".repeat(1_100_000) };
    expect((await api.post("/v1/tasks/create", large)).status).toBe(413);
    expect((await api.post("/v1/tasks/nonsense", {})).status).toBe(404);
    expect((await api.get("/v1/tasks/create")).status).toBe(404);
    const { status } = await ask(api.opened.port, "/v1/policies", { method: "DELETE" });
    expect(status).toBe(404);
  });
});

function policy(effect: string | undefined): object {
  return { id: "p", subject: "s", action: "a", resource: "r", effect };
}
