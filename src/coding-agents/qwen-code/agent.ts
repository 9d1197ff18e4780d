/** Qwen Code: hooks in its settings. */
import { join } from "node:path";
import type { CodingAgent } from "../adapter.ts";
import type { Scene } from "../../machine/settings/installer.ts";
import { hookInstaller } from "../install/hook-installer.ts";
import { hooksSwitchedOff } from "../install/hook-settings.ts";
import { qwenCodeDialect } from "./dialect.ts";

export const qwenCode: CodingAgent<"qwen-code"> = {
  name: "qwen-code",
  title: "Qwen Code",
  tried: ["0.24.4"],
  home: qwenHome,
  observe: { by: "hooks" },
  install: hookInstaller({
    host: "qwen-code",
    events: qwenCodeDialect.events,
    file: (scene) => join(qwenHome(scene), "settings.json"),
    warnings: (settings) => hooksSwitchedOff(settings, ["disableAllHooks"], true),
    next: "sessions that are started from now on show up",
  }),
};

function qwenHome({ env, home, project }: Scene): string {
  return project === undefined ? env["QWEN_HOME"] || join(home, ".qwen") : join(project, ".qwen");
}
