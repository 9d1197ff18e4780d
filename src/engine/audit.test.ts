import { beforeEach, describe, expect, test } from "vitest";
import { quiet, TestClock, TestLog } from "../../test/support/engine/fixture.ts";
import { byOf, LIBRARY, namedBy } from "../core/by.ts";
import { AUDIT, ENGINE } from "../core/limits.ts";
import { LOCAL, NOBODY } from "../core/principals.ts";
import { DAY, SECOND } from "../core/units.ts";
import { memoryStore } from "../log/memory/store.ts";
import type { Store } from "../log/store.ts";
import { Audit } from "./audit.ts";
import { Engine } from "./engine.ts";

const ann = namedBy("token:ann", "grpc", "127.0.0.1");
const POLICY = { id: "web", subject: "*", action: "*", resource: "*", effect: "deny" } as const;

let store: Store;
let clock: TestClock;
let audit: Audit;

beforeEach(async () => {
  store = memoryStore();
  clock = new TestClock();
  audit = new Audit({ streams: store.streams, clock });
  await store.log.open();
});

const all = async () => (await audit.list({ limit: 1_000 })).entries;

function denials(action: string, times = 1): void {
  for (let i = 0; i < times; i += 1) {
    audit.denied({ by: ann, action, target: "" }, "it may not");
  }
}

describe("denials", () => {
  test("of one caller and action are one entry a minute, with their count", async () => {
    denials("policy.set", 10_000);
    denials("token.create");
    expect((await store.streams.range("audit")).head).toBe(0);
    expect(await all()).toHaveLength(2);
    await clock.advance(AUDIT.countedMs);
    expect((await store.streams.range("audit")).head).toBe(2);
    denials("policy.set");
    expect(await all()).toMatchObject([
      { action: "policy.set", count: 1 },
      {
        by: { principal: "token:ann", wire: "grpc", peer: "127.0.0.1" },
        action: "policy.set",
        outcome: "denied",
        count: 10_000,
        reason: "it may not",
      },
      { action: "token.create", count: 1 },
    ]);
  });

  test("of ever other callers are bounded: the rest of a minute is one entry", async () => {
    for (let i = 0; i < AUDIT.denials + 500; i += 1) {
      audit.denied({ by: namedBy(`n${i}`, "http"), action: "a", target: "" }, "");
    }
    const entries = await audit.list({ limit: 2_000 });
    expect(entries.entries).toHaveLength(AUDIT.denials + 1);
    expect(entries.entries).toContainEqual(expect.objectContaining({ count: 500 }));
  });

  test("of one principal by other wires and peers are told apart", async () => {
    const from = (wire: "http" | "grpc", peer: string) =>
      audit.denied({ by: namedBy("token:ann", wire, peer), action: "a", target: "" }, "");
    from("http", "10.0.0.1");
    from("http", "10.0.0.2");
    from("grpc", "10.0.0.2");
    from("grpc", "10.0.0.2");
    expect((await all()).map(({ count }) => count).join("")).toMatch(/^(112|121|211)$/);
  });

  test("of one principal by ever other peers are a few entries, and hide no other's", async () => {
    const from = (name: string, peer: string) =>
      audit.denied({ by: namedBy(name, "http", peer), action: "task.create", target: "" }, "no");
    for (let i = 0; i < 5_000; i += 1) from("token:ann", `2001:db8::${i.toString(16)}`);
    from("token:bob", "10.0.0.9");
    const entriesOf = async (name: string) =>
      (await audit.list({ limit: 10_000, by: name })).entries;
    const anns = await entriesOf("token:ann");
    expect(anns).toHaveLength(AUDIT.denialsOfOne + 1);
    expect(anns.map(({ count }) => count).toSorted((a, b) => b - a)).toEqual([
      5_000 - AUDIT.denialsOfOne,
      ...Array.from({ length: AUDIT.denialsOfOne }, () => 1),
    ]);
    expect(anns).toContainEqual(
      expect.objectContaining({
        by: { principal: "token:ann", wire: "", peer: "" },
        action: "",
        reason: "more wires, peers and actions of this caller than are told apart",
      }),
    );
    expect(await entriesOf("token:bob")).toMatchObject([{ by: { peer: "10.0.0.9" }, count: 1 }]);
    // The next minute begins anew.
    await clock.advance(AUDIT.countedMs);
    from("token:ann", "10.0.0.1");
    expect(await entriesOf("token:ann")).toContainEqual(
      expect.objectContaining({ by: { principal: "token:ann", wire: "http", peer: "10.0.0.1" } }),
    );
  });

  test("of one principal on this machine are one kind, by whatever loopback address", async () => {
    for (const peer of ["127.0.0.1", "127.0.0.2", "::ffff:127.0.0.3", "::1"]) {
      audit.denied({ by: namedBy("token:ann", "http", peer), action: "a", target: "" }, "no");
    }
    expect(await all()).toMatchObject([{ by: { peer: "127.0.0.1" }, count: 4 }]);
  });

  test("of strangers are counted for an hour, a hundred kinds of them", async () => {
    const stranger = (peer: number, reason = "no token") =>
      audit.denied(
        { by: byOf(NOBODY, "http", `10.0.0.${peer}`), action: "authenticate", target: "" },
        reason,
      );
    stranger(1);
    stranger(1, "user 4000");
    await clock.advance(AUDIT.countedMs);
    for (let i = 0; i < 50; i += 1) stranger(1);
    await clock.advance(AUDIT.countedMs);
    expect((await store.streams.range("audit")).head).toBe(2);
    expect((await all()).map(({ count }) => count)).toEqual([50, 1, 1]);
    for (let peer = 2; peer < AUDIT.strangers + 20; peer += 1) stranger(peer);
    const rest = { reason: "more callers than are told apart", count: 20 };
    expect(await all()).toContainEqual(expect.objectContaining(rest));
    expect(await all()).toHaveLength(AUDIT.strangers + 2);
    await clock.advance(AUDIT.strangersMs);
    expect((await store.streams.range("audit")).head).toBe(AUDIT.strangers + 2);
    expect(clock.timers).toBe(0);
  });

  test("are written within a second, and those that repeat them after a minute", async () => {
    const written = async () => {
      const { entries } = await new Audit({ streams: store.streams, clock }).list({ limit: 10 });
      return entries.map(({ count }) => count);
    };
    denials("policy.set", 2);
    await clock.advance(AUDIT.writtenMs);
    expect(await written()).toEqual([2]);
    denials("policy.set", 500);
    await clock.advance(AUDIT.writtenMs);
    expect(await written()).toEqual([2]);
    expect((await all()).map(({ count }) => count)).toEqual([500, 2]);
    await clock.advance(AUDIT.countedMs);
    expect(await written()).toEqual([500, 2]);
    expect(clock.timers).toBe(0);
  });

  test("are written when it closes", async () => {
    denials("policy.set");
    await audit.close();
    await audit.close();
    expect((await store.streams.range("audit")).head).toBe(1);
  });
});

