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
    module: "opencode/plugin.js",
    file: (scene) => join(openCodeHome(scene), "plugins", "rollcall.js"),
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

function openCodeHome({ env, home, project }: Scene): string {
  if (project !== undefined) return join(project, ".opencode");
  const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
  return env["OPENCODE_CONFIG_DIR"] || join(config, "opencode");
}
