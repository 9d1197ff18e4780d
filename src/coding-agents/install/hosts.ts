/**
 * The coding agents that can be made to show up by themselves: for each, which file of its own is
 * changed, and what keeps it from working all the same.
 */
import { join } from "node:path";
import { HOOK_EVENTS } from "../hooks/fact.ts";
import { hookInstaller } from "./hook-installer.ts";
import { readIfThere, type Installer, type Scene } from "../../machine/settings/installer.ts";
import { memberOf, meaningOf, readJson } from "../../machine/settings/json-edit.ts";
import { moduleInstaller } from "./module-installer.ts";

export const HOSTS = ["claude-code", "codex", "opencode", "pi"] as const;

export type Host = (typeof HOSTS)[number];

export const INSTALLERS: Readonly<Record<Host, Installer>> = {
  "claude-code": hookInstaller("Claude Code", {
    host: "claude-code",
    events: HOOK_EVENTS,
    file: ({ env, home, project }) =>
      project === undefined
        ? join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "settings.json")
        : join(project, ".claude", "settings.json"),
    warnings: (settings) => disabled(settings),
    next: "sessions that are started from now on show up",
  }),
  codex: hookInstaller("Codex", {
    host: "codex",
    // It has no SessionEnd: the sidecar sees its process end.
    events: HOOK_EVENTS.filter((event) => event !== "SessionEnd"),
    file: (scene) => join(codexHome(scene), "hooks.json"),
    warnings: (_, scene) => codexWarnings(readIfThere(join(codexHome(scene), "config.toml")) ?? ""),
    next: "start codex, and trust the new hooks with /hooks",
  }),
  opencode: moduleInstaller("OpenCode", {
    host: "opencode",
    module: "opencode/plugin.js",
    file: ({ env, home, project }) => {
      const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
      const all = env["OPENCODE_CONFIG_DIR"] || join(config, "opencode");
      const folder = project === undefined ? all : join(project, ".opencode");
      return join(folder, "plugins", "rollcall.js");
    },
    text: (module) => [
      "export const RollcallPlugin = async (input) => {",
      "  try {",
      `    const { RollcallPlugin } = await import(${JSON.stringify(module)});`,
      "    return await RollcallPlugin(input);",
      "  } catch {",
      "    return {}; // rollcall is not where it was: install it anew",
      "  }",
      "};",
    ],
    next: "restart OpenCode",
  }),
  pi: moduleInstaller("Pi", {
    host: "pi",
    module: "pi/extension.js",
    file: ({ env, home, project }) => {
      const all = env["PI_CODING_AGENT_DIR"] || join(home, ".pi", "agent");
      const folder = project === undefined ? all : join(project, ".pi");
      return join(folder, "extensions", "rollcall.ts");
    },
    text: (module) => [
      "export default async function (pi) {",
      "  try {",
      `    const { rollcallExtension } = await import(${JSON.stringify(module)});`,
      "    rollcallExtension(pi);",
      "  } catch {",
      "    // rollcall is not where it was: install it anew",
      "  }",
      "}",
    ],
    next: "run /reload in Pi, or restart it",
  }),
};

function codexHome({ env, home, project }: Scene): string {
  return project === undefined
    ? env["CODEX_HOME"] || join(home, ".codex")
    : join(project, ".codex");
}

function disabled(settings: string | undefined): readonly string[] {
  const value = settings?.trim() ? memberOf(readJson(settings), "disableAllHooks") : undefined;
  return value && meaningOf(value) === true
    ? ["disableAllHooks is true in it: no hooks run until that is taken out"]
    : [];
}

/** The switch of its config file, under its name and the one it had before. */
function codexWarnings(toml: string): readonly string[] {
  const features = /^\s*\[features\]\s*$(?<table>[^]*?)(?=^\s*\[|$(?![^]))/m.exec(toml)?.groups;
  const isOff = /^\s*(?:codex_)?hooks\s*=\s*false\b/m.test(features?.["table"] ?? "");
  return isOff ? ["hooks = false stands under [features] in config.toml: no hooks run"] : [];
}