describe("a command", () => {
  async function opened() {
    const engine = await Engine.open({ log: store.log, clock, audit });
    const card = { name: "a", description: "", version: "", capabilities: [], tools: [] };
    const register = { type: "agent.register", card: { ...card, metadata: {} }, ttlMs: 0 } as const;
    return { engine, register };
  }

  test("that changes the rules is there when it is durable, and others are not", async () => {
    const { engine, register } = await opened();
    await engine.execute(register, LIBRARY);
    await engine.execute({ type: "policy.set", policy: POLICY }, LIBRARY);
    expect(await all()).toMatchObject([
      { action: "policy.set", target: "policy:web", outcome: "done", by: { principal: "local" } },
    ]);
    await engine.close();
  });

  test("for an agent of another principal is there, and one for an own agent is not", async () => {
    const { engine, register } = await opened();
    const { agentId } = await engine.execute(register, ann);
    await engine.execute({ type: "election.campaign", group: "g", agentId }, ann);
    const operator = byOf({ ...LOCAL, name: "token:op", roles: ["operator"] }, "http");
    await engine.execute({ type: "agent.deregister", agentId }, operator);
    expect(await all()).toMatchObject([
      { action: "agent.deregister", target: `agent:${agentId}`, by: { principal: "token:op" } },
    ]);
    await engine.close();
  });

  test("that failed with its term is not there, whatever is done later", async () => {
    const log = new TestLog(store.log);
    const engine = await Engine.open({ log, clock, audit });
    const release = log.hold();
    const set = (id: string) =>
      engine.execute({ type: "policy.set", policy: { ...POLICY, id } }, LIBRARY);
    const inFlight = set("first");
    await quiet();
    const gathered = set("second");
    log.faults = [{ error: new Error("the disk is away"), isWritten: false }];
    release();
    for (const each of [inFlight, gathered]) {
      await expect(each).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }
    await clock.advance(ENGINE.recoveryMs);
    await set("third");
    expect((await all()).map(({ target }) => target)).toEqual(["policy:third"]);
    await engine.close();
  });

  test("that is denied is there, and changes nothing", async () => {
    const { engine } = await opened();
    const denied = engine.execute({ type: "policy.set", policy: POLICY }, ann);
    await expect(denied).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await all()).toMatchObject([{ action: "policy.set", outcome: "denied", count: 1 }]);
    expect(engine.peek(({ policies }) => policies.byId.size)).toBe(0);
    await engine.close();
  });
});

