import { describe, expect, test } from "vitest";
import type { Event } from "../core/events.ts";
import { ENGINE } from "../core/limits.ts";
import type { Command } from "../core/rules.ts";
import type { State } from "../core/state.ts";
import { MemoryMedium, memoryStore } from "../log/memory/store.ts";
import { openEngine, quiet, register, TestLog } from "../../test/support/engine/fixture.ts";
import type { StreamWriter } from "./batch.ts";
import type { Companion, Term } from "./companion.ts";
import { LIBRARY } from "../core/by.ts";

/** Writes a line to a stream of its own for each policy that is set. */
class Scribe implements Companion, StreamWriter {
  readonly stream = "scribe";
  readonly happened: string[] = [];
  term: Term | undefined;
  ready: Promise<void> | undefined;
  failure: Error | undefined;
  /** Decided as soon as it may. */
  first: Command | undefined;
  #lines: string[] = [];

  async prepare(state: State): Promise<void> {
    this.happened.push(`prepare ${state.policies.byId.size}`);
    await this.ready;
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
  }

  lead(term: Term): void {
    this.happened.push("lead");
    this.term = term;
    this.#lines = [];
    if (this.first) term.decide(this.first, LIBRARY);
  }

  onEvent(event: Event): void {
    if (!this.term) this.happened.push(`hears of ${event.type} behind its end`);
    if (event.type === "policy.set") this.write(event.policy.id);
  }

  write(line: string): void {
    this.term?.join(this, line.length);
    this.#lines.push(line);
  }

  take(): readonly string[] {
    return this.#lines.splice(0);
  }

  onDurable(): void {
    this.happened.push("durable");
  }

  end(): void {
    this.happened.push("end");
    this.term = undefined;
  }
}

async function start(scribe = new Scribe()) {
  const medium = new MemoryMedium();
  const log = new TestLog(memoryStore({ medium, shared: false }).log);
  const fixture = await openEngine({ log, companion: scribe });
  const written = () => medium.streams.get("scribe")?.entries ?? [];
  return { ...fixture, log, scribe, medium, written };
}

function policySet(id: string) {
  const policy = { id, subject: "*", action: "*", resource: "*", effect: "deny" } as const;
  return { type: "policy.set", policy } as const;
}

