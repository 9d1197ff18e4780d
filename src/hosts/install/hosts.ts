/**
 * The coding agents that can be made to show up by themselves: for each, which file of its own is
 * changed, and to what. Nothing is written here: what comes out is a plan that can be shown.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { RollcallError } from "../../core/errors.ts";
import type { HookEvent } from "../fact.ts";
import { MAX_CONFIG_BYTES } from "../limits.ts";
import type { Environment } from "../surroundings.ts";
import { censusOf, withHooks, withoutHooks, type HookPlan } from "./hook-settings.ts";
import { memberOf, meaningOf, readJson } from "./json-edit.ts";

export const HOSTS = ["claude-code", "codex", "opencode", "pi"] as const;

export type Host = (typeof HOSTS)[number];

export interface Scene {
  readonly env: Environment;
  readonly home: string;
  /** The folder of a project, when only it is meant. */
  readonly project: string | undefined;
  /** Where our programs lie (dist/bin), and node. */
  readonly programs: string;
  readonly node: string;
}

export interface Plan {
  readonly path: string;
  /** Nothing where there is no file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface Standing {
  readonly path: string;
  readonly state: "installed" | "partly" | "outdated" | "absent";
  readonly details: string;
  /** What keeps it from working all the same. */
  readonly warnings: readonly string[];
}

export interface Installer {
  readonly name: string;
  install(scene: Scene): Plan;
  uninstall(scene: Scene): Plan;
  standing(scene: Scene): Standing;
  /** What a person does after that. */
  readonly next: string;
}

const ALL_EVENTS: readonly HookEvent[] = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "Stop",
  "SessionEnd",
];

export const INSTALLERS: Readonly<Record<Host, Installer>> = {
  "claude-code": hookInstaller("Claude Code", {
    host: "claude-code",
    events: ALL_EVENTS,
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
    events: ALL_EVENTS.filter((event) => event !== "SessionEnd"),
    file: (scene) => join(codexHome(scene), "hooks.json"),
    warnings: (_, scene) => codexWarnings(readIfThere(join(codexHome(scene), "config.toml")) ?? ""),
    next: "start codex, and trust the new hooks with /hooks",
  }),
  opencode: moduleInstaller("OpenCode", {
    host: "opencode",
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

interface HookHostOptions extends Omit<HookPlan, "command"> {
  readonly file: (scene: Scene) => string;
  readonly warnings: (settings: string | undefined, scene: Scene) => readonly string[];
  readonly next: string;
}

function hookInstaller(name: string, options: HookHostOptions): Installer {
  const { host, events, file, warnings, next } = options;
  const planOf = (scene: Scene): HookPlan => ({ host, events, command: commandOf(host, scene) });
  return {
    name,
    next,
    install(scene) {
      const path = file(scene);
      const before = readIfThere(path);
      return { path, before, after: inFile(path, () => withHooks(before ?? "", planOf(scene))) };
    },
    uninstall(scene) {
      const path = file(scene);
      const before = readIfThere(path);
      if (before === undefined) return { path, before, after: before };
      const after = inFile(path, () => withoutHooks(before, host));
      // Nothing but our hooks was in it.
      const isEmpty = after !== before && after.replaceAll(/\s/g, "") === "{}";
      return { path, before, after: isEmpty ? undefined : after };
    },
    standing(scene) {
      const path = file(scene);
      const text = readIfThere(path);
      const { current, outdated } = inFile(path, () => censusOf(text ?? "", planOf(scene)));
      const missing = events.filter((event) => ![...current, ...outdated].includes(event));
      const there = events.length - missing.length;
      const state =
        there === 0
          ? "absent"
          : missing.length > 0
            ? "partly"
            : outdated.length > 0
              ? "outdated"
              : "installed";
      const details =
        missing.length > 0 && there > 0 ? `missing: ${missing.join(", ")}` : `${there} events`;
      return { path, state, details, warnings: warnings(text, scene) };
    },
  };
}

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

interface ModuleHostOptions {
  readonly host: Host;
  readonly file: (scene: Scene) => string;
  readonly text: (module: string) => readonly string[];
  readonly next: string;
}

function moduleInstaller(name: string, { host, file, text, next }: ModuleHostOptions): Installer {
  const mark = `// Written by \`rollcall hooks install ${host}\`; uninstall takes it away.`;
  const wanted = ({ programs }: Scene) => {
    const module = pathToFileURL(join(programs, "..", "hosts", `${host}.js`)).href;
    return `${[mark, ...text(module)].join("\n")}\n`;
  };
  const read = (scene: Scene) => {
    const path = file(scene);
    const before = readIfThere(path);
    return { path, before, isOurs: before?.startsWith(mark) ?? false };
  };
  return {
    name,
    next,
    install(scene) {
      const { path, before, isOurs } = read(scene);
      if (before !== undefined && !isOurs) {
        throw new RollcallError("ALREADY_EXISTS", `${path} is not ours: move it away first`);
      }
      return { path, before, after: wanted(scene) };
    },
    uninstall(scene) {
      const { path, before, isOurs } = read(scene);
      return { path, before, after: isOurs ? undefined : before };
    },
    standing(scene) {
      const { path, before, isOurs } = read(scene);
      const isCurrent = before === wanted(scene);
      const state = isCurrent ? "installed" : isOurs ? "outdated" : "absent";
      const warnings = before === undefined || isOurs ? [] : ["another file has this name"];
      return { path, state, details: name === "Pi" ? "extension" : "plugin", warnings };
    },
  };
}

/** By its name where that finds this very program; else by where it lies. */
function commandOf(host: string, { env, programs, node }: Scene): string {
  const program = join(programs, "rollcall.cjs");
  const found = (env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "rollcall"))
    .find((path) => existsSync(path));
  const isThis = found !== undefined && existsSync(program) && isSame(found, program);
  if (isThis) return `rollcall hook ${host}`;
  if (/[/\\]_npx[/\\]/.test(program)) {
    const message = "npx keeps rollcall only for a while: install it with npm install -g rollcall";
    throw new RollcallError("WRONG_STATE", message);
  }
  return `${quoted(node)} ${quoted(program)} hook ${host}`;
}

function isSame(a: string, b: string): boolean {
  return realpathSync(a) === realpathSync(b);
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** Names the file in what is wrong with it, and says what to do. */
function inFile<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof RollcallError) || error.code !== "INVALID_ARGUMENT") throw error;
    const message = `${path} cannot be changed: ${error.message}; correct it and try again`;
    throw new RollcallError("WRONG_STATE", message, { cause: error });
  }
}

function readIfThere(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (!stats.isFile() || stats.size > MAX_CONFIG_BYTES) {
    throw new RollcallError("WRONG_STATE", `${path} is no settings file: move it away first`);
  }
  return readFileSync(path, "utf8");
}
