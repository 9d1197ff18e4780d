import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Scene } from "../../../machine/settings/installer.ts";
import { EDITOR_FACTS, planInstall, planUninstall, type Editor } from "./editors.ts";

let home: string;
beforeEach(() => (home = mkdtempSync(join(tmpdir(), "rollcall-editors-"))));
afterEach(() => rmSync(home, { recursive: true }));

function scene(programs = "/opt/rollcall/dist/bin"): Scene {
  return { env: {}, home, project: undefined, programs, node: "/usr/bin/node" };
}

function settings(editor: Editor, text: string): void {
  const path = EDITOR_FACTS[editor].file(scene());
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const ZED = `// my settings
{
  "theme": "One Dark", // dark
  "agent_servers": {
    "Gemini": {
      "type": "custom",
      "command": "gemini", // the old one
      "args": ["--acp"],
      "env": { "KEY": "1" }
    },
    "Mine": { "command": "/bin/mine" },
    "claude-acp": { "type": "registry" },
  },
}
`;

const WRAPPED = ZED.replace('"gemini"', '"/usr/bin/node"')
  .replace('["--acp"]', '["/opt/rollcall/dist/bin/rollcall.cjs", "acp", "--", "gemini", "--acp"]')
  .replace(
    '"/bin/mine" }',
    '"/usr/bin/node", "args": ["/opt/rollcall/dist/bin/rollcall.cjs","acp","--","/bin/mine"] }',
  );

describe("the agents of Zed", () => {
  test("run through the proxy, and every byte beside their commands stays", () => {
    settings("zed", ZED);
    const plan = planInstall("zed", scene());
    expect(plan.after).toBe(WRAPPED);
    expect(plan).toMatchObject({ changed: ["Gemini", "Mine"], same: [] });
  });

  test("that the editor fetches by itself have no command, which is told", () => {
    settings("zed", ZED);
    expect(planInstall("zed", scene()).managed).toEqual(["claude-acp"]);
  });

  test("are wrapped once, however often it is asked for", () => {
    settings("zed", WRAPPED);
    const plan = planInstall("zed", scene());
    expect(plan.after).toBe(WRAPPED);
    expect(plan).toMatchObject({ changed: [], same: ["Gemini", "Mine"] });
  });

  test("that a rollcall of another place wraps are wrapped by this one", () => {
    settings("zed", WRAPPED.replaceAll("/opt/rollcall", "/old/place"));
    const plan = planInstall("zed", scene());
    expect(plan.after).toBe(WRAPPED);
    expect(plan.changed).toEqual(["Gemini", "Mine"]);
  });

  test("are as they were when it is taken out again, to the byte", () => {
    settings("zed", WRAPPED);
    expect(planUninstall("zed", scene()).after).toBe(ZED);
  });

  test("keep flags of the proxy out of what they become again", () => {
    settings(
      "zed",
      WRAPPED.replace('"acp", "--", "gemini"', '"acp", "--inject=meta", "--", "gemini"'),
    );
    expect(planUninstall("zed", scene()).after).toBe(ZED);
  });
});

describe("the agents of JetBrains", () => {
  test("stand in acp.json, and args may stand before the command", () => {
    const plain = '{"agent_servers":{"A":{"args":["x"],"command":"a"}}}';
    settings("jetbrains", plain);
    const plan = planInstall("jetbrains", scene("/p"));
    expect(plan.after).toBe(
      '{"agent_servers":{"A":{"args":["/p/rollcall.cjs", "acp", "--", "a", "x"],' +
        '"command":"/usr/bin/node"}}}',
    );
    settings("jetbrains", plan.after ?? "");
    expect(planUninstall("jetbrains", scene("/p")).after).toBe(plain);
  });
});

test("settings without agents stay as they are, and so does a file that is not there", () => {
  expect(planInstall("zed", scene())).toMatchObject({ before: undefined, after: undefined });
  settings("zed", '{ "theme": "x" }\n');
  expect(planInstall("zed", scene()).after).toBe('{ "theme": "x" }\n');
});

test("what is no JSON is refused with its place, and nothing is planned", () => {
  settings("zed", '{ "agent_servers": [ }');
  expect(() => planInstall("zed", scene())).toThrow(/cannot be changed: .* at line 1/);
});

test("an agent whose own command is called rollcall is not taken for the proxy", () => {
  const plain = '{"agent_servers":{"A":{"command":"rollcall","args":["serve"]}}}';
  settings("jetbrains", plain);
  expect(planUninstall("jetbrains", scene()).after).toBe(plain);
});
