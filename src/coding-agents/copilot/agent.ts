/** GitHub Copilot CLI: hooks in a file of their own. */
import { join } from "node:path";
import type { CodingAgent } from "../adapter.ts";
import { hookInstaller } from "../install/hook-installer.ts";
import type { Scene } from "../../machine/settings/installer.ts";
import { copilotDialect } from "./dialect.ts";

export const copilot: CodingAgent<"copilot"> = {
  name: "copilot",
  title: "Copilot CLI",
  tried: ["1.0.102"],
  observe: { by: "hooks", beside: "session-state/ID/events.jsonl" },
  home: copilotHome,
  install: hookInstaller({
    host: "copilot",
    events: copilotDialect.events,
    file: (scene) => join(copilotHome(scene), "hooks", "rollcall.json"),
    warnings: () => [],
    next: "sessions that are started from now on show up",
  }),
};

function copilotHome({ env, home, project }: Scene): string {
  return project === undefined
    ? env["COPILOT_HOME"] || join(home, ".copilot")
    : join(project, ".github");
}
