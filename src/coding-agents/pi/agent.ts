/**
 * Pi: it loads our extension, from its folder of extensions or, with `pi install`, from the package
 * (see "pi" in package.json). `@mariozechner/pi-coding-agent` up to 0.73, then
 * `@earendil-works/pi-coding-agent`: both have the same folders.
 */
import { join } from "node:path";
import type { CodingAgent } from "../adapter.ts";
import type { Scene } from "../../machine/settings/installer.ts";
import { moduleInstaller } from "../install/module-installer.ts";

export const pi: CodingAgent<"pi"> = {
  name: "pi",
  title: "Pi",
  tried: ["0.73.1", "0.87.1"],
  home: piHome,
  observe: { by: "module" },
  install: moduleInstaller({
    host: "pi",
    noun: "extension",
    module: "pi.js",
    file: (scene) => join(piHome(scene), "extensions", "rollcall.ts"),
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

function piHome({ env, home, project }: Scene): string {
  if (project !== undefined) return join(project, ".pi");
  return env["PI_CODING_AGENT_DIR"] || join(home, ".pi", "agent");
}
