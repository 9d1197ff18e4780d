/** Gemini CLI, with our hooks. */
import { join } from "node:path";
import type { Manners } from "../manners.ts";
import { playDay } from "../moments.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import { hookOfStart, sessionBegun } from "./begun.ts";
import { NODE, nodePath } from "./node.ts";

const MANNERS: Manners = {
  ready: "Type your message",
  begun: sessionBegun,
  // Until its hook has run it has told nothing of the end of a turn.
  busy: /esc to cancel|executing hook/i,
  dialog: "Allow once",
  choice: /Which color[^]*esc to cancel/i,
  alone: ["-p"],
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `Shell: ${command}` }),
  asksToWrite: () => ({ headline: "NEEDS YOU", asks: /^Edit: .*w\.txt$/ }),
  no: ["Up", "Enter"],
  mindsPastes: true,
  knownByPrompt: "after /clear",
  lateMs: {
    // Nothing but the process of a command tells that it was allowed: looked at every two seconds.
    granted: 4_000,
    ended: 5_000,
    // Its hook says that the turn is over, and only the conversation how.
    failed: 5_000,
    gone: 3_000,
  },
};

export const gemini: Program = {
  name: "gemini",
  package: "@google/gemini-cli",
  versions: ["0.61.0"],
  also: [NODE],
  play: (stage) => playDay(stage, prepareGemini(stage), { agent: "gemini", manners: MANNERS }),
};

/** Its settings, with the model on loopback and without asking anything else of the network. */
export function prepareGemini(stage: Stage): string {
  stage.tellAll({
    GEMINI_API_KEY: "test",
    GOOGLE_GEMINI_BASE_URL: stage.model.url,
    // It would ask another model which one to ask.
    GEMINI_MODEL: "gemini-2.5-pro",
  });
  stage.write(".gemini/settings.json", {
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    hooks: hookOfStart(stage),
  });
  return `${nodePath()} ${join(stage.folder, "node_modules/@google/gemini-cli/bundle/gemini.js")}`;
}
