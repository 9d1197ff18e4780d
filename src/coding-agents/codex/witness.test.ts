// Against an app-server that says what a real one was recorded to say, frame by frame.
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeAppServer } from "../../../test/support/coding-agents/app-server.ts";
import { shows, statuses, useStage } from "../../../test/support/coding-agents/in-process.ts";
import { systemClock } from "../../machine/clock.ts";
import { field } from "../../core/text.ts";
import { newSession } from "../hooks/session.ts";
import { surprises } from "../hooks/surprises.ts";
import { CodexDiscovery } from "./discovery.ts";
import { TERMINAL_TOOLS } from "./seat.ts";
import { codexWitness } from "./witness.ts";

vi.mock("../hooks/attendance.ts", async (original) => ({
  ...(await original<object>()),
  attend: () => undefined,
}));

const stage = useStage();
const RECORDING = join(
  import.meta.dirname,
  "../../../test/transcripts/app-server/codex-0.166.0.jsonl",
);
const FRAMES = readFileSync(RECORDING, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as object);
/** The thread that a person prompts in the recording. */
const ID = "01a1e3c2-4cc5-77b3-8f1a-a30f66990c41";
const SESSION = { ...newSession("codex", ID), isOver: false };

beforeEach(() => vi.stubEnv("CODEX_HOME", stage.home));

const resultWith = (key: string, isIt: (value: unknown) => boolean = () => true) =>
  FRAMES.map((frame) => field(frame, "result")).find((result) => {
    const value = field(result, key);
    return value !== undefined && isIt(value);
  });

/** An app-server that answers as recorded; terminals are in none of its recordings. */
async function recorded(): Promise<FakeAppServer> {
  const server = await FakeAppServer.start(stage.home);
  server.answers.set("thread/loaded/list", () => resultWith("data"));
  server.answers.set("thread/read", (params) => {
    return resultWith("thread", (each) => field(each, "id") === field(params, "threadId"));
  });
  server.answers.set("mcpServerStatus/list", () => ({ data: [] }));
  return server;
}

/** The terminal is this process. */
async function terminalTools() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const data = [{ name: TERMINAL_TOOLS, httpOrigin: `http://127.0.0.1:${port}` }];
  return { listed: { data }, [Symbol.dispose]: () => void server.close() };
}

/** All that it said by itself. */
const NOTICES = FRAMES.filter((frame) => field(frame, "method") !== undefined);

function attended() {
  const witness = codexWitness(ID, () => undefined);
  return {
    witness,
    state: () => witness.presence(SESSION)?.state,
    [Symbol.dispose]: () => witness.close(),
  };
}

describe("a session of Codex", () => {
  test("is what the recorded app-server says that its thread is, frame by frame", async () => {
    await using server = await recorded();
    using session = attended();
    await vi.waitFor(() => expect(session.state()).toBe("idle"));
    const told: string[] = [];
    for (const frame of NOTICES) {
      server.tell(frame);
      if (field(frame, "method") !== "thread/status/changed") continue;
      if (field(field(frame, "params"), "threadId") !== ID) continue;
      const atMs = field(frame, "emittedAtMs");
      await vi.waitFor(() => expect(session.witness.presence(SESSION)?.sinceMs).toBe(atMs));
      told.push(session.state() ?? "nothing");
    }
    expect(told).toEqual(["busy", "waiting", "busy", "idle"]);
    // The terminal answers what the server asks, we never do.
    expect(new Set(server.asked)).toEqual(
      new Set([
        "initialize",
        "initialized",
        "thread/loaded/list",
        "thread/read",
        "mcpServerStatus/list",
      ]),
    );
  });

  test("ends with its app-server, unless that is back soon", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const server = await recorded();
    using session = attended();
    await vi.waitFor(() => expect(session.state()).toBe("idle"));
    await server[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(session.state()).toBeUndefined());
    expect(session.witness.isLive).toBe(false);
    vi.setSystemTime(Date.now() + 2_000);
    expect(session.state()).toBe("gone");
    await using again = await recorded();
    await vi.waitFor(() => expect(session.state()).toBe("idle"));
    expect(again.asked).toContain("thread/read");
    vi.useRealTimers();
  });

  test("in a state that we do not know is not judged, and the doctor hears of it", async () => {
    await using server = await recorded();
    using session = attended();
    await vi.waitFor(() => expect(session.state()).toBe("idle"));
    server.tell({
      method: "thread/status/changed",
      params: { threadId: ID, status: { type: "dreaming" } },
    });
    await vi.waitFor(() => expect(session.state()).toBeUndefined());
    expect(surprises(process.env)).toMatchObject([
      { host: "codex", what: "a thread that is dreaming", version: "0.166.0" },
    ]);
  });
});

describe("where the app-server is slow", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  test("a session stays in its terminal while it is not said where that is", async () => {
    await using server = await recorded();
    using terminal = await terminalTools();
    server.answers.set("mcpServerStatus/list", () => terminal.listed);
    using session = attended();
    await vi.waitFor(() => expect(session.state()).toBe("idle"));
    const seating = { seat: { process: { pid: process.pid } } };
    await vi.waitFor(() => expect(session.witness.seating?.()).toMatchObject(seating));
    server.answers.delete("mcpServerStatus/list");
    const asked = server.asked.length;
    const status = { type: "active", activeFlags: [] };
    server.tell({ method: "thread/status/changed", params: { threadId: ID, status } });
    await vi.waitFor(() => expect(server.asked.length).toBeGreaterThan(asked));
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(session.witness.seating?.()).toMatchObject(seating);
  });

  test("a session is shown when its terminal is named at last", async () => {
    await using server = await recorded();
    using terminal = await terminalTools();
    let name: (listed: object) => void = () => undefined;
    const named = new Promise<object>((resolve) => (name = resolve));
    server.answers.set("mcpServerStatus/list", () => named);
    writeFileSync(join(stage.home, "hooks.json"), '"/bin/rollcall hook codex"');
    const discovery = new CodexDiscovery(systemClock);
    await vi.waitFor(() => expect(server.asked).toContain("mcpServerStatus/list"));
    await vi.advanceTimersByTimeAsync(20_000);
    name(terminal.listed);
    await shows(stage, "idle");
    discovery.close();
  });
});

describe("a daemon beside Codex", () => {
  test("shows a session when its terminal opens, and no thread that nobody sees", async () => {
    await using server = await recorded();
    using terminal = await terminalTools();
    server.answers.set("mcpServerStatus/list", (params) =>
      field(params, "threadId") === ID ? terminal.listed : { data: [] },
    );
    writeFileSync(join(stage.home, "hooks.json"), '"/bin/rollcall hook codex"');
    const discovery = new CodexDiscovery(systemClock);
    await shows(stage, "idle");
    expect(statuses(stage)[0]).toMatchObject({
      agent_id: `codex-${ID}`,
      runtime: { pid: process.pid, workspace: "/home/dev/project" },
    });
    for (const frame of NOTICES) server.tell(frame);
    server.tell("no frame at all");
    const thread = { id: "next", cwd: "/home/dev/project" };
    server.answers.set("mcpServerStatus/list", () => terminal.listed);
    server.tell({ method: "thread/started", params: { thread } });
    await shows(stage, "idle | idle");
    discovery.close();
  });
});
