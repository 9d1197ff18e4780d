/** Qwen Code, with our hooks. */
import { join } from "node:path";
import { IDLE, type Day } from "../day.ts";
import type { Manners } from "../manners.ts";
import { playDay } from "../moments.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import { hookOfStart, sessionBegun } from "./begun.ts";
import { NODE, nodePath } from "./node.ts";

const MANNERS: Manners = {
  ready: "Type your message",
  begun: sessionBegun,
  busy: /esc to cancel/i,
  dialog: "Waiting for user confirmation",
  choice: "Waiting for user confirmation",
  alone: ["-p"],
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `run_shell_command: ${command}` }),
  asksToWrite: (path) => ({ headline: "NEEDS YOU", asks: `write_file: ${path}` }),
  no: ["4"],
  knownByPrompt: "after /clear",
  // Its process is looked at every two seconds.
  lateMs: { gone: 3_000 },
};

export const qwenCode: Program = {
  name: "qwen-code",
  package: "@qwen-code/qwen-code",
  versions: ["0.24.4"],
  also: [NODE],
  play: (stage) =>
    playDay(stage, prepareQwen(stage), {
      agent: "qwen-code",
      manners: MANNERS,
      instead: { subagent },
      after: {
        // The prompt that was interrupted is there again.
        interruption: async ({ terminal }) => terminal.press("C-u"),
      },
    }),
};

/** Its settings, with the model on loopback and without asking anything else of the network. */
export function prepareQwen(stage: Stage): string {
  stage.tellAll({
    OPENAI_BASE_URL: `${stage.model.url}/v1`,
    OPENAI_API_KEY: "test",
    OPENAI_MODEL: "mock",
  });
  stage.write(".qwen/settings.json", {
    security: { auth: { selectedType: "openai" } },
    tools: { approvalMode: "default" },
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
    hooks: hookOfStart(stage),
    // Else it writes the file anew, in its own way.
    $version: 4,
  });
  return `${nodePath()} ${join(stage.folder, "node_modules/@qwen-code/qwen-code/cli-entry.js")}`;
}

/** It asks before it begins one, which then works in the background and may ask nothing. */
async function subagent(day: Day): Promise<void> {
  await day.asks("asks for a subagent", "[[sub go <<slow 2>>]]", {
    headline: "NEEDS YOU",
    asks: "Use agent?",
  });
  const act = async () => {
    await day.answer("Enter");
    await day.terminal.shows("completed");
    // It wakes the session, which says a last word.
    await day.terminal.calms();
    await day.rests();
  };
  await day.moment("subagent and turn over", act, { rows: [IDLE] });
}
