import { expect, test } from "vitest";
import { asSeen, type AgentCard } from "./agents.ts";
import { FIELD, TTL } from "./limits.ts";
import { card, DAY, replayed, SECOND, START_MS, World } from "../../test/support/core/fixture.ts";

function refusalOf(fields: Partial<AgentCard>, ttlMs = 0): string {
  return new World().refusal({ type: "agent.register", card: card(fields), ttlMs });
}

function lastSeen(world: World, agentId: string): number {
  const entry = world.state.agents.byId.get(agentId);
  if (!entry) throw new Error(`no agent ${agentId}`);
  return asSeen(entry).lastHeartbeatAtMs;
}

// "agent_id is 32 characters (a dashless UUID). Register emits agent.registered."
test("who registers is alive, under a new id of 32 characters, and all are told", () => {
  const world = new World();
  const agent = world.run({ type: "agent.register", card: card(), ttlMs: 30 * SECOND });
  expect(agent.agentId).toMatch(/^[0-9a-f]{32}$/);
  expect(agent).toMatchObject({ status: "alive", registeredAtMs: START_MS, ttlMs: 30 * SECOND });
  expect(world.history).toEqual([{ type: "agent.registered", agent }]);
  expect(world.register()).not.toBe(agent.agentId);
});

test("who names no ttl gets the default", () => {
  const world = new World();
  const agent = world.run({ type: "agent.register", card: card(), ttlMs: 0 });
  expect(agent.ttlMs).toBe(TTL.agentDefaultMs);
});

// "ALIVE → UNREACHABLE at the first missed deadline → DEAD later"
test("a silent agent is unreachable after one ttl and dead after two", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 10 * SECOND });
  world.pass(10 * SECOND - 1);
  expect(world.status(agentId)).toBe("alive");
  expect(world.topicsOf(() => world.pass(1))).toEqual(["agent.unreachable"]);
  expect(world.status(agentId)).toBe("unreachable");
  world.pass(10 * SECOND - 1);
  expect(world.status(agentId)).toBe("unreachable");
  const [died] = world.eventsOf(() => world.pass(1));
  expect(died).toMatchObject({
    type: "agent.died",
    cause: "silent",
    agent: { agentId, status: "dead", diedAtMs: world.nowMs, lastHeartbeatAtMs: START_MS },
  });
});

test("who is declared unreachable late still has one full ttl to be heard", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: SECOND });
  expect(world.topicsOf(() => world.oversleep(4 * SECOND))).toEqual(["agent.unreachable"]);
  world.pass(SECOND - 1);
  expect(world.status(agentId)).toBe("unreachable");
  world.pass(1);
  expect(world.status(agentId)).toBe("dead");
});

test("an agent that sends heartbeats stays alive, and none of them is recorded", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 10 * SECOND });
  const topics = world.topicsOf(() => {
    for (let i = 0; i < 20; i += 1) {
      world.pass(5 * SECOND);
      world.beat(agentId);
    }
  });
  expect(topics).toEqual([]);
  expect(world.status(agentId)).toBe("alive");
  expect(lastSeen(world, agentId)).toBe(START_MS + 100 * SECOND);
});

test("a heartbeat moves the deadline without touching the heap until the timer rings", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 10 * SECOND });
  const timer = world.state.agents.byId.get(agentId)?.timer;
  world.pass(4 * SECOND);
  world.beat(agentId);
  expect(timer?.at).toBe(START_MS + 10 * SECOND);
  world.pass(6 * SECOND);
  expect(timer?.at).toBe(START_MS + 14 * SECOND);
  expect(world.topicsOf(() => world.pass(4 * SECOND))).toEqual(["agent.unreachable"]);
});

// "a heartbeat while UNREACHABLE brings the agent back to ALIVE"
test("an unreachable agent that is heard again is alive for another full ttl", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 10 * SECOND });
  world.pass(19 * SECOND);
  expect(world.status(agentId)).toBe("unreachable");
  expect(world.topicsOf(() => world.beat(agentId))).toEqual(["agent.recovered"]);
  expect(world.status(agentId)).toBe("alive");
  world.pass(10 * SECOND - 1);
  expect(world.status(agentId)).toBe("alive");
  world.pass(1);
  expect(world.status(agentId)).toBe("unreachable");
});

// "Deregister makes it DEAD at once (agent.died), and GetAgent still finds it, as DEAD."
test("who deregisters is dead at once, and still found for a day", () => {
  const world = new World();
  const agentId = world.register();
  const [died] = world.eventsOf(() => world.run({ type: "agent.deregister", agentId }));
  expect(died).toMatchObject({ type: "agent.died", cause: "deregistered" });
  world.pass(DAY - 1);
  expect(world.status(agentId)).toBe("dead");
  expect(world.topicsOf(() => world.pass(1))).toEqual(["agent.forgotten"]);
  expect(world.status(agentId)).toBeUndefined();
});

test("deregistering twice is not an error and does nothing more", () => {
  const world = new World();
  const agentId = world.register();
  world.run({ type: "agent.deregister", agentId });
  expect(world.topicsOf(() => world.run({ type: "agent.deregister", agentId }))).toEqual([]);
});

