import { afterEach, beforeEach, expect, test } from "vitest";
import { openEngine, register, type Fixture } from "../../../test/support/engine/fixture.ts";
import { McpMember } from "./member.ts";
import { LIBRARY, namedBy } from "../../core/by.ts";
import { MEMBER } from "./limits.ts";

const NAME = "Claude\u202e Code";

let fixture: Fixture;

beforeEach(async () => {
  fixture = await openEngine();
});

afterEach(() => fixture.engine.close());

function member(ownId?: string): McpMember {
  const { engine, clock } = fixture;
  return new McpMember({ engine, clock, by: LIBRARY, ownId });
}

async function idOf(one: McpMember): Promise<string> {
  return (await one.join(NAME)).agentId;
}

function statusOf(agentId: string) {
  return fixture.engine.peek(({ agents }) => agents.byId.get(agentId)?.agent.status);
}

test("it becomes an agent when it first must be one, once", async () => {
  const one = member();
  expect(fixture.engine.peek(({ agents }) => agents.byId.size)).toBe(0);
  const [first, second] = await Promise.all([idOf(one), idOf(one)]);
  expect(first).toBe(second);
  const entry = fixture.engine.peek(({ agents }) => agents.byId.get(first));
  expect(entry?.agent.card.name).toBe("Claude Code");
  await one.close();
});

test("it lives while its connection does, however silent, and no longer", async () => {
  const one = member();
  const id = await idOf(one);
  await fixture.clock.advance(3_600_000);
  expect(statusOf(id)).toBe("alive");
  await one.close();
  await one.close();
  expect(statusOf(id)).toBe("dead");
});

test("one that was taken away comes back as another", async () => {
  const one = member();
  const id = await idOf(one);
  await fixture.engine.execute({ type: "agent.deregister", agentId: id }, LIBRARY);
  await fixture.clock.advance(20_000);
  const next = await idOf(one);
  expect(next).not.toBe(id);
  expect(statusOf(next)).toBe("alive");
  await one.close();
});

test("who was given an id that is registered is that one, and does not end it", async () => {
  const agentId = await register(fixture.engine);
  const one = member(agentId);
  expect(await idOf(one)).toBe(agentId);
  await one.close();
  expect(statusOf(agentId)).toBe("alive");
});

test("who was given an id that only the fleet knows belongs to that row", async () => {
  const one = member("claude:17");
  const id = await idOf(one);
  const card = fixture.engine.peek(({ agents }) => agents.byId.get(id)?.agent.card);
  expect(card?.metadata).toEqual({ wire: "mcp", "rollcall.agent_id": "claude:17" });
  await one.close();
});

test("a connection that closed while it joined leaves nobody behind", async () => {
  const one = member();
  const joining = idOf(one);
  await one.close();
  const id = await joining;
  expect(statusOf(id)).toBe("dead");
});

test("it acts with the key of its agent, and nobody of its principal without", async () => {
  const ann = namedBy("token:ann", "mcp");
  const one = new McpMember({ ...fixture, by: ann });
  const { agentId, by } = await one.join(NAME);
  const acquire = { type: "lease.acquire", taskId: "k", agentId, ttlMs: 0 } as const;
  await fixture.engine.execute(acquire, by);
  expect(one.isHolding).toBe(true);
  await expect(fixture.engine.execute(acquire, ann)).rejects.toThrow(/is bound to its key/);
  await fixture.clock.advance(3_600_000);
  expect(statusOf(agentId)).toBe("alive");
  await one.close();
  expect(statusOf(agentId)).toBe("dead");
});

test("one that was not said good-bye to lives as long as one that is silent", async () => {
  const one = member();
  const id = await idOf(one);
  one.letExpire();
  await one.close();
  expect(statusOf(id)).toBe("alive");
  await fixture.clock.advance(2 * MEMBER.ttlMs + 1_000);
  expect(statusOf(id)).toBe("dead");
});
