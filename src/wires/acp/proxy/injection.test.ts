import { describe, expect, test } from "vitest";
import { quiet, TestClock } from "../../../../test/support/engine/fixture.ts";
import type { AcpFacts, AcpRecord } from "../derive/record.ts";
import { Injector, type Injection } from "./injection.ts";
import { INJECTION } from "./limits.ts";
import { record, WAITING } from "../../../../test/support/acp-proxy/fixture.ts";

const FACTS: AcpFacts = { protocolVersion: 1, agent: null, client: null, wants: null };

interface Scene {
  injection?: Injection;
  facts?: AcpFacts;
  isOpen?: boolean;
  isBetweenLines?: boolean;
  now?: AcpRecord;
}

function injecting(scene: Scene = {}) {
  const clock = new TestClock();
  const said: Record<string, unknown>[] = [];
  const at = { isOpen: true, isBetweenLines: true, now: record(), ...scene };
  const injector = new Injector({
    injection: scene.injection ?? "meta",
    deriver: {
      facts: scene.facts ?? FACTS,
      hasOpenTurn: () => at.isOpen,
      records: () => [at.now],
    },
    clock,
    isBehindProxy: false,
    async interject(line) {
      if (at.isBetweenLines) said.push(JSON.parse(line) as Record<string, unknown>);
      return at.isBetweenLines;
    },
  });
  const show = (changes: Partial<AcpRecord> = {}) => {
    at.now = record(changes);
    injector.show(at.now);
    injector.settled();
  };
  return { injector, clock, said, at, show, listen: () => clock.advance(INJECTION.listenMs) };
}

describe("the forms of a status", () => {
  test("meta: in session_info_update, with the whole record and no title", async () => {
    const { show, listen, said } = injecting();
    show({ currentTask: "Step 1/2: Look" });
    await listen();
    expect(said).toEqual([
      {
        jsonrpc: "2.0",
        method: "session/update",
        params: {
          sessionId: "S",
          update: {
            sessionUpdate: "session_info_update",
            _meta: {
              "rollcall/status": expect.objectContaining({
                v: 1,
                state: "running",
                status: "reading",
                message: "Read notes.txt",
                currentTask: "Step 1/2: Look",
              }) as unknown,
            },
          },
        },
      },
    ]);
  });

  test("flat: as the proposal's example has it, letter by letter", async () => {
    const { show, listen, said } = injecting({ injection: "flat" });
    show();
    await listen();
    expect(said[0]).toEqual({
      jsonrpc: "2.0",
      method: "session/update",
      params: {
        sessionId: "S",
        sessionUpdate: "agent_status_update",
        status: "reading",
        message: "Read notes.txt",
      },
    });
  });

  test("variant: nested, with exactly the keys of the proposal", async () => {
    const { show, listen, said } = injecting({ injection: "variant" });
    show();
    await listen();
    expect(said[0]?.["params"]).toEqual({
      sessionId: "S",
      update: {
        sessionUpdate: "agent_status_update",
        status: "reading",
        message: "Read notes.txt",
      },
    });
  });

  test("ext: a notification of our own", async () => {
    const { show, listen, said } = injecting({ injection: "ext" });
    show();
    await listen();
    expect(said[0]).toMatchObject({
      method: "_rollcall/agent_status",
      params: { sessionId: "S", status: "reading" },
    });
  });

  test("auto: as the client asked, and not at all if it did not", async () => {
    const asked = injecting({ injection: "auto", facts: { ...FACTS, wants: "ext" } });
    asked.show();
    await asked.listen();
    expect(asked.said[0]?.["method"]).toBe("_rollcall/agent_status");
    const silent = injecting({ injection: "auto" });
    silent.show();
    await silent.listen();
    expect(silent.said).toEqual([]);
  });

  test("off: never", async () => {
    const { show, listen, said, clock } = injecting({ injection: "off" });
    show();
    await listen();
    expect(said).toEqual([]);
    expect(clock.timers).toBe(0);
  });
});

describe("a status is said", () => {
  test("only while the turn is open", async () => {
    const { show, listen, said, at } = injecting();
    show();
    at.isOpen = false;
    await listen();
    at.isOpen = true;
    expect(said).toEqual([]);
  });

  test("never before the handshake is over", async () => {
    const { show, listen, said } = injecting({ facts: { ...FACTS, protocolVersion: null } });
    show();
    await listen();
    expect(said).toEqual([]);
  });

  test("never as idle: the answer to the prompt says it", async () => {
    const { show, listen, said } = injecting();
    show({ status: "idle", state: "idle" });
    await listen();
    expect(said).toEqual([]);
  });

  test("when everything was looked at and the line is over, if it is still so", async () => {
    const { injector, show, listen, said, at } = injecting({ isBetweenLines: false });
    show();
    await listen();
    expect(said).toEqual([]);
    at.isBetweenLines = true;
    injector.settled();
    await quiet();
    expect(said).toHaveLength(1);
    at.isBetweenLines = false;
    show(WAITING);
    await quiet();
    at.now = record({ status: "writing" });
    at.isBetweenLines = true;
    injector.settled();
    await quiet();
    expect(said).toHaveLength(1);
  });

  test("as soon as what came in the meantime was looked at, too", async () => {
    const { injector, show, listen, said, at } = injecting({ isBetweenLines: false });
    show();
    await listen();
    injector.settled();
    // Before the answer is there: more was looked at, and now there is room.
    injector.settled();
    at.isBetweenLines = true;
    await quiet();
    expect(said).toHaveLength(1);
  });

  test("once, however often it is shown", async () => {
    const { show, listen, said } = injecting();
    show();
    await listen();
    show({ quietSeconds: 30 });
    show({ quietSeconds: 31 });
    expect(said).toHaveLength(1);
  });
});

describe("it falls silent for good", () => {
  test("when the client answers with an error that answers nothing", async () => {
    const { injector, show, listen, said } = injecting();
    const complaint = { kind: "error", id: null, error: { code: -32601 } } as const;
    injector.saw("client", complaint);
    show();
    await listen();
    expect(said).toHaveLength(1);
    injector.saw("client", complaint);
    show({ message: "Read more.txt" });
    expect(said).toHaveLength(1);
    expect(injector.isSilent).toBe(true);
  });

  test.each([
    { sessionUpdate: "session_info_update", _meta: { "rollcall/status": { status: "reading" } } },
    { sessionUpdate: "agent_status_update", status: "reading" },
  ])("when the agent, or a proxy behind us, says its status: %j", async (update) => {
    const { injector, show, listen, said } = injecting();
    show();
    const params = { sessionId: "S", update };
    injector.saw("agent", { kind: "notification", method: "session/update", params });
    await listen();
    expect(said).toEqual([]);
    expect(injector.isSilent).toBe(true);
  });

  test("not when the client itself sends such a frame", () => {
    const { injector } = injecting();
    injector.saw("client", { kind: "notification", method: "_rollcall/agent_status", params: {} });
    expect(injector.isSilent).toBe(false);
  });
});
