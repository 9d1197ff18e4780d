import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HookStage } from "../../../test/support/coding-agents/stage.ts";
import { hooksFolder } from "../../machine/places.ts";
import { readStatus } from "../../wires/files/read.ts";
import { lastHeard, markHeard } from "./heard.ts";
import { HostSession } from "./host-session.ts";

let env: Readonly<Record<string, string>> = {};

beforeEach(() => {
  const home = mkdtempSync(join(tmpdir(), "rollcall-heard-"));
  env = { XDG_STATE_HOME: home, AGENT_STATUS_DIR: join(home, "status") };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
});

afterEach(() => rmSync(env["XDG_STATE_HOME"] ?? "", { recursive: true, force: true }));

test("of a program with hooks it is the last event, also after the end of the session", () => {
  const stage = new HookStage();
  expect(lastHeard("codex", env)).toBeUndefined();
  for (const event of ["SessionStart", "UserPromptSubmit", "SessionEnd"]) {
    stage.nowMs += 1000;
    stage.act(`codex 100 {"session_id":"s","hook_event_name":"${event}"}`);
    expect(lastHeard("codex", env)).toEqual({ what: event, atMs: stage.nowMs });
  }
  expect(lastHeard("claude-code", env)).toBeUndefined();
});

test("what a second source says of its session is no word of the program's hooks", () => {
  const stage = new HookStage();
  stage.act('claude-code 100 {"session_id":"s","hook_event_name":"UserPromptSubmit"}');
  stage.nowMs += 1000;
  stage.act('sessions/100.json {"sessionId":"s","status":"idle"}');
  expect(lastHeard("claude-code", env)?.what).toBe("UserPromptSubmit");
});

test("of a program with a module it is what that said", () => {
  expect(lastHeard("pi", env)).toBeUndefined();
  markHeard("pi", "working");
  markHeard("pi", "a question");
  expect(lastHeard("pi", env)?.what).toBe("a question");
});

test("a session goes on to be shown where its sign cannot be written down", async () => {
  const { XDG_STATE_HOME: home = "", AGENT_STATUS_DIR: folder = "" } = env;
  writeFileSync(join(home, "rollcall"), "in the way");
  const session = new HostSession({ host: "pi", sessionId: "s", workspace: home });
  session.prompted("go");
  session.asks("q", { kind: "text", text: "which?" });
  await session.flush();
  expect(readStatus(join(folder, "pi-s.json"))).toMatchObject({
    status: { task: { state: "input-required", summary: "which?" } },
  });
  await session.close();
});

test("a session that cannot be read does not keep the others from being told", () => {
  new HookStage().act('codex 100 {"session_id":"s","hook_event_name":"Stop"}');
  mkdirSync(join(hooksFolder(env), "codex-s", "state-9.json"));
  expect(lastHeard("codex", env)).toBeUndefined();
});
