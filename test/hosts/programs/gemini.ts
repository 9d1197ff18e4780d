/** Gemini CLI, with our hooks. */
import { join } from "node:path";
import { Day, IDLE, type Manners } from "../day.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import { NODE, nodePath } from "./node.ts";
import { clears } from "./qwen-code.ts";

const MANNERS: Manners = {
  ready: "Type your message",
  // Until its hook has run it has told nothing of the end of a turn.
  busy: /esc to cancel|executing hook/i,
  dialog: "Allow once",
  choice: /Which color[^]*esc to cancel/i,
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `Shell: ${command}` }),
  mindsPastes: true,
  lateMs: {
    // Its hook of the start follows the first screen.
    start: 5_000,
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
  async play(stage) {
    const command = prepareGemini(stage);
    const uninstall = stage.install("gemini");
    const day = new Day(stage, MANNERS, stage.terminal(command));
    await day.start();
    await day.turn();
    await day.permission();
    await writes(stage, day);
    await day.escapes();
    await day.denies("Up", "Enter");
    await day.question();
    await day.asksAtEnd();
    await day.interrupts();
    await day.fails();
    await day.retries();
    await day.subagent();
    await clears(stage, day);
    await day.secondTerminal(command);
    await day.quits();
    uninstall();
    stage.checkHookCost("gemini");
  },
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
  });
  return `${nodePath()} ${join(stage.folder, "node_modules/@google/gemini-cli/bundle/gemini.js")}`;
}

async function writes(stage: Stage, day: Day): Promise<void> {
  await day.asks("asks to write", "[[write made.txt]]", {
    headline: "NEEDS YOU",
    asks: /^Edit: .*made\.txt$/,
  });
  await stage.moment("granted", {
    act: async () => {
      await day.answer("Enter");
      await day.rests();
    },
    rows: [IDLE],
  });
}
