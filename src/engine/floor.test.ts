import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { LIBRARY } from "../core/by.ts";
import { sqliteStore } from "../log/sqlite/store.ts";
import { backUp, beginRestore, compact, verify } from "../log/sqlite/upkeep.ts";
import { readWitness } from "../log/sqlite/witness.ts";
import { Engine } from "./engine.ts";

const CARD = { name: "a", description: "", version: "", capabilities: [], tools: [], metadata: {} };

async function grantOn(path: string) {
  const store = sqliteStore({ path });
  const engine = await Engine.open({ log: store.log });
  const register = { type: "agent.register", card: CARD, ttlMs: 0 } as const;
  const { agentId } = await engine.execute(register, LIBRARY);
  const acquire = { type: "lease.acquire", taskId: agentId, agentId, ttlMs: 0 } as const;
  const { token } = (await engine.execute(acquire, LIBRARY)).lease;
  const campaign = { type: "election.campaign", group: agentId, agentId } as const;
  const { term } = await engine.execute(campaign, LIBRARY);
  const resign = { type: "election.resign", group: agentId, agentId } as const;
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

/** Opened and closed as commands do that look at it. */
async function lookedAt(path: string): Promise<void> {
  const store = sqliteStore({ path });
  await store.log.open();
  await store.close();
}

test("tokens go on above all others after a restore, whatever looks at it first", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-floor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "rollcall.db");
  await grantOn(path);
  const target = join(folder, "one.backup");
  await backUp({ path, target, madeBy: "this test" });
  const { token: last } = await grantOn(path);
  rmSync(path);
  await beginRestore(target, path).commit();
  await lookedAt(path);
  await verify(path);
  await compact(path);
  await backUp({ path, target: join(folder, "two.backup"), madeBy: "this test" });
  const floor = readWitness(path)?.floor ?? 0;
  const { token } = await grantOn(path);
  expect(token).toBeGreaterThan(last);
  expect(token).toBe(floor + 1);
  // From here on it is a database as any other.
  expect((await grantOn(path)).token).toBe(token + 1);
});

test("tokens go on when a start on an empty place ends before it leads", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-floor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "rollcall.db");
  const { token: last } = await grantOn(path);
  rmSync(path);
  await lookedAt(path);
  expect((await grantOn(path)).token).toBeGreaterThan(last);
  rmSync(path);
  // Ended before anything was written but the empty file.
  writeFileSync(path, "");
  await lookedAt(path).catch(() => rmSync(path));
  expect((await grantOn(path)).token).toBeGreaterThan(last);
});

test("a witness whose head cannot be read is no reason to hand out a token twice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-floor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "rollcall.db");
  await grantOn(path);
  const witness = `${path}.witness`;
  const floor = readWitness(path)?.floor ?? 0;
  writeFileSync(witness, readFileSync(witness).subarray(0, 128));
  await lookedAt(path);
  expect((await grantOn(path)).token).toBe(floor + 1);
});

test("a database that is moved away under an engine ends its term until it is back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-floor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "rollcall.db");
  const store = sqliteStore({ path });
  const troubles: string[] = [];
  const onTrouble = (what: string) => troubles.push(what);
  const engine = await Engine.open({ log: store.log, onTrouble });
  const leads = (isLeading: boolean) =>
    vi.waitFor(() => expect(engine.mode === "leading").toBe(isLeading), { timeout: 20_000 });
  const register = () => engine.execute({ type: "agent.register", card: CARD, ttlMs: 0 }, LIBRARY);
  await register();
  renameSync(path, `${path}.moved`);
  await leads(false);
  await expect(register()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(register()).rejects.toThrow(`${path} was moved or deleted`);
  renameSync(`${path}.moved`, path);
  await leads(true);
  await register();
  // Told once, not with every try.
  expect(troubles.length).toBeLessThanOrEqual(3);
  await engine.close();
  await store.close();
});
