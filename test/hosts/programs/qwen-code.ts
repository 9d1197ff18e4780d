/** Qwen Code, with our hooks. */
import { join } from "node:path";
import { Day, IDLE, WORKING, type Manners } from "../day.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import { NODE, nodePath } from "./node.ts";

const MANNERS: Manners = {
  ready: "Type your message",
  busy: /esc to cancel/i,
  dialog: "Waiting for user confirmation",
  choice: "Waiting for user confirmation",
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `run_shell_command: ${command}` }),
  // Its hook of the start follows the first screen; its process is looked at every two seconds.
  lateMs: { start: 5_000, gone: 3_000 },
};

export const qwenCode: Program = {
  name: "qwen-code",
  package: "@qwen-code/qwen-code",
  versions: ["0.24.4"],
  also: [NODE],
  async play(stage) {
    const command = prepareQwen(stage);
    const uninstall = stage.install("qwen-code");
    const day = new Day(stage, MANNERS, stage.terminal(command));
    await day.start();
    await day.turn();
    await day.permission();
    await day.escapes();
    await day.denies("4");
    await subagent(stage, day);
    await day.question();
    await day.asksAtEnd();
    await day.interrupts();
    // The prompt that was interrupted is there again.
    day.terminal.press("C-u");
    await day.fails();
    await day.retries();
    await clears(stage, day);
    await day.secondTerminal(command);
    await day.quits();
    uninstall();
    stage.checkHookCost("qwen-code");
  },
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
    // Else it writes the file anew, in its own way.
    $version: 4,
  });
  return `${nodePath()} ${join(stage.folder, "node_modules/@qwen-code/qwen-code/cli-entry.js")}`;
}

/** It asks before it begins one, which then works in the background and may ask nothing. */
async function subagent(stage: Stage, day: Day): Promise<void> {
  await day.asks("asks for a subagent", "[[sub go <<slow 2>>]]", {
    headline: "NEEDS YOU",
    asks: "Use agent?",
  });
  await stage.moment("subagent and turn over", {
    async act() {
      await day.answer("Enter");
      await day.terminal.shows("completed");
      // It wakes the session, which says a last word.
      await day.terminal.calms();
      await day.rests();
    },
    rows: [IDLE],
  });
}

/** In programs that tell of the new session with its first prompt. */
export async function clears(stage: Stage, day: Day, ready = MANNERS.ready): Promise<void> {
  const { terminal } = day;
  await stage.moment("/clear, prompt", {
    act: async () => {
      await day.enter("/clear");
      await terminal.hides("[[");
      await terminal.shows(ready);
      await day.say("anew [[slow 3]]", "word0");
    },
    rows: [{ ...WORKING, pane: terminal.pane, isNew: true }],
  });
  await stage.moment("turn over again", { act: () => day.rests(), rows: [IDLE] });
}
