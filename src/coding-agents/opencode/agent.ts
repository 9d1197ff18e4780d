/** OpenCode: it loads our plugin. */
import { join } from "node:path";
import type { CodingAgent } from "../adapter.ts";
import { moduleInstaller } from "../install/module-installer.ts";

export const openCode: CodingAgent<"opencode"> = {
  name: "opencode",
  title: "OpenCode",
  tried: ["1.18.33"],
  observe: { by: "module" },
  install: moduleInstaller({
    host: "opencode",
    noun: "plugin",
    module: "opencode/plugin.js",
    file: ({ env, home, project }) => {
      const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
      const all = env["OPENCODE_CONFIG_DIR"] || join(config, "opencode");
      const folder = project === undefined ? all : join(project, ".opencode");
      return join(folder, "plugins", "rollcall.js");
    },
    text: [
      "export const RollcallPlugin = async (input) => {",
      "  try {",
      "    return await (await load()).RollcallPlugin(input);",
      "  } catch (error) {",
      '    const body = { title: "Rollcall", message: error.message, variant: "warning" };',
      "    const tell = () => input.client.tui.showToast({ body });",
      '    return { "chat.message": async () => void tell().catch(() => {}) };',
      "  }",
      "};",
    ],
    next: "restart OpenCode",
  }),
};
