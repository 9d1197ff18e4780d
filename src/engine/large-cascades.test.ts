import { expect, test } from "vitest";
import { LIBRARY } from "../core/by.ts";
import type { Event } from "../core/events.ts";
import { COUNT, FIELD, LOG } from "../core/limits.ts";
import { rules } from "../core/rules.ts";
import { leaderOf, NAMES, openCluster } from "../../test/support/engine/cluster.ts";
import { register } from "../../test/support/engine/fixture.ts";

test("a cluster goes on when an agent dies with more than an append can tell of", async () => {
  const { first, second, third, clock } = await openCluster(NAMES);
  const agentId = await register(first.engine, 2000);
  for (let i = 0; i < COUNT.leasesPerAgent; i += 1) {
    const taskId = `${i} `.padEnd(FIELD.keyLength, "界");
    void first.engine.execute(
      { type: "lease.acquire", agentId, taskId, ttlMs: 3_600_000 },
      LIBRARY,
    );
  }
  await clock.advance(100);
  expect(first.engine.peek(({ leases }) => leases.byTask.size)).toBe(COUNT.leasesPerAgent);
  await clock.advance(20_000);
  const nodes = [first, second, third];
  const leader = leaderOf(nodes);
  expect(leader?.peek((s) => s.agents.byId.get(agentId)?.agent.status)).toBe("dead");
  expect(leader?.peek(({ leases }) => leases.byTask.size)).toBe(0);
  expect(leader?.peek(({ leadership }) => leadership.epoch)).toBe(1);
  for (const { engine } of nodes) await engine.close();
});

test("what is due and more than one append takes goes with several", async () => {
  let isDue = false;
  const forgotten = (name: string): Event => ({
    type: "fleet.forgotten",
    alias: name.repeat(LOG.sharedAppendBytes / 3),
  });
  const many = {
    ...rules,
    due: (...given: Parameters<typeof rules.due>) => (isDue ? 0 : rules.due(...given)),
    expire: (...given: Parameters<typeof rules.expire>) => {
      if (!isDue) return rules.expire(...given);
      isDue = false;
      return ["a", "b", "c", "d"].map(forgotten);
    },
  };
  const { first, second, third, clock } = await openCluster(NAMES, { rules: many });
  const { head } = first.engine;
  isDue = true;
  await clock.advance(10_000);
  expect(first.engine.mode).toBe("leading");
  expect(first.engine.head).toBe(head + 4);
  expect(second.engine.head).toBe(head + 4);
  for (const { engine } of [first, second, third]) await engine.close();
});

test("a member that does not lead takes as large a task as the leader", async () => {
  const { first, second, third, clock } = await openCluster(NAMES);
  const input = Buffer.alloc(FIELD.taskInputBytes).toString("base64");
  const rest = { taskType: "t", requiredTools: [], maxRetries: 0, ttlMs: 0 };
  const create = { type: "task.create", input, ...rest } as const;
  await first.engine.execute(create, LIBRARY);
  const created = second.engine.execute(create, LIBRARY);
  await clock.advance(1_000);
  expect((await created).input).toHaveLength(input.length);
  for (const { engine } of [first, second, third]) await engine.close();
});
