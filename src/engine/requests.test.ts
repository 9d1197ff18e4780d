import { expect, test } from "vitest";
import { LIBRARY, withRequestId, type By } from "../core/by.ts";
import { RollcallError } from "../core/errors.ts";
import type { Command } from "../core/rules.ts";
import { memoryStore, MemoryMedium } from "../log/memory/store.ts";
import { card } from "../../test/support/core/fixture.ts";
import { openEngine, TestClock } from "../../test/support/engine/fixture.ts";
import { InProcessForwarder } from "./forward.ts";

/** The leader decides, and its answer never arrives. */
class LossyForwarder extends InProcessForwarder {
  isLossy = false;

  override async execute<C extends Command>(leader: string, command: C, by: By) {
    const forwarded = await super.execute(leader, command, by);
    if (this.isLossy) throw new RollcallError("UNAVAILABLE", "the answer was lost");
    return forwarded;
  }
}

const REGISTRATION = { type: "agent.register", card: card({}), ttlMs: 60_000 } as const;

async function openTwo() {
  const medium = new MemoryMedium();
  const clock = new TestClock();
  const forwarder = new LossyForwarder();
  const open = async (node: string) => {
    const { log } = memoryStore({ medium });
    const { engine } = await openEngine({ node, log, clock, forwarder });
    forwarder.nodes.set(node, engine);
    await clock.advance(10);
    return engine;
  };
  return { a: await open("a"), b: await open("b"), clock, forwarder };
}

test("a retry whose first answer was lost gets it from the next leader, and once", async () => {
  const { a, b, clock, forwarder } = await openTwo();
  const by = withRequestId(LIBRARY, "r1");
  forwarder.isLossy = true;
  const lost = b.execute(REGISTRATION, by).catch((error: unknown) => error);
  await clock.advance(6000);
  expect(await lost).toMatchObject({ code: "UNAVAILABLE" });
  const [agentId] = a.peek((state) => [...state.agents.byId.keys()]);
  forwarder.nodes.delete("a");
  await a.close();
  await clock.advance(8000);
  expect(b.mode).toBe("leading");
  expect((await b.execute(REGISTRATION, by)).agentId).toBe(agentId);
  expect(b.peek((state) => state.agents.byId.size)).toBe(1);
  await b.close();
});

test("a command that is forwarded is remembered, one that is not costs no event", async () => {
  const { a, b } = await openTwo();
  const remembered = () => a.peek((state) => state.requests.byName.size);
  await a.execute(REGISTRATION, LIBRARY);
  expect(remembered()).toBe(0);
  await b.execute(REGISTRATION, LIBRARY);
  expect(remembered()).toBe(1);
  for (const engine of [a, b]) await engine.close();
});

test("a late copy changes nothing once its caller was told that nothing changed", async () => {
  const { a } = await openTwo();
  const [holder, other] = [
    await a.execute(REGISTRATION, LIBRARY),
    await a.execute(REGISTRATION, LIBRARY),
  ];
  const wish = (agentId: string) =>
    ({ type: "lease.acquire", taskId: "t", agentId, ttlMs: 60_000 }) as const;
  const { lease } = await a.execute(wish(holder.agentId), LIBRARY);
  const by = withRequestId(LIBRARY, "r1");
  expect((await a.executeHere(wish(other.agentId), by)).reply.acquired).toBe(false);
  const released = { taskId: "t", agentId: holder.agentId, token: lease.token };
  await a.execute({ type: "lease.release", ...released }, LIBRARY);
  expect((await a.executeHere(wish(other.agentId), by)).reply.acquired).toBe(false);
  expect(a.peek((state) => state.leases.byTask.size)).toBe(0);
  // Asked under another name it is another request.
  const again = await a.executeHere(wish(other.agentId), withRequestId(LIBRARY, "r2"));
  expect(again.reply.acquired).toBe(true);
  await a.close();
});

test("a refusal is the answer of a late copy, too", async () => {
  const { a } = await openTwo();
  const by = withRequestId(LIBRARY, "r1");
  const policy = { id: "p", subject: "*", action: "*", resource: "*", effect: "deny" } as const;
  const remove = { type: "policy.delete", id: "p" } as const;
  await expect(a.executeHere(remove, by)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await a.execute({ type: "policy.set", policy }, LIBRARY);
  await expect(a.executeHere(remove, by)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await a.close();
});
