import { expect, test } from "vitest";
import { LIBRARY, withAgentKey } from "../core/by.ts";
import { BEATS } from "../core/limits.ts";
import { memoryStore, MemoryMedium } from "../log/memory/store.ts";
import { introduction } from "../../test/support/core/members.ts";
import { openEngine, quiet, register, TestClock } from "../../test/support/engine/fixture.ts";
import type { Engine } from "./engine.ts";
import { InProcessForwarder, type BeatBatch } from "./forward.ts";

/** Counts what crosses, and may lose batches. */
class CountingForwarder extends InProcessForwarder {
  commands = 0;
  readonly batches: BeatBatch[] = [];
  isCut = false;

  override execute: InProcessForwarder["execute"] = (leader, command, by) => {
    this.commands += 1;
    return super.execute(leader, command, by);
  };

  override async beat(leader: string, batch: BeatBatch) {
    this.batches.push(batch);
    if (this.isCut) throw new Error("lost");
    return super.beat(leader, batch);
  }
}

async function openTwo() {
  const medium = new MemoryMedium();
  const clock = new TestClock();
  const forwarder = new CountingForwarder();
  const open = async (node: string) => {
    const { log } = memoryStore({ medium });
    const { engine } = await openEngine({ node, instance: `i-${node}`, log, clock, forwarder });
    forwarder.nodes.set(node, engine);
    await clock.advance(300);
    return engine;
  };
  const [leader, follower] = [await open("a"), await open("b")];
  const close = () => Promise.all([leader, follower].map((engine) => engine.close()));
  return { leader, follower, clock, forwarder, close };
}

function seenAtMs(engine: Engine, agentId: string) {
  return engine.peek((state) => state.agents.byId.get(agentId)?.seenAtMs);
}

test("heartbeats that come together are one message, answered when the leader has it", async () => {
  const { leader, follower, clock, forwarder, close } = await openTwo();
  const ids = await Promise.all(Array.from({ length: 100 }, () => register(follower, 3000)));
  await clock.advance(1500);
  forwarder.batches.length = 0;
  const { commands } = forwarder;
  let answers = 0;
  for (const agentId of ids) {
    void follower.heartbeat(agentId, LIBRARY).then(() => (answers += 1));
    void follower.heartbeat(agentId, LIBRARY).then(() => (answers += 1));
  }
  await quiet();
  expect(answers).toBe(0);
  await clock.advance(BEATS.everyMs);
  expect(answers).toBe(200);
  expect(forwarder.commands).toBe(commands);
  expect(forwarder.batches.map(({ unboundAgentIds }) => unboundAgentIds.length)).toEqual([100]);
  for (const agentId of ids) expect(seenAtMs(leader, agentId)).toBeGreaterThan(1500);
  // Where it came in, callers see it as well.
  for (const agentId of ids) expect(seenAtMs(follower, agentId)).toBeGreaterThan(1500);
  await close();
});

test("an agent bound to its key since the member looked is for the leader to judge", async () => {
  const { leader, close } = await openTwo();
  const card = { name: "a", description: "", version: "", capabilities: [], tools: [] };
  const facts = { card: { ...card, metadata: {} }, ttlMs: 30_000, keyHash: "its key" };
  const { agentId } = await leader.execute({ type: "agent.register", ...facts }, LIBRARY);
  const member = { node: "b", instance: "i-b" };
  const unbound = { ...member, agentIds: [], unboundAgentIds: [agentId] };
  expect(await leader.beatHere(unbound)).toEqual([]);
  await leader.execute({ type: "agent.heartbeat", agentId }, withAgentKey(LIBRARY, "its key"));
  expect(await leader.beatHere(unbound)).toEqual([agentId]);
  expect(await leader.beatHere({ ...member, agentIds: [agentId], unboundAgentIds: [] })).toEqual(
    [],
  );
  await close();
});

test("while the leader cannot be reached they wait for it, and then say so", async () => {
  const { follower, clock, forwarder, close } = await openTwo();
  const agentId = await register(follower, 30_000);
  forwarder.isCut = true;
  const passing = follower.heartbeat(agentId, LIBRARY);
  await clock.advance(1000);
  forwarder.isCut = false;
  await clock.advance(1000);
  expect(await passing).toBeNull();
  forwarder.isCut = true;
  const failure = follower.heartbeat(agentId, LIBRARY).catch((error: unknown) => error);
  await clock.advance(6000);
  expect(await failure).toMatchObject({ message: "lost" });
  await close();
});

test("of an agent that the leader does not take, the leader itself says why", async () => {
  const { leader, follower, clock, forwarder, close } = await openTwo();
  const agentId = await register(follower, 30_000);
  const beating = follower.heartbeat(agentId, LIBRARY).catch((error: unknown) => error);
  await leader.execute({ type: "agent.deregister", agentId }, LIBRARY);
  forwarder.commands = 0;
  await clock.advance(BEATS.everyMs);
  expect(await beating).toMatchObject({ code: "NOT_FOUND", message: `agent ${agentId} is dead` });
  expect(forwarder.commands).toBe(1);
  await close();
});

test("one that missed a heartbeat recovers by a batch", async () => {
  const { leader, follower, clock, forwarder, close } = await openTwo();
  const agentId = await register(follower, 2000);
  forwarder.isCut = true;
  const beating = follower.heartbeat(agentId, LIBRARY);
  await clock.advance(2500);
  const status = () => leader.peek((state) => state.agents.byId.get(agentId)?.agent.status);
  expect(status()).toBe("unreachable");
  forwarder.isCut = false;
  await clock.advance(100);
  await beating;
  expect(status()).toBe("alive");
  await close();
});

test("what waits when this node comes to lead is decided here", async () => {
  const { leader, follower, clock, forwarder, close } = await openTwo();
  const agentId = await register(follower, 30_000);
  forwarder.isCut = true;
  forwarder.nodes.delete("a");
  await leader.close();
  await clock.advance(3000);
  const beating = follower.heartbeat(agentId, LIBRARY);
  await clock.advance(5000);
  expect(follower.mode).toBe("leading");
  expect(await beating).toBeNull();
  await close();
});

test("signs of life keep a member, and silence loses it", async () => {
  const { leader, clock, forwarder, close } = await openTwo();
  const member = introduction({ node: "b", instance: "i-b", lostAfterMs: 10_000 });
  await leader.execute({ type: "node.join", member }, LIBRARY);
  const members = () => leader.peek((state) => [...state.members.byNode.keys()]);
  forwarder.batches.length = 0;
  await clock.advance(60_000);
  expect(members()).toEqual(["b"]);
  expect(forwarder.batches.length).toBeLessThanOrEqual(60_000 / BEATS.signMs);
  forwarder.isCut = true;
  await clock.advance(11_000);
  expect(members()).toEqual([]);
  await close();
});

test("many that wait for the leader at once are no leak, and nobody is warned of one", async () => {
  const { follower, clock, close } = await openTwo();
  const warnings: string[] = [];
  const hear = (warning: Error) => warnings.push(warning.message);
  process.on("warning", hear);
  const reads = Array.from({ length: 50 }, () => follower.read((_, sequence) => sequence));
  await clock.advance(100);
  await Promise.all(reads);
  await quiet();
  process.off("warning", hear);
  expect(warnings).toEqual([]);
  await close();
});