test("what a term gathered and did not write is not written by the next one", () => {
  audit.done({ by: ann, action: "policy.set", target: "" }, 1);
  audit.begin();
  audit.done({ by: ann, action: "policy.delete", target: "" }, 2);
  expect(audit.take().map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { action: "policy.delete" },
  ]);
});

describe("the trail", () => {
  test("is read in short turns: others are served between", async () => {
    const entry = { atMs: 1, by: ann, action: "a", target: "", outcome: "done", count: 1 };
    const many = Array.from({ length: 4_000 }, (_, i) => JSON.stringify({ ...entry, atMs: i }));
    await store.streams.append("audit", many);
    let turns = 0;
    const soon = clock.soon.bind(clock);
    clock.soon = (then) => {
      turns += 1;
      soon(then);
    };
    const { entries } = await audit.list({ limit: 2 });
    expect(entries.map(({ atMs }) => atMs)).toEqual([3_999, 3_998]);
    expect(turns).toBeGreaterThanOrEqual(4_000 / AUDIT.readAtOnce);
  });

  test("is filtered by caller, action and time, the newest first", async () => {
    denials("policy.set");
    await clock.advance(AUDIT.countedMs);
    const thenMs = clock.wallMs();
    denials("policy.delete");
    denials("token.create");
    audit.denied({ by: LIBRARY, action: "policy.set", target: "" }, "");
    const actions = async (query: object) =>
      (await audit.list({ limit: 10, ...query })).entries.map(({ action }) => action);
    expect(await actions({ by: "token:ann", action: "policy." })).toEqual([
      "policy.delete",
      "policy.set",
    ]);
    expect(await actions({ by: "token:ann", sinceMs: thenMs })).toEqual([
      "policy.delete",
      "token.create",
    ]);
    expect(await actions({ limit: 1 })).toHaveLength(1);
  });

  test("stays within its bounds while it is written to, whatever is written", async () => {
    const engine = await Engine.open({ log: store.log, clock, audit });
    const old = JSON.stringify({ atMs: clock.wallMs(), action: "old" });
    const many = Array.from({ length: AUDIT.entries + 10 }, () => old);
    await store.streams.append("audit", many);
    const count = async () => {
      const { oldest, head } = await store.streams.range("audit");
      return head - oldest + 1;
    };
    clock.suspend(AUDIT.trimmedMs);
    await engine.execute({ type: "policy.set", policy: POLICY }, LIBRARY);
    await expect.poll(count).toBe(AUDIT.entries);
    await engine.close();
  });

  test("is kept for 90 days, and says how far back it reaches", async () => {
    const startMs = clock.wallMs();
    denials("old");
    await clock.advance(AUDIT.countedMs);
    await clock.advance(89 * DAY);
    denials("new");
    await clock.advance(AUDIT.countedMs);
    expect(await audit.list({ limit: 10 })).toMatchObject({
      entries: [{ action: "new" }, { action: "old" }],
      reachesBackToMs: startMs,
    });
    await clock.advance(DAY + SECOND);
    await audit.trim();
    const later = new Audit({ streams: store.streams, clock });
    const { entries, reachesBackToMs } = await later.list({ limit: 10 });
    expect(entries).toMatchObject([{ action: "new" }]);
    expect(reachesBackToMs).toBe(entries[0]?.atMs);
  });
});
