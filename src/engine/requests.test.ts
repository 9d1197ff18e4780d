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
