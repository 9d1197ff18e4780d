/**
 * Pi: it loads our extension, from its folder of extensions or, with `pi install`, from the package
 * (see "pi" in package.json). `@mariozechner/pi-coding-agent` up to 0.73, then
 * `@earendil-works/pi-coding-agent`: both have the same folders.
 */
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
    text: [
      "export default async function (pi) {",
      "  try {",
      "    (await load()).rollcallExtension(pi);",
      "  } catch (error) {",
      '    pi.on("session_start", (_, { ui }) => ui.notify(error.message, "warning"));',
      "  }",
      "}",
    ],
    next: "run /reload in Pi, or restart it",
  }),
};
