import { afterEach, describe, expect, test, vi } from "vitest";
import type { Agent } from "../core/agents.ts";
import type { Engine } from "../engine/engine.ts";
import { CARD, START_MS } from "../../test/support/engine/fixture.ts";
import { LIST } from "../operations/limits.ts";
import { openApi, type Api } from "../../test/support/daemon/api.ts";
import { ask } from "../../test/support/daemon/fixture.ts";
import { LIBRARY } from "../core/by.ts";

const apis: Api[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.close();
});

async function open(): Promise<Api> {
  const api = await openApi();
  apis.push(api);
  return api;
}

interface Wanted {
  readonly name: string;
  readonly tools?: readonly string[];
  readonly description?: string;
}

async function register(engine: Engine, wanted: Wanted): Promise<Agent> {
  const card = { ...CARD, ...wanted };
  return engine.execute({ type: "agent.register", card, ttlMs: 30_000 }, LIBRARY);
}

interface AgentPage {
  readonly sequence: number;
  readonly total: number;
  readonly cursor?: string;
  readonly agents: readonly Agent[];
}

async function agents(api: Api, query = ""): Promise<AgentPage> {
  const { status, body } = await api.get(`/v1/agents${query}`);
  expect(status).toBe(200);
  return body as unknown as AgentPage;
}

function namesOf({ agents: list }: AgentPage): readonly string[] {
  return list.map(({ card }) => card.name);
}

describe("a list", () => {
  test("shows things as events do, heartbeats included, and where in the log", async () => {
    const api = await open();
    const agent = await register(api.engine, { name: "one" });
    await api.clock.advance(5_000);
    await api.engine.heartbeat(agent.agentId, LIBRARY);
    const { status, body } = await api.get("/v1/agents");
    expect(status).toBe(200);
    const seen = { ...agent, lastHeartbeatAtMs: START_MS + 5_000 };
    expect(body).toEqual({ sequence: 2, total: 1, agents: [seen] });
    const one = await api.get(`/v1/agents/${agent.agentId}`);
    expect(one.body).toEqual({ sequence: 2, agent: seen });
  });

  test("and the events after its sequence leave no gap, even during a write", async () => {
    const api = await open();
    await register(api.engine, { name: "before" });
    const release = api.log.hold();
    const under = register(api.engine, { name: "under way" });
    const listed = agents(api);
    await vi.waitFor(() => expect(api.opened.door.stats.requests).toBe(1));
    release();
    await under;
    const page = await listed;
    await register(api.engine, { name: "after" });
    const watch = api.engine.watch({ from: page.sequence });
    const items = await watch.pull();
    watch.close();
    const told = items.flatMap((item) =>
      item.kind === "event" && item.recorded.event.type === "agent.registered"
        ? [item.recorded.event.agent.card.name]
        : [],
    );
    expect([...namesOf(page), ...told]).toEqual(["before", "under way", "after"]);
  });

  test("waits until what it shows is durable", async () => {
    const api = await open();
    const release = api.log.hold();
    const under = register(api.engine, { name: "under way" });
    let isAnswered = false;
    const listed = agents(api).then((page) => {
      isAnswered = true;
      return page;
    });
    // A question that rests on nothing new is answered meanwhile, so the list had its chance.
    await ask(api.opened.port, "/healthz");
    expect(isAnswered).toBe(false);
    release();
    await under;
    expect(namesOf(await listed)).toEqual(["under way"]);
  });

  test("comes in pages that neither repeat nor skip while things come and go", async () => {
    const api = await open();
    const made: Agent[] = [];
    for (let i = 0; i < 7; i += 1) {
      made.push(await register(api.engine, { name: `a${i}` }));
      // Two of each moment, so that the moment alone is no place.
      if (i % 2 === 1) await api.clock.advance(10);
    }
    const first = await agents(api, "?limit=3");
    expect(namesOf(first)).toEqual(["a0", "a1", "a2"]);
    expect(first.total).toBe(7);
    const [gone, last] = [made[1]?.agentId ?? "", made[2]?.agentId ?? ""];
    // One that was shown goes, the very one that the cursor stands at too, and one comes.
    api.engine.peek(({ agents: { byId } }) => {
      byId.delete(gone);
      byId.delete(last);
    });
    await register(api.engine, { name: "new" });
    const second = await agents(api, `?limit=3&cursor=${first.cursor}`);
    expect(namesOf(second)).toEqual(["a3", "a4", "a5"]);
    const third = await agents(api, `?limit=3&cursor=${second.cursor}`);
    expect(namesOf(third)).toEqual(["a6", "new"]);
    expect(third).not.toHaveProperty("cursor");
  });

  test("of thousands is in order, whatever the order they are filed in", async () => {
    const api = await open();
    const { agentId } = await register(api.engine, { name: "holder" });
    const keys = Array.from({ length: 2_500 }, (_, i) => `k${(i * 7_919) % 2_500}`);
    await Promise.all(
      keys.map((taskId) =>
        api.engine.execute({ type: "lease.acquire", taskId, agentId, ttlMs: 0 }, LIBRARY),
      ),
    );
    const seen: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { body } = await api.get(`/v1/leases?limit=1000${query}`);
      const page = body as { cursor?: string; leases: { taskId: string }[]; total: number };
      expect(page.total).toBe(2_500);
      seen.push(...page.leases.map(({ taskId }) => taskId));
      cursor = page.cursor;
    }
    expect(seen).toEqual(keys.toSorted());
  });

  test("that would weigh too much ends early and goes on from there", async () => {
    const api = await open();
    const metadata = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`k${i}`, "x".repeat(1_000)]),
    );
    const card = { ...CARD, metadata };
    for (let i = 0; i < 150; i += 1) {
      await api.engine.execute({ type: "agent.register", card, ttlMs: 30_000 }, LIBRARY);
    }
    const first = await agents(api, "?limit=1000");
    expect(first.agents.length).toBeLessThan(150);
    expect(JSON.stringify(first).length).toBeLessThan(LIST.answerLength + 1_000);
    const second = await agents(api, `?limit=1000&cursor=${first.cursor}`);
    expect(first.agents.length + second.agents.length).toBe(150);
    expect(second).not.toHaveProperty("cursor");
  });
});

