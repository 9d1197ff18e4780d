import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { surprise } from "../../coding-agents/hooks/surprises.ts";
import { DAY } from "../../core/units.ts";
import { checkCodingAgents } from "./coding-agents.ts";

let home = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "rollcall-doctor-"));
  vi.stubEnv("XDG_STATE_HOME", home);
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

async function said(nowMs = Date.now()): Promise<readonly string[]> {
  const env = { HOME: home, XDG_STATE_HOME: home };
  const scene = {
    env,
    config: undefined,
    target: { url: "", socket: false as const },
    daemon: new Error("none"),
    nowMs,
  };
  return (await checkCodingAgents(scene)).map(({ verdict, what }) => `${verdict}: ${what}`);
}

/** One hook, of a program that lies elsewhere. */
function write(path: string, event: string, host: string): void {
  const command = `node /before/rollcall.cjs hook ${host}`;
  mkdirSync(join(home, path, ".."), { recursive: true });
  const hooks = { [event]: [{ hooks: [{ type: "command", command }] }] };
  writeFileSync(join(home, path), JSON.stringify({ hooks }));
}

test("hooks that nobody installed are no finding", async () => {
  expect(await said()).toEqual([]);
});

test("hooks in part and hooks that Codex does not trust are found", async () => {
  write(".claude/settings.json", "Stop", "claude-code");
  write(".codex/hooks.json", "Stop", "codex");
  expect(await said()).toEqual([
    expect.stringMatching(/^warn: Claude Code's are installed in part: missing: SessionStart, /),
    expect.stringMatching(/^warn: Codex's are installed in part: /),
    expect.stringMatching(/^warn: Codex's: 1 hooks are not trusted, and do not run: /),
  ]);
});

test("a program that changed its format is named, with its version, for a week", async () => {
  surprise("claude-code", "the status dreaming", "2.2.0");
  surprise("codex", "Stop without a session_id");
  const strange = [
    "warn: Claude Code 2.2.0 sends something we do not know: the status dreaming",
    "warn: Codex sends something we do not know: Stop without a session_id",
  ];
  expect(await said()).toEqual(strange);
  expect(await said(Date.now() + 6 * DAY)).toEqual(strange);
  expect(await said(Date.now() + 8 * DAY)).toEqual([]);
});

test("one that cannot be read hides none of the others", async () => {
  surprise("codex", "the event Dream");
  for (const [name, text] of Object.entries({ "a.json": "{", "b.json": "7", "c.json": "{}" })) {
    writeFileSync(join(home, "rollcall/hooks/unknown", name), text);
  }
  mkdirSync(join(home, "rollcall/hooks/unknown/d.json"));
  expect(await said()).toEqual(["warn: Codex sends something we do not know: the event Dream"]);
});
