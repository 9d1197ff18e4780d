/** OpenCode: it loads our plugin. */
import { join } from "node:path";
import type { CodingAgent } from "../adapter.ts";
import type { Scene } from "../../machine/settings/installer.ts";
import { moduleInstaller } from "../install/module-installer.ts";

export const openCode: CodingAgent<"opencode"> = {
  name: "opencode",
  title: "OpenCode",
  tried: ["1.18.33"],
  home: openCodeHome,
  observe: { by: "module" },
  install: moduleInstaller({
    host: "opencode",
    noun: "plugin",
    module: "opencode.js",
    file: (scene) => join(openCodeHome(scene), "plugins", "rollcall.js"),
    text: [
      "export const RollcallPlugin = async (input) => {",
      "  try {",
      "    return await (await load()).RollcallPlugin(input);",
      "  } catch (error) {",
      '    const body = { title: "Rollcall", message: error.message, variant: "warning" };',
      "    const tell = async () => input.client.tui.showToast({ body });",
      '    return { "chat.message": async () => void tell().catch(() => {}) };',
      "  }",
      "};",
    ],
    next: "restart OpenCode",
  }),
};

function openCodeHome({ env, home, project }: Scene): string {
  if (project !== undefined) return join(project, ".opencode");
  const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
  return env["OPENCODE_CONFIG_DIR"] || join(config, "opencode");
}
