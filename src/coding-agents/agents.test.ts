import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { apply } from "../machine/settings/apply.ts";
import { diff } from "../machine/settings/diff.ts";
import { agentNamed, CODING_AGENTS } from "./agents.ts";
import type { Scene } from "../machine/settings/installer.ts";

let home = "";
let scene: Scene;

beforeEach(() => {
  home = fs.mkdtempSync(join(tmpdir(), "rollcall-install-"));
  scene = {
    env: {},
    home,
    project: undefined,
    programs: join(home, "dist/bin"),
    node: "/usr/bin/node",
  };
});

afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

function write(path: string, text: string): string {
  fs.mkdirSync(dirname(join(home, path)), { recursive: true });
  fs.writeFileSync(join(home, path), text, { mode: 0o644 });
  return join(home, path);
}

const installerOf = (name: string) => agentNamed(name).install;
const install = (name: string) => apply(installerOf(name).install(scene));
const uninstall = (name: string) => apply(installerOf(name).uninstall(scene));
const state = (name: string) => installerOf(name).standing(scene).state;

describe.each(CODING_AGENTS.map(({ name }) => name))("%s", (name) => {
  test("is installed, stays so, and is taken out without a trace", () => {
    expect(state(name)).toBe("absent");
    install(name);
    expect(state(name)).toBe("installed");
    const { before, after } = installerOf(name).install(scene);
    expect(after).toBe(before);
    uninstall(name);
    expect(state(name)).toBe("absent");
    expect(fs.existsSync(installerOf(name).standing(scene).path)).toBe(false);
    expect(uninstall(name)).toBeUndefined();
  });

  test("is out of date when the program moved, and installing again mends that", () => {
    install(name);
    scene = { ...scene, programs: join(home, "elsewhere/bin") };
    expect(state(name)).toBe("outdated");
    install(name);
    expect(state(name)).toBe("installed");
  });

  test("of a project is not that of all", () => {
    scene = { ...scene, project: join(home, "project") };
    install(name);
    expect(installerOf(name).standing(scene).path).toContain(join(home, "project"));
    scene = { ...scene, project: undefined };
    expect(state(name)).toBe("absent");
  });
});

test.each([
  ["claude-code", { CLAUDE_CONFIG_DIR: "/c" }, "/c/settings.json"],
  ["codex", { CODEX_HOME: "/c" }, "/c/hooks.json"],
  ["opencode", { XDG_CONFIG_HOME: "/c" }, "/c/opencode/plugins/rollcall.js"],
  ["opencode", { OPENCODE_CONFIG_DIR: "/c" }, "/c/plugins/rollcall.js"],
  ["pi", { PI_CODING_AGENT_DIR: "/c" }, "/c/extensions/rollcall.ts"],
] as const)("%s is where %j says", (name, env, path) => {
  expect(installerOf(name).standing({ ...scene, env }).path).toBe(path);
});

describe("what is there", () => {
  test("is kept beside it, with its mode, through a link", () => {
    const real = write("dotfiles/settings.json", '{ "model": "opus" }\n');
    fs.mkdirSync(join(home, ".claude"));
    const link = join(home, ".claude/settings.json");
    fs.symlinkSync(real, link);
    const backup = install("claude-code");
    expect(fs.lstatSync(link).isSymbolicLink()).toBe(true);
    expect(fs.readFileSync(backup ?? "", "utf8")).toBe('{ "model": "opus" }\n');
    expect(fs.statSync(real).mode & 0o777).toBe(0o644);
    expect(fs.readdirSync(dirname(real)).toSorted()).toEqual([
      "settings.json",
      "settings.json.before-rollcall",
    ]);
    uninstall("claude-code");
    expect(fs.readFileSync(real, "utf8")).toBe('{ "model": "opus" }\n');
  });

  test("stays kept when ours is brought up to date, and when it is taken out", () => {
    const path = write(".claude/settings.json", '{ "model": "opus" }\n');
    const kept = () => fs.readFileSync(`${path}.before-rollcall`, "utf8");
    install("claude-code");
    scene = { ...scene, programs: "/elsewhere/bin" };
    install("claude-code");
    expect(kept()).toBe('{ "model": "opus" }\n');
    uninstall("claude-code");
    expect(kept()).toBe('{ "model": "opus" }\n');
    fs.writeFileSync(path, '{ "model": "sonnet" }\n');
    install("claude-code");
    expect(kept()).toBe('{ "model": "sonnet" }\n');
  });

  test("and is ours alone leaves no copy behind", () => {
    install("claude-code");
    uninstall("claude-code");
    expect(fs.readdirSync(join(home, ".claude"))).toEqual([]);
  });

  test("and cannot be read is left alone, and the way out is said", () => {
    const path = write(".claude/settings.json", '{ "model": }');
    expect(() => install("claude-code")).toThrow(
      `${path} cannot be changed: value expected at line 1, column 12; correct it and try again`,
    );
    expect(fs.readFileSync(path, "utf8")).toBe('{ "model": }');
  });

  test("and is not UTF-8 is left alone, to the byte", () => {
    const path = write(".claude/settings.json", "");
    const bytes = Buffer.from('{ "statusLine": "caf\u00e9" }', "latin1");
    fs.writeFileSync(path, bytes);
    expect(() => install("claude-code")).toThrow("is not UTF-8");
    expect(fs.readFileSync(path).equals(bytes)).toBe(true);
  });

  test.each(["install", "uninstall"] as const)(
    "and was changed while a person was asked is left alone by %s",
    (verb) => {
      const path = write(".claude/settings.json", "{}\n");
      if (verb === "uninstall") install("claude-code");
      const plan = installerOf("claude-code")[verb](scene);
      const changed = `{ "model": "opus" }\n`;
      fs.writeFileSync(path, changed);
      expect(() => apply(plan)).toThrow("was changed meanwhile");
      expect(fs.readFileSync(path, "utf8")).toBe(changed);
    },
  );

  test("of somebody else's under our name is not touched", () => {
    const path = write(".config/opencode/plugins/rollcall.js", "mine");
    expect(() => install("opencode")).toThrow("is not ours: move it away first");
    uninstall("opencode");
    expect(fs.readFileSync(path, "utf8")).toBe("mine");
    expect(installerOf("opencode").standing(scene).warnings).toEqual([
      "another file has this name",
    ]);
  });

  test("part of the hooks are told as such", () => {
    const path = write(".claude/settings.json", "{}");
    install("claude-code");
    const text = fs.readFileSync(path, "utf8").replace('"Stop"', '"Other"');
    fs.writeFileSync(path, text);
    expect(installerOf("claude-code").standing(scene)).toMatchObject({
      state: "partly",
      details: "missing: Stop",
    });
  });
});