describe("filters", () => {
  test("of agents: status, every tool, the beginning of a name or an id", async () => {
    const api = await open();
    const one = await register(api.engine, { name: "web-1", tools: ["browser", "search"] });
    const two = await register(api.engine, { name: "web-2", tools: ["browser"] });
    await register(api.engine, { name: "ocr", tools: ["search"] });
    await api.engine.execute({ type: "agent.deregister", agentId: two.agentId }, LIBRARY);
    const named = async (query: string) => namesOf(await agents(api, query));
    expect(await named("?status=alive")).toEqual(["web-1", "ocr"]);
    expect(await named("?status=alive&status=dead")).toEqual(["web-1", "web-2", "ocr"]);
    expect(await named("?status=unreachable")).toEqual([]);
    expect(await named("?tool=browser&tool=search")).toEqual(["web-1"]);
    expect(await named("?namePrefix=web-")).toEqual(["web-1", "web-2"]);
    expect(await named(`?idPrefix=${one.agentId}`)).toEqual(["web-1"]);
  });

  test("of leases and elections: the holder, the leader, the beginning of a key", async () => {
    const api = await open();
    const [one, two] = [
      await register(api.engine, { name: "1" }),
      await register(api.engine, { name: "2" }),
    ];
    const acquire = (taskId: string, agentId: string) =>
      api.engine.execute({ type: "lease.acquire", taskId, agentId, ttlMs: 0 }, LIBRARY);
    await acquire("web/b", one.agentId);
    await acquire("web/a", two.agentId);
    await acquire("ocr", one.agentId);
    const keys = async (query: string) => {
      const { body } = await api.get(`/v1/leases${query}`);
      return (body["leases"] as { taskId: string }[]).map(({ taskId }) => taskId);
    };
    expect(await keys("")).toEqual(["ocr", "web/a", "web/b"]);
    expect(await keys("?taskIdPrefix=web%2F")).toEqual(["web/a", "web/b"]);
    expect(await keys(`?holder=${one.agentId}`)).toEqual(["ocr", "web/b"]);
    const lease = await api.get("/v1/leases/web%2Fa");
    expect(lease.body).toMatchObject({ lease: { taskId: "web/a", holder: two.agentId, token: 2 } });
    for (const { agentId } of [one, two]) {
      await api.engine.execute(
        { type: "election.campaign", group: "50% up/down", agentId },
        LIBRARY,
      );
    }
    await api.engine.execute(
      { type: "election.campaign", group: "b", agentId: two.agentId },
      LIBRARY,
    );
    const { body } = await api.get(`/v1/elections?leader=${one.agentId}`);
    expect(body).toMatchObject({ total: 1, elections: [{ candidateCount: 2, term: 1 }] });
    expect((await api.get("/v1/elections?groupPrefix=b")).body).toMatchObject({ total: 1 });
    const group = await api.get(`/v1/elections/${encodeURIComponent("50% up/down")}`);
    expect(group.body).toMatchObject({
      election: { leader: one.agentId, candidates: [one.agentId, two.agentId] },
    });
  });

  test("of tasks and policies; a list of tasks leaves what they weigh to the task", async () => {
    const api = await open();
    const { agentId } = await register(api.engine, { name: "worker" });
    const create = (taskType: string, input: string) =>
      api.engine.execute(
        {
          type: "task.create",
          taskType,
          input: Buffer.from(input).toString("base64"),
          requiredTools: [],
          maxRetries: 0,
          ttlMs: 0,
        },
        LIBRARY,
      );
    const first = await create("ocr", "hello");
    await create("web", "");
    await api.engine.execute({ type: "task.claim", agentId }, LIBRARY);
    const listed = async (query: string) => {
      const { body } = await api.get(`/v1/tasks${query}`);
      return body["tasks"] as Record<string, unknown>[];
    };
    expect(await listed("?type=ocr")).toMatchObject([{ id: first.id, inputBytes: 5 }]);
    expect((await listed("?type=ocr"))[0]).not.toHaveProperty("input");
    expect(await listed(`?claimedBy=${agentId}`)).toMatchObject([{ id: first.id }]);
    expect(await listed("?status=pending")).toMatchObject([{ type: "web" }]);
    expect(await listed(`?idPrefix=${first.id}`)).toMatchObject([{ id: first.id }]);
    for (const subject of ["team:a", "team:b", "other"]) {
      const policy = { id: subject, subject, action: "*", resource: "*", effect: "deny" } as const;
      await api.engine.execute({ type: "policy.set", policy }, LIBRARY);
    }
    const { body } = await api.get("/v1/policies?subjectPrefix=team:");
    expect(body).toMatchObject({ total: 2, policies: [{ id: "team:a" }, { id: "team:b" }] });
  });
});

