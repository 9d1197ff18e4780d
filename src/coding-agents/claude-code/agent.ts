/** Claude Code: hooks in its settings. */
import { join } from "node:path";
import type { CodingAgent } from "../adapter.ts";
import { claudeCodeDialect } from "./dialect.ts";
import type { Scene } from "../../machine/settings/installer.ts";
import { hookInstaller } from "../install/hook-installer.ts";
import { hooksSwitchedOff } from "../install/hook-settings.ts";

export const claudeCode: CodingAgent<"claude-code"> = {
  name: "claude-code",
  title: "Claude Code",
  tried: ["2.1.197", "2.1.325"],
  home: claudeHome,
  observe: { by: "hooks", beside: "sessions/PID.json" },
  install: hookInstaller({
    host: "claude-code",
    events: claudeCodeDialect.events,
    file: (scene) => join(claudeHome(scene), "settings.json"),
    warnings: (settings) => hooksSwitchedOff(settings, ["disableAllHooks"], true),
    next: "sessions that are started from now on show up",
  }),
};

function claudeHome({ env, home, project }: Scene): string {
  return project === undefined
    ? env["CLAUDE_CONFIG_DIR"] || join(home, ".claude")
    : join(project, ".claude");
}
