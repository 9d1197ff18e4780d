import { describe, expect, test } from "vitest";
import { World } from "../../test/support/core/fixture.ts";
import { beatBy } from "./acting.ts";
import { keysOf } from "./agents.ts";
import { byOf, LIBRARY, namedBy, withAgentKey, type By } from "./by.ts";
import { LOCAL, type Role } from "./principals.ts";
import type { Command } from "./rules.ts";
import { capture, fingerprint, restore } from "./snapshot.ts";

const ann = namedBy("token:ann", "grpc");
const bob = namedBy("token:bob", "http");
const KEY = "a".repeat(64);

function caller(role: Role): By {
  return byOf({ ...LOCAL, name: `token:${role}`, roles: [role] }, "http");
}

/** An agent of ann's that holds a lease, leads a group and works on a task. */
function ground() {
  const world = new World();
  world.by = ann;
  const agentId = world.register();
  world.run({ type: "lease.acquire", taskId: "k", agentId, ttlMs: 0 });
  world.run({ type: "election.campaign", group: "g", agentId });
  const taskId = world.create();
  world.run({ type: "task.claim", agentId });
  const { token } = world.state.leases.byTask.get("k")?.lease ?? { token: 0 };
  const acts: Command[] = [
    { type: "agent.heartbeat", agentId },
    { type: "lease.acquire", taskId: "other", agentId, ttlMs: 0 },
    { type: "lease.renew", taskId: "k", agentId, token, ttlMs: 0 },
    { type: "lease.release", taskId: "k", agentId, token },
    { type: "election.campaign", group: "h", agentId },
    { type: "election.resign", group: "g", agentId },
    { type: "task.claim", agentId },
    { type: "task.renew", taskId, agentId },
    { type: "task.fail", taskId, agentId, reason: "" },
    { type: "task.complete", taskId, agentId, output: "" },
    { type: "task.cancel", taskId, reason: "" },
    { type: "agent.deregister", agentId },
  ];
  return { world, agentId, acts };
}

describe("acting for an agent", () => {
  test("needs to be its registrant", () => {
    const { world, acts } = ground();
    world.by = bob;
    for (const act of acts) expect(world.refusal(act)).toMatch(/^PERMISSION_DENIED: .* token:bob$/);
    world.by = ann;
    for (const act of acts) expect(world.decide(act)).toMatchObject({ ok: true });
  });

  test.each(["operator", "admin"] as const)("or an %s", (role) => {
    const { world, acts } = ground();
    world.by = caller(role);
    for (const act of acts) expect(world.decide(act)).toMatchObject({ ok: true });
  });

  test("is for nobody else, whatever the role", () => {
    const { world, acts } = ground();
    for (const role of ["viewer", "agent", "outpost"] as const) {
      world.by = caller(role);
      for (const act of acts) expect(world.refusal(act)).toMatch(/^PERMISSION_DENIED/);
    }
  });

  test("that was registered before there were principals is for local", () => {
    const world = new World();
    const agentId = world.register();
    world.by = namedBy("local", "grpc");
    world.run({ type: "agent.heartbeat", agentId });
    world.by = bob;
    expect(world.refusal({ type: "agent.deregister", agentId })).toMatch(/^PERMISSION_DENIED/);
  });

  test("by a heartbeat that leaves no trace is asked the same", () => {
    const { world, agentId } = ground();
    const hears = (by: By) => beatBy(world.state, { agentId, by }, world.nowMs);
    expect([ann, LIBRARY, bob].map(hears)).toEqual([true, true, false]);
  });
});

describe("the key of an agent", () => {
  function keyed() {
    const world = new World();
    world.by = ann;
    const card = { name: "a", description: "", version: "", capabilities: [], tools: [] };
    const facts = { card: { ...card, metadata: {} }, ttlMs: 0, keyHash: KEY };
    const { agentId } = world.run({ type: "agent.register", ...facts });
    return { world, agentId, beat: { type: "agent.heartbeat", agentId } as const };
  }

  test("binds it once it was used, for its own principal too; an operator needs none", () => {
    const { world, beat } = keyed();
    world.run(beat);
    world.by = withAgentKey(ann, KEY);
    expect(world.topicsOf(() => world.run(beat))).toEqual(["agent.bound"]);
    expect(world.topicsOf(() => world.run(beat))).toEqual([]);
    world.by = ann;
    expect(world.refusal(beat)).toMatch(/is bound to its key: send it as rollcall-agent-key$/);
    world.by = caller("operator");
    world.run(beat);
  });

  test("decides wherever it is presented: right for anybody, wrong for nobody", () => {
    const { world, beat } = keyed();
    for (const by of [ann, bob, caller("admin")]) {
      world.by = withAgentKey(by, "b".repeat(64));
      expect(world.refusal(beat)).toMatch(/^PERMISSION_DENIED: the key is not that of agent/);
    }
    world.by = withAgentKey(bob, KEY);
    world.run(beat);
  });

  test("takes its first heartbeat to the log, and later ones not", () => {
    const { world, agentId, beat } = keyed();
    const hears = () => beatBy(world.state, { agentId, by: withAgentKey(ann, KEY) }, world.nowMs);
    expect(hears()).toBe(false);
    world.by = withAgentKey(ann, KEY);
    world.run(beat);
    expect(hears()).toBe(true);
  });

  test("is kept over a start, as a digest and whether it was used", async () => {
    const { world, beat } = keyed();
    world.by = withAgentKey(ann, KEY);
    world.run(beat);
    expect(fingerprint(await restore(capture(world.state)))).toBe(fingerprint(world.state));
    const [key] = keysOf(world.state);
    expect(key).toMatchObject({ keyHash: KEY, isBound: true });
  });
});

describe("the token of a lease", () => {
  test("is told to its holder's principal and to operators; others read 0", () => {
    const { world } = ground();
    const asks = (by: By) => {
      world.by = by;
      const agentId = world.register();
      return world.run({ type: "lease.acquire", taskId: "k", agentId, ttlMs: 0 }).lease.token;
    };
    const [holder, operator, other] = [ann, caller("operator"), bob].map(asks);
    expect({ holder, operator, other }).toEqual({ holder: 1, operator: 1, other: 0 });
  });
});

describe("commands of the daemon itself", () => {
  test.each<Command>([
    { type: "policy.delete", id: "p" },
    { type: "token.revoke", name: "ci" },
    { type: "directory.remove", url: "http://a.example" },
    { type: "job.revive", jobId: "j", node: "n1", again: true },
    { type: "credential.request", jobId: "j" },
  ])("are no agent's: $type", (command) => {
    const world = new World();
    world.by = caller("agent");
    expect(world.refusal(command)).toBe(`PERMISSION_DENIED: token:agent may not ${command.type}`);
  });
});
