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
};
