import { expect, test } from "vitest";
import { audit } from "../../test/support/core/audit.ts";
import { ENGINE } from "./limits.ts";
import { rules } from "./rules.ts";
import { capture, capturedAtMs, fingerprint, restore } from "./snapshot.ts";
import { emptyState, type State } from "./state.ts";
import { DAY, SECOND, START_MS, World } from "../../test/support/core/fixture.ts";
import { JobWorld, told } from "../../test/support/core/job-world.ts";

/** A world with something of everything in it. */
function fullWorld(): World {
  const world = new World();
  world.lead("n1");
  const [a, b] = [world.register({ tools: ["sql"] }), world.register({ ttlMs: 60 * SECOND })];
  const dead = world.register();
  world.acquire(a, "k1");
  world.acquire(dead, "k2");
  for (const agentId of [dead, b, a]) world.campaign(agentId, "g");
  world.campaign(b, "left");
  world.run({ type: "election.resign", group: "left", agentId: b });
  const policy = { id: "p", subject: "*", action: "*", resource: "*", effect: "deny" } as const;
  world.run({ type: "policy.set", policy });
  world.create({ maxRetries: 1, ttlMs: 60 * SECOND });
  world.create({ input: "aGk=", requiredTools: ["sql"] });
  world.create();
  world.claim(b);
  const taskId = world.claim(a) ?? "";
  world.run({ type: "task.complete", taskId, agentId: a, output: "b2s=" });
  world.run({ type: "agent.deregister", agentId: dead });
  return world;
}

test("a restored state is the one that was captured, and works as well", async () => {
  const { state } = fullWorld();
  const restored = await restore(capture(state));
  expect(fingerprint(restored)).toBe(fingerprint(state));
  expect(audit(restored)).toEqual([]);
  expect(restored.fencing).toEqual(state.fencing);
  expect(restored.tasks.pending.inOrder()).toEqual(state.tasks.pending.inOrder());
});

test("an empty state survives, too", async () => {
  expect(fingerprint(await restore(capture(emptyState())))).toBe(fingerprint(emptyState()));
  expect(await restore([])).toEqual(emptyState());
});

test("what changes while a snapshot is written is not in it", async () => {
  const world = fullWorld();
  const before = fingerprint(world.state);
  const pieces = capture(world.state);
  const agentId = world.register();
  world.acquire(agentId, "new");
  world.campaign(agentId, "g");
  world.create();
  world.pass(2 * DAY);
  expect(fingerprint(await restore(pieces))).toBe(before);
});

test("the first piece tells when the state was captured", () => {
  const world = fullWorld();
  const [first = ""] = capture(world.state);
  expect(capturedAtMs(first)).toBe(START_MS);
});

test("tasks that were requeued wait in the order they came back", async () => {
  const world = new World();
  const agentId = world.register();
  const ids = [world.create({ maxRetries: 1 }), world.create(), world.create({ maxRetries: 1 })];
  world.claim(agentId);
  world.run({ type: "task.fail", taskId: ids[0] ?? "", agentId, reason: "" });
  const restored = await restore(capture(world.state));
  expect(restored.tasks.pending.inOrder()).toEqual([ids[1], ids[2], ids[0]]);
});

test("a claimed task goes back to its old place after a restart, too", async () => {
  const world = new World();
  const agentId = world.register();
  const ids = [world.create(), world.create(), world.create()];
  world.claim(agentId);
  world.claim(agentId);
  const restored = await restore(capture(world.state));
  for (const [i, token] of [2, 1].entries()) {
    const taskId = ids[token - 1] ?? "";
    expect(restored.tasks.pending.firstFor([])).toBe(ids[2 - i]);
    rules.evolve(restored, { type: "task.returned", taskId, agentId }, world.nowMs);
  }
  expect(restored.tasks.pending.firstFor([])).toBe(ids[0]);
  expect(audit(restored)).toEqual([]);
});

test("a snapshot of version 1 has no place for claimed tasks, and loses none", async () => {
  const world = new World();
  const agentId = world.register();
  const ids = [world.create(), world.create(), world.create()];
  world.claim(agentId);
  const old = [...capture(world.state)].map((piece) =>
    piece.replace('"version":8', '"version":1').replace(/("part":"queue".*\[)"\w+",/, "$1"),
  );
  expect(old.at(-1)).toBe(`{"part":"queue","records":["${ids[1]}","${ids[2]}"]}`);
  const restored = await restore(old);
  expect(fingerprint(restored)).toBe(fingerprint(world.state));
});

test("the next candidate in line is the same after a restart", async () => {
  const world = fullWorld();
  const candidates = world.state.elections.byGroup.get("g")?.candidates;
  const restored = await restore(capture(world.state));
  expect([...(restored.elections.byGroup.get("g")?.candidates ?? [])]).toEqual([
    ...(candidates ?? []),
  ]);
});

test("the next principal in line for a slot is the same after a restart", async () => {
  const world = new JobWorld({ running: 2 });
  const running = [world.submit({ principal: "bob" }), world.submit({ principal: "bob" })];
  for (let i = 0; i < 3; i += 1) {
    for (const principal of ["bob", "ann", "cid"]) world.submit({ principal });
  }
  world.end(running[0] ?? "");
  const started = async (state: State) => {
    const again = new JobWorld();
    Object.assign(again, { state: await restore(capture(state)) });
    again.limit({ running: 2 });
    return told(again.end(running[1] ?? ""));
  };
  const expected = await started(world.state);
  expect(told(world.end(running[1] ?? ""))).toEqual(expected);
});

test("tokens and terms go on after a restart, even of what is gone", async () => {
  const world = fullWorld();
  world.pass(2 * DAY);
  const { fencing, elections } = await restore(capture(world.state));
  expect(fencing.lastToken).toBe(4);
  expect(elections.byGroup.size).toBe(0);
  expect(elections.termFloor).toBe(3);
});

test("no piece is larger than one can write without holding up others", () => {
  const world = new World();
  const input = "a".repeat(300_000);
  for (let i = 0; i < 20; i += 1) world.create({ input });
  for (let i = 0; i < 1200; i += 1) world.register();
  const pieces = [...capture(world.state)];
  for (const piece of pieces) {
    expect(piece.length).toBeLessThan(ENGINE.snapshotChunkBytes + input.length + 1000);
  }
  const agents = pieces.filter((piece) => piece.startsWith('{"part":"agents"'));
  expect(agents).toHaveLength(Math.ceil(1200 / ENGINE.snapshotChunkRecords));
});

test("a snapshot of a newer program is refused, not misread", async () => {
  const [first = "", ...others] = capture(fullWorld().state);
  const newer = first.replace('"version":8', '"version":11');
  await expect(restore([newer, ...others])).rejects.toMatchObject({ code: "STORAGE_TOO_NEW" });
});

test("states that differ have different fingerprints", () => {
  const [world, other] = [fullWorld(), fullWorld()];
  expect(fingerprint(world.state)).toBe(fingerprint(other.state));
  rules.evolve(other.state, { type: "policy.deleted", id: "p" }, other.nowMs);
  expect(fingerprint(world.state)).not.toBe(fingerprint(other.state));
});