describe("a question that makes no sense is refused by the name of its field", () => {
  test.each([
    ["limit is 0, at least 1", "agents?limit=0"],
    ["limit is 1001, at most 1000", "agents?limit=1001"],
    ["limit is not a whole number", "agents?limit=many"],
    ["limit is not a whole number", "agents?limit=-1"],
    ["limit is given more than once", "agents?limit=1&limit=2"],
    ['cursor is "": it is from no earlier page', "agents?cursor="],
    ['cursor is "MTIz": it is from no earlier page', "agents?cursor=MTIz"],
    ["cursor is", "agents?cursor=%00%ff"],
    ["cursor is", `agents?cursor=${"A".repeat(2_000)}`],
    ['status[0] is "asleep"; it may be alive, unreachable, dead', "agents?status=asleep"],
    ["stauts is unknown; there are limit, cursor, status, tool,", "agents?stauts=alive"],
    ["__proto__ is unknown", "agents?__proto__=x"],
    ["namePrefix has 5000 characters, at most 4096", `agents?namePrefix=${"x".repeat(5_000)}`],
    ["tool is given 257 times", `agents?${"tool=x&".repeat(257)}`],
    ['status[0] is "failed"; it may be pending, claimed, completed, dead', "tasks?status=failed"],
    ["resource is not set", "policies/check?subject=a&action=b"],
    ["resource is empty", "policies/check?subject=a&action=b&resource="],
    ["limit is not a whole number", "find?limit=x"],
    ["group holds a control character", "elections/%00"],
  ])("%s", async (message, path) => {
    const api = await open();
    const { status, body } = await api.get(`/v1/${path}`);
    expect(body).toMatchObject({ error: { code: "INVALID_ARGUMENT", retry: "never" } });
    expect((body["error"] as { message: string }).message).toContain(message);
    expect(status).toBe(400);
  });

  test("what is not there is 404, with what it was", async () => {
    const api = await open();
    for (const path of ["agents/x", "leases/x", "elections/x", "tasks/x"]) {
      const { status, body } = await api.get(`/v1/${path}`);
      expect(status).toBe(404);
      expect(body).toMatchObject({ error: { code: "NOT_FOUND" } });
      expect((body["error"] as { message: string }).message).toMatch(/^no .*x$/);
    }
    expect((await api.get("/v1/nonsense")).status).toBe(404);
  });
});
