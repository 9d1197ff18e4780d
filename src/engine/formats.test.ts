/** Two versions of the program on one log, as while a cluster is upgraded. */
import { expect, test } from "vitest";
import { openEngine, register, TestClock, TestLog } from "../../test/support/engine/fixture.ts";
import { introduction } from "../../test/support/core/members.ts";
import { LIBRARY } from "../core/by.ts";
import { RollcallError } from "../core/errors.ts";
import { FORMATS, MOVING_JOBS, SINCE, writes } from "../core/formats.ts";
import { rules, type Rules } from "../core/rules.ts";
import { fingerprint } from "../core/snapshot.ts";
import { memoryStore, MemoryMedium } from "../log/memory/store.ts";
import type { Engine } from "./engine.ts";
import { InProcessForwarder } from "./forward.ts";

/** The version before: it stops at what came with the newest format, and writes none of it. */
const BEFORE: Rules = {
  ...rules,
  formats: [1, FORMATS[1] - 1],
  evolve(state, event, atMs) {
    const isNew = (SINCE[event.type] ?? 1) > BEFORE.formats[1];
    if (isNew) throw new RollcallError("STORAGE_TOO_NEW", `unknown event ${event.type}`);
    rules.evolve(state, event, atMs);
  },
};

class Upgrade {
  readonly clock = new TestClock();
  readonly #medium = new MemoryMedium();
  readonly #forwarder = new InProcessForwarder();

  /** Starts a node of one version; it joins once somebody leads. */
  async start(node: string, version: Rules): Promise<Engine> {
    const log = new TestLog(memoryStore({ medium: this.#medium }).log);
    const { clock } = this;
    const forwarder = this.#forwarder;
    const { engine } = await openEngine({ node, log, clock, forwarder, rules: version });
    forwarder.nodes.set(node, engine);
    await clock.advance(10);
    return engine;
  }

  join(engine: Engine, version: Rules): Promise<unknown> {
    const { node } = engine;
    const member = introduction({ node, instance: node, formats: version.formats });
    return engine.execute({ type: "node.join", member }, LIBRARY);
  }

  async stop(engine: Engine): Promise<void> {
    const { node } = engine;
    const leave = { type: "node.leave", node, instance: node } as const;
    await engine.execute(leave, LIBRARY);
    this.#forwarder.nodes.delete(node);
    await engine.close();
    await this.clock.advance(1000);
  }
}

const FINALIZE = { type: "node.finalize" } as const;

test("members are upgraded one by one, and the log says what is new when all are", async () => {
  const upgrade = new Upgrade();
  const a = await upgrade.start("a", BEFORE);
  const b = await upgrade.start("b", BEFORE);
  for (const engine of [a, b]) await upgrade.join(engine, BEFORE);
  await upgrade.stop(a);
  const newA = await upgrade.start("a", rules);
  await upgrade.join(newA, rules);
  // The new one leads, and the old one reads all that it writes.
  await b.stepDown();
  await upgrade.clock.advance(1000);
  expect([newA.mode, b.mode]).toEqual(["leading", "following"]);
  const agentId = await register(b);
  expect(newA.peek((state) => writes(state, MOVING_JOBS))).toBe(false);
  await expect(newA.execute(FINALIZE, LIBRARY)).rejects.toMatchObject({ code: "WRONG_STATE" });
  expect(await b.read((state) => state.agents.byId.has(agentId))).toBe(true);
  expect(b.peek(fingerprint)).toBe(newA.peek(fingerprint));

  await upgrade.stop(b);
  const newB = await upgrade.start("b", rules);
  await upgrade.join(newB, rules);
  expect(await newB.execute(FINALIZE, LIBRARY)).toEqual({ format: FORMATS[1] });
  expect(newA.peek((state) => writes(state, MOVING_JOBS))).toBe(true);
  await newB.read(() => undefined);
  expect(newB.peek(fingerprint)).toBe(newA.peek(fingerprint));

  // One that was forgotten is told to be upgraded, at its start and as a member.
  await expect(upgrade.start("c", BEFORE)).rejects.toMatchObject({ code: "STORAGE_TOO_NEW" });
  const late = introduction({ node: "c", formats: BEFORE.formats });
  const join = newA.execute({ type: "node.join", member: late }, LIBRARY);
  await expect(join).rejects.toMatchObject({ code: "STORAGE_TOO_NEW" });
  for (const engine of [newA, newB]) await engine.close();
});

test("an older member that missed the end of the upgrade stops answering", async () => {
  const upgrade = new Upgrade();
  const old = await upgrade.start("old", BEFORE);
  const recent = await upgrade.start("recent", rules);
  await old.stepDown();
  await upgrade.clock.advance(1000);
  expect(recent.mode).toBe("leading");
  // It never joined, so nobody knows of it.
  await recent.execute(FINALIZE, LIBRARY);
  await upgrade.clock.advance(1000);
  expect(old.mode).toBe("outdated");
  await expect(register(old)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  for (const engine of [old, recent]) await engine.close();
});

test("a log that members of this version begin is in its newest format", async () => {
  const upgrade = new Upgrade();
  const engine = await upgrade.start("a", rules);
  expect(engine.peek(({ format }) => format)).toBe(FORMATS[1]);
  await engine.close();
});
