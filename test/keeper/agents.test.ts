import { describe, expect, test } from "vitest";
import { codeOf } from "../../src/core/errors.ts";
import type { AgentState } from "../../src/wires/keeper/client/presence.ts";
import type { RegisterOptions } from "../../src/wires/keeper/client/keeper.ts";
import { TestClock } from "../support/engine/fixture.ts";
import { clientOf, daemonOf, folder, lineTo, pass, portOf } from "./fixture.ts";

async function registered(options: Partial<RegisterOptions> = {}) {
  const clock = new TestClock();
  const daemon = await daemonOf({ clock });
  const line = await lineTo(daemon.grpcAddress);
  const near = clientOf(line.address, { clock, random: () => 0.5 });
  const far = clientOf(daemon.grpcAddress, { clock });
  const states: AgentState[] = [];
  const agent = await near.register({
    name: "a",
    ttlMs: 6_000,
    onState: (state) => states.push(state),
    ...options,
  });
  return { clock, daemon, line, near, far, agent, states };
}

function kinds(states: readonly AgentState[]): readonly string[] {
  return states.map(({ kind }) => kind);
}

test("an agent stays alive by itself, many times its ttl", async () => {
  const { clock, far, agent, states } = await registered();
  await pass(clock, far, 30_000);
  expect(states).toEqual([]);
  expect((await far.getAgent(agent.id)).status).toBe("alive");
});

test("an agent that loses touch says so, and back in time it is the same one", async () => {
  const { clock, line, far, agent, states } = await registered();
  const { id, signal } = agent;
  line.freeze();
  await pass(clock, far, 7_000);
  expect(states).toEqual([{ kind: "unconfirmed", id }]);
  expect((await far.getAgent(id)).status).toBe("unreachable");
  line.thaw();
  await pass(clock, far, 3_000);
  expect(states.at(-1)).toEqual({ kind: "alive", id });
  expect([agent.id, signal.aborted]).toEqual([id, false]);
  expect((await far.getAgent(id)).status).toBe("alive");
});

describe("an agent that was declared dead", () => {
  test("comes back under a new id, and its old life is over", async () => {
    const { clock, line, far, agent, states } = await registered();
    const { id, signal } = agent;
    const lease = await agent.acquireLease("t", { ttlMs: 3_600_000 });
    line.freeze();
    await pass(clock, far, 14_000);
    expect((await far.getAgent(id)).status).toBe("dead");
    expect(lease?.signal.aborted).toBe(true);
    line.thaw();
    await pass(clock, far, 4_000);
    expect(kinds(states)).toEqual(["unconfirmed", "dead", "alive"]);
    expect(states.at(-1)).toEqual({ kind: "alive", id: agent.id, formerId: id });
    expect(agent.id).not.toBe(id);
    expect(codeOf(signal.reason)).toBe("NOT_FOUND");
    expect(String(signal.reason)).toContain(`agent ${id} was declared dead`);
    expect(agent.signal.aborted).toBe(false);
    await pass(clock, far, 15_000);
    expect((await far.getAgent(agent.id)).status).toBe("alive");
    expect(await agent.acquireLease("t")).toBeDefined();
  });

  test("stays dead if it should, and says so", async () => {
    const { clock, line, far, agent, states } = await registered({ reregister: false });
    const { id } = agent;
    line.freeze();
    await pass(clock, far, 14_000);
    line.thaw();
    await pass(clock, far, 4_000);
    expect(kinds(states)).toEqual(["unconfirmed", "dead"]);
    expect([agent.id, agent.signal.aborted]).toEqual([id, true]);
    await agent.close();
  });
});

test("a restart of the daemon is survived without anybody noticing", async () => {
  const clock = new TestClock();
  const dataDir = folder();
  const first = await daemonOf({ clock, dataDir });
  const port = portOf(first.grpcAddress);
  const states: AgentState[] = [];
  const keeper = clientOf(first.grpcAddress, { clock });
  const agent = await keeper.register({ name: "a", onState: (state) => states.push(state) });
  const lease = await agent.acquireLease("t");
  await first.close();
  await clock.advance(5_000);
  const second = await daemonOf({ clock, dataDir, port });
  const witness = clientOf(second.grpcAddress, { clock });
  await pass(clock, witness, 60_000);
  expect(states).toEqual([]);
  expect((await witness.getAgent(agent.id)).status).toBe("alive");
  expect(lease?.isHeld).toBe(true);
}, 20_000);