describe("what keeps hooks from running", () => {
  test("is said of Claude Code", () => {
    write(".claude/settings.json", '{ "disableAllHooks": true }');
    expect(installerOf("claude-code").standing(scene).warnings[0]).toContain("disableAllHooks");
  });

  test.each([
    ["[features]\nhooks = false\n", 1],
    ["[features]\nx = 1\n  codex_hooks = false # no\n[other]\n", 1],
    ["[other]\nhooks = false\n", 0],
    ["[features]\nhooks = true\n[x]\nhooks = false\n", 0],
    ["", 0],
  ])("is said of Codex with %j", (toml, count) => {
    write(".codex/config.toml", toml);
    expect(installerOf("codex").standing(scene).warnings).toHaveLength(count);
  });
});

describe("the command", () => {
  const command = () =>
    /"command": "(?<it>[^"]*)"/.exec(installerOf("codex").install(scene).after ?? "")?.groups?.[
      "it"
    ];

  test("is our name where that finds this very program, else where it lies", () => {
    const program = write("dist/bin/rollcall.cjs", "");
    expect(command()).toBe(`/usr/bin/node ${program} hook codex`);
    fs.mkdirSync(join(home, "path"));
    fs.symlinkSync(program, join(home, "path/rollcall"));
    scene = { ...scene, env: { PATH: `/nowhere:${join(home, "path")}` } };
    expect(command()).toBe("rollcall hook codex");
    fs.rmSync(join(home, "path/rollcall"));
    write("path/rollcall", "another");
    expect(command()).toContain(program);
    fs.mkdirSync(join(home, "node_modules/.bin"), { recursive: true });
    fs.symlinkSync(program, join(home, "node_modules/.bin/rollcall"));
    scene = { ...scene, env: { PATH: join(home, "node_modules/.bin") } };
    expect(command()).toContain(program);
  });

  test("is quoted where a shell would read it otherwise", () => {
    scene = { ...scene, programs: "/it's here/bin" };
    expect(command()).toContain(String.raw`'/it'\\''s here/bin/rollcall.cjs' hook codex`);
    expect(installerOf("codex").standing({ ...scene }).state).toBe("absent");
  });

  test("is not one that npx will throw away", () => {
    scene = { ...scene, programs: "/h/.npm/_npx/1/node_modules/rollcall/dist/bin" };
    expect(() => install("codex")).toThrow("npm install -g rollcall");
    expect(state("codex")).toBe("absent");
  });
});

test("a diff shows what changes, and a little around it", () => {
  const before = ["a", "b", "c", "d", "e", "f", "g"].join("\n");
  const after = ["a", "b", "c", "d", "E", "f", "g", "h"].join("\n");
  expect(diff(before, after).map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    "gap …",
    "same c",
    "same d",
    "removed e",
    "added E",
    "same f",
    "same g",
    "added h",
  ]);
  expect(diff("", "x\n")).toEqual([{ kind: "added", text: "x" }]);
});
