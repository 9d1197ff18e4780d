/**
 * Programs that draw their first screen some seconds before they have a session: a hook of our own
 * for the start of a session, beside that of Rollcall, tells when that is.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../tour/until.ts";
import type { Stage } from "../stage.ts";

/** In their settings. */
export function hookOfStart(stage: Stage): object {
  const command = `touch ${pathIn(stage)}`;
  return { SessionStart: [{ hooks: [{ type: "command", command }] }] };
}

export async function sessionBegun(stage: Stage): Promise<void> {
  await until("a session", () => existsSync(pathIn(stage)) || undefined);
}

function pathIn({ home }: Stage): string {
  return join(home, "begun");
}
