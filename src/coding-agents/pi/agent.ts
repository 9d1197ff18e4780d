/** Pi: it loads our extension. */
import { join } from "node:path";
import type { CodingAgent } from "../adapter.ts";
import { moduleInstaller } from "../install/module-installer.ts";

export const pi: CodingAgent<"pi"> = {
  name: "pi",
  title: "Pi",
  tried: ["0.73.1", "0.87.1"],
  observe: { by: "module" },
  install: moduleInstaller({
    host: "pi",
    noun: "extension",
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
