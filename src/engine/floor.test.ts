import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LIBRARY } from "../core/by.ts";
import { sqliteStore } from "../log/sqlite/store.ts";
import { readWitness } from "../log/sqlite/witness.ts";
import { Engine } from "./engine.ts";

const CARD = { name: "a", description: "", version: "", capabilities: [], tools: [], metadata: {} };

async function grantOn(path: string) {
  const store = sqliteStore({ path });
  const engine = await Engine.open({ log: store.log });
  const register = { type: "agent.register", card: CARD, ttlMs: 0 } as const;
  const { agentId } = await engine.execute(register, LIBRARY);
  const acquire = { type: "lease.acquire", taskId: "key", agentId, ttlMs: 0 } as const;
  const { token } = (await engine.execute(acquire, LIBRARY)).lease;
  const campaign = { type: "election.campaign", group: "one", agentId } as const;
  const { term } = await engine.execute(campaign, LIBRARY);
  const resign = { type: "election.resign", group: "one", agentId } as const;
  const next = await engine.execute(resign, LIBRARY);
  await engine.close();
  await store.close();
  return { token, term, nextTerm: next.term };
}

test("tokens and terms go on above all others when the database is lost, also twice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-floor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "rollcall.db");
  expect(await grantOn(path)).toEqual({ token: 1, term: 1, nextTerm: 2 });
  const floor = readWitness(path)?.floor ?? 0;
  expect(floor).toBeGreaterThan(2);
  rmSync(path);
  const first = { token: floor + 1, term: floor + 1, nextTerm: floor + 2 };
  expect(await grantOn(path)).toEqual(first);
  expect(readWitness(path)?.floor).toBeGreaterThan(first.nextTerm);
  rmSync(path);
  expect((await grantOn(path)).token).toBeGreaterThan(first.nextTerm);
});
