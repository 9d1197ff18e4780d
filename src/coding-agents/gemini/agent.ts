/** Gemini CLI: hooks in its settings. */
import { join } from "node:path";
import type { CodingAgent } from "../adapter.ts";
import type { Scene } from "../../machine/settings/installer.ts";
import { hookInstaller } from "../install/hook-installer.ts";
import { hooksSwitchedOff } from "../install/hook-settings.ts";
import { geminiDialect } from "./dialect.ts";

export const gemini: CodingAgent<"gemini"> = {
  name: "gemini",
  title: "Gemini CLI",
  tried: ["0.61.0"],
  home: geminiHome,
  observe: { by: "hooks", beside: "the conversation that it writes down" },
  install: hookInstaller({
    host: "gemini",
    events: geminiDialect.events,
    file: (scene) => join(geminiHome(scene), "settings.json"),
    warnings: (settings) => hooksSwitchedOff(settings, ["hooksConfig", "enabled"], false),
    next: "sessions that are started from now on show up",
  }),
};

function geminiHome({ env, home, project }: Scene): string {
  return join(project ?? (env["GEMINI_CLI_HOME"] || home), ".gemini");
}