describe("a companion", () => {
  test("writes to streams in one append with the events that it hears of", async () => {
    const { engine, scribe, log, written } = await start();
    const { appends } = log;
    await Promise.all([
      engine.execute(policySet("a"), LIBRARY),
      engine.execute(policySet("b"), LIBRARY),
    ]);
    expect(log.appends).toBe(appends + 1);
    expect(written()).toEqual(["a", "b"]);
    expect(scribe.happened).toEqual(["prepare 0", "lead", "durable"]);
    await engine.close();
    expect(scribe.happened.at(-1)).toBe("end");
  });

  test("loses what it wrote with the events of a failed append, and begins anew", async () => {
    const { engine, scribe, log, clock, written } = await start();
    await engine.execute(policySet("a"), LIBRARY);
    log.faults = [{ error: new Error("disk full"), isWritten: false }];
    await expect(engine.execute(policySet("b"), LIBRARY)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await clock.advance(2 * ENGINE.recoveryMs);
    await engine.execute(policySet("c"), LIBRARY);
    expect(written()).toEqual(["a", "c"]);
    expect(scribe.happened).toEqual([
      "prepare 0",
      "lead",
      "durable",
      "end",
      "prepare 1",
      "lead",
      "durable",
    ]);
    await engine.close();
  });

  test("hears nothing behind its end; a command of that moment may be sent again", async () => {
    const { engine, scribe, log } = await start();
    log.faults = [{ error: new Error("disk full"), isWritten: false }];
    const again = engine
      .execute(policySet("a"), LIBRARY)
      .catch(() => engine.execute(policySet("b"), LIBRARY));
    await expect(again).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(scribe.happened).toEqual(["prepare 0", "lead", "end"]);
    await engine.close();
  });

  test("finds what it wrote where an append failed and was written all the same", async () => {
    const { engine, log, clock, written } = await start();
    log.faults = [{ error: new Error("connection lost"), isWritten: true }];
    await expect(engine.execute(policySet("a"), LIBRARY)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await clock.advance(2 * ENGINE.recoveryMs);
    expect(await engine.read((state) => state.policies.byId.size)).toBe(1);
    expect(written()).toEqual(["a"]);
    await engine.close();
  });

  test("is ready before anything is decided", async () => {
    const scribe = new Scribe();
    let go: () => void = () => undefined;
    scribe.ready = new Promise((resolve) => (go = resolve));
    const opening = start(scribe);
    await quiet();
    expect(scribe.happened).toEqual(["prepare 0"]);
    go();
    const { engine } = await opening;
    expect(scribe.happened).toEqual(["prepare 0", "lead"]);
    await engine.close();
  });

  test("that cannot get ready keeps an engine from opening", async () => {
    const scribe = new Scribe();
    scribe.failure = new Error("no such stream");
    await expect(start(scribe)).rejects.toThrow("no such stream");
  });

  test("that cannot get ready again is tried again, as a log that cannot be read", async () => {
    const { engine, scribe, log, clock, troubles } = await start();
    scribe.failure = new Error("the disk is slow");
    log.faults = [{ error: new Error("disk full"), isWritten: false }];
    await expect(engine.execute(policySet("a"), LIBRARY)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await clock.advance(5 * ENGINE.recoveryMs);
    expect(troubles).toEqual(["stopped leading", "could not lead"]);
    await engine.execute(policySet("b"), LIBRARY);
    expect(scribe.happened.slice(2)).toEqual(["end", "prepare 0", "prepare 0", "lead", "durable"]);
    await engine.close();
  });

  test("may take its time to get ready: nobody dies for it", async () => {
    const { engine, scribe, log, clock } = await start();
    const agentId = await register(engine, 2_000);
    let go: () => void = () => undefined;
    scribe.ready = new Promise((resolve) => (go = resolve));
    scribe.first = policySet("first");
    log.faults = [{ error: new Error("disk full"), isWritten: false }];
    await expect(engine.execute(policySet("a"), LIBRARY)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await clock.advance(4_500);
    go();
    await quiet();
    expect(scribe.happened.at(-1)).toBe("durable");
    const statusOf = (state: State) => state.agents.byId.get(agentId)?.agent.status;
    expect(await engine.read(statusOf)).toBe("alive");
    await clock.advance(2_500);
    expect(await engine.read(statusOf)).toBe("unreachable");
    await engine.close();
  });

  test("decides at once, and is told at once why not", async () => {
    const { engine, scribe } = await start();
    const { term } = scribe;
    const told: string[] = [];
    term?.decide(policySet("a"), LIBRARY);
    term?.after(() => told.push("durable"));
    expect(term?.state.policies.byId.size).toBe(1);
    expect(told).toEqual([]);
    await quiet();
    expect(told).toEqual(["durable"]);
    const wrong = { type: "policy.delete", id: "none" } as const;
    expect(() => term?.decide(wrong, LIBRARY)).toThrow(
      expect.objectContaining({ code: "NOT_FOUND" }),
    );
    await engine.close();
  });

  test("may have so much waiting for the disk, with what it is about to add", async () => {
    const { engine, scribe, log } = await start();
    const release = log.hold();
    scribe.write("x".repeat(1_000));
    expect(scribe.term?.streamBytes).toBe(1_000);
    const left = ENGINE.waitingStreamBytes - 1_000;
    expect(() => scribe.term?.reserve(left)).not.toThrow();
    expect(() => scribe.term?.reserve(left + 1)).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED" }),
    );
    release();
    await quiet();
    expect(scribe.term?.streamBytes).toBe(0);
    await engine.close();
  });
});
