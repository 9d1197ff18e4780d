import { expect, test } from "vitest";
import { card, DAY, SECOND, World } from "../../test/support/core/fixture.ts";
import { LIBRARY, namedBy, withRequestId } from "./by.ts";
import { eventFor } from "./fencing.ts";
import { REQUESTS } from "./limits.ts";
import { capture, fingerprint, restore } from "./snapshot.ts";
import { EVERYTHING, seesEvent } from "./visibility.ts";

function register(world: World, requestId: string, by = LIBRARY) {
  world.by = withRequestId(by, requestId);
  return world.run({ type: "agent.register", card: card({}), ttlMs: 60 * SECOND });
}

test("a retry gets the first answer, and nothing is done twice", () => {
  const world = new World();
  const first = register(world, "r1");
  expect(world.topicsOf(() => expect(register(world, "r1")).toEqual(first))).toEqual([]);
  expect(register(world, "r2").agentId).not.toBe(first.agentId);
  expect(world.state.agents.byId.size).toBe(2);
});

test("it does so after a restart, from the log and from a snapshot", async () => {
  const world = new World();
  const { agentId } = register(world, "r1");
  const restored = new World();
  Object.assign(restored, { state: await restore(capture(world.state)) });
  expect(fingerprint(restored.state)).toBe(fingerprint(world.state));
  const replayed = new World();
  for (const { event, atMs } of world.recorded()) {
    replayed.nowMs = atMs;
    replayed.record([event]);
  }
  for (const each of [restored, replayed]) expect(register(each, "r1").agentId).toBe(agentId);
});

test("the name of a request is its caller's own, and of one command", () => {
  const world = new World();
  const { agentId } = register(world, "r1");
  expect(register(world, "r1", namedBy("eve", "grpc")).agentId).not.toBe(agentId);
  world.by = withRequestId(LIBRARY, "r1");
  expect(world.topicsOf(() => world.run({ type: "agent.deregister", agentId }))).toEqual([
    "agent.died",
    "request.answered",
  ]);
});

test("refusals and answers that changed nothing are not kept", () => {
  const world = new World();
  world.by = withRequestId(LIBRARY, "r1");
  expect(world.refusal({ type: "agent.heartbeat", agentId: "nobody" })).toContain("NOT_FOUND");
  const agentId = world.register();
  world.by = withRequestId(LIBRARY, "r2");
  expect(world.topicsOf(() => world.run({ type: "task.claim", agentId }))).toEqual([]);
  world.create();
  expect(world.run({ type: "task.claim", agentId })).not.toBeNull();
});

test("answers are kept for ten minutes", () => {
  const world = new World();
  register(world, "r1");
  world.nowMs += REQUESTS.keptMs - 1;
  register(world, "r2");
  expect(world.state.requests.byName.size).toBe(2);
  world.nowMs += 1;
  register(world, "r3");
  expect([...world.state.requests.byName.keys()].map((name) => name.split(" ")[0])).toEqual([
    "r2",
    "r3",
  ]);
});

test("a clock that is put forward forgets no answer: who asked just before may try again", () => {
  const world = new World();
  const { agentId } = register(world, "r1");
  world.nowMs += DAY;
  world.record([{ type: "node.resumed", node: "n1", unseenMs: DAY }]);
  register(world, "r2");
  expect(register(world, "r1").agentId).toBe(agentId);
  world.nowMs += REQUESTS.keptMs;
  register(world, "r3");
  expect(register(world, "r1").agentId).not.toBe(agentId);
});

test("a snapshot that is taken later brings back all that were kept then", async () => {
  const world = new World();
  register(world, "r1");
  world.nowMs += 2 * REQUESTS.keptMs;
  world.lead();
  const restored = await restore(capture(world.state));
  expect(fingerprint(restored)).toBe(fingerprint(world.state));
});

test("and in bounds: the oldest goes first, by number and by size", () => {
  const world = new World();
  const { requests } = world.state;
  const reply = null;
  for (let i = 0; i <= REQUESTS.kept; i += 1) {
    world.record([{ type: "request.answered", name: `r${i}`, reply }]);
  }
  expect(requests.byName.size).toBe(REQUESTS.kept);
  expect(requests.byName.has("r0")).toBe(false);
  expect(requests.length).toBe(REQUESTS.kept * "null".length);
  requests.length += REQUESTS.keptLength;
  world.record([{ type: "request.answered", name: "large", reply }]);
  expect([...requests.byName.keys()]).toEqual([]);
});

test("an answer holds secrets: callers see no such event, and viewers not its reply", () => {
  const world = new World();
  register(world, "r1");
  const recorded = world.recorded().at(-1);
  if (recorded?.event.type !== "request.answered") throw new Error("no answer was kept");
  expect(seesEvent({ owner: "eve" }, world.state, recorded.event)).toBe(false);
  expect(seesEvent(EVERYTHING, world.state, recorded.event)).toBe(true);
  expect(eventFor(recorded, namedBy("eve", "http")).event).toMatchObject({ reply: null });
});