// "A DEAD agent's heartbeat is NOT_FOUND."
test("a heartbeat of a dead or unknown agent is refused", () => {
  const world = new World();
  const agentId = world.register();
  world.run({ type: "agent.deregister", agentId });
  expect(world.refusal({ type: "agent.heartbeat", agentId })).toBe(
    `NOT_FOUND: agent ${agentId} is dead`,
  );
  expect(world.refusal({ type: "agent.heartbeat", agentId: "x" })).toBe("NOT_FOUND: no agent x");
  expect(world.refusal({ type: "agent.deregister", agentId: "x" })).toBe("NOT_FOUND: no agent x");
});

// "INVALID_ARGUMENT for empty/oversized/invalid fields (name the field)"
test("an empty or oversized agent_id is called invalid, not unknown", () => {
  const world = new World();
  for (const type of ["agent.heartbeat", "agent.deregister"] as const) {
    expect(world.refusal({ type, agentId: "" })).toBe("INVALID_ARGUMENT: agentId is empty");
    expect(world.refusal({ type, agentId: "x".repeat(FIELD.keyLength + 1) })).toMatch(
      /^INVALID_ARGUMENT: agentId has 257 characters/,
    );
  }
});

test("a card that breaks a rule is refused, and the field is named", () => {
  const long = "x".repeat(10_000);
  const many = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);
  const metadata = (count: number) => Object.fromEntries(many(count).map((name) => [name, ""]));
  const capability = (name: string, description: string) => ({ name, description });
  const refused: readonly (readonly [Partial<AgentCard>, string])[] = [
    [{ name: "" }, "card.name is empty"],
    [{ name: "a\nb" }, "card.name holds a control character"],
    [{ name: long }, "card.name has 10000 characters, at most 128 are allowed"],
    [{ description: long }, "card.description has 10000 characters, at most 4096 are allowed"],
    [{ description: "\u0007" }, "card.description holds a control character"],
    [{ version: long }, "card.version has 10000 characters, at most 64 are allowed"],
    [{ tools: many(FIELD.tools + 1) }, "card.tools has 257 entries, at most 256 are allowed"],
    [{ tools: ["ok", ""] }, "card.tools[1] is empty"],
    [
      { capabilities: many(FIELD.capabilities + 1).map((name) => capability(name, "")) },
      "card.capabilities has 129 entries, at most 128 are allowed",
    ],
    [{ capabilities: [capability("", "")] }, "card.capabilities[0].name is empty"],
    [
      { capabilities: [capability("a", long)] },
      "card.capabilities[0].description has 10000 characters, at most 4096 are allowed",
    ],
    [
      { metadata: metadata(FIELD.metadataEntries + 1) },
      "card.metadata has 65 entries, at most 64 are allowed",
    ],
    [{ metadata: { "": "x" } }, "card.metadata key is empty"],
    [
      { capabilities: many(60).map((name) => ({ name, description: "d".repeat(4000) })) },
      "card has 242035 characters, at most 131072 are allowed",
    ],
    [{ metadata: { team: long } }, "card.metadata[team] has 10000 characters, at most 1024"],
    [{ metadata: { team: "\ud800" } }, "card.metadata[team] is not well-formed unicode"],
  ];
  for (const [fields, reason] of refused) {
    expect(refusalOf(fields)).toContain(`INVALID_ARGUMENT: ${reason}`);
  }
});

test("a ttl outside of one second to one day is refused", () => {
  for (const ttlMs of [TTL.minMs - 1, TTL.maxMs + 1, -1, Number.NaN, Infinity]) {
    expect(refusalOf({}, ttlMs)).toMatch(/^INVALID_ARGUMENT: ttlMs is .* 1 to 86400 s$/);
  }
});

test("the fullest card that is allowed is taken", () => {
  const world = new World();
  const names = (count: number) => Array.from({ length: count }, (_, i) => `${i}`.padEnd(128, "x"));
  const value = "v".repeat(FIELD.metadataValueLength);
  const full = card({
    name: "n".repeat(FIELD.nameLength),
    description: "line\n\tbreaks are welcome".padEnd(FIELD.descriptionLength, "."),
    version: "v".repeat(FIELD.versionLength),
    tools: names(FIELD.tools),
    metadata: Object.fromEntries(names(FIELD.metadataEntries).map((name) => [name, value])),
  });
  expect(world.run({ type: "agent.register", card: full, ttlMs: TTL.maxMs }).card).toEqual(full);
});

test("when a dead agent was last heard of is the same after a restart", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 10 * SECOND });
  world.pass(7 * SECOND);
  world.beat(agentId);
  world.run({ type: "agent.deregister", agentId });
  const entry = replayed(world.recorded()).agents.byId.get(agentId);
  expect(lastSeen(world, agentId)).toBe(START_MS + 7 * SECOND);
  expect(entry && asSeen(entry)).toEqual(world.state.agents.byId.get(agentId)?.agent);
});
