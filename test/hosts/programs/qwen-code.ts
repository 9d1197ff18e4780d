/** Qwen Code, with our hooks. */
import { join } from "node:path";
import type { ExpectedRow } from "../fleet.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import type { Terminal } from "../terminal.ts";
import { NODE, nodePath } from "./node.ts";

const WORKING: ExpectedRow = { headline: "WORKING" };
const IDLE: ExpectedRow = { headline: "IDLE" };

/** On its screen while it works, and while it asks. */
const BUSY = /esc to cancel/i;
const DIALOG = "Waiting for user confirmation";

export const qwenCode: Program = {
  name: "qwen-code",
  package: "@qwen-code/qwen-code",
  versions: ["0.24.4"],
  also: [NODE],
  async play(stage) {
    const command = prepare(stage);
    const terminal = stage.terminal(command);
    await turn(stage, terminal);
    await dialogs(stage, terminal);
    await endings(stage, terminal);
    await terminals(stage, terminal, command);
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
  });
  return `${nodePath()} ${join(stage.folder, "node_modules/@qwen-code/qwen-code/cli-entry.js")}`;
}

function prepare(stage: Stage): string {
  const command = prepareQwen(stage);
  stage.run("rollcall", "hooks", "install", "qwen-code", "--yes");
  return command;
}

async function turn(stage: Stage, terminal: Terminal): Promise<void> {
  await stage.moment("start", {
    act: () => terminal.shows("Type your message"),
    rows: [{ ...IDLE, pane: terminal.pane }],
    // Its hook of the start follows the first screen.
    withinMs: 5_000,
  });
  await stage.moment("prompt, stream", {
    act: async () => {
      await terminal.enter("please [[slow 5]]");
      await terminal.shows("word0");
    },
    rows: [WORKING],
  });
  await stage.moment("turn over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
}

async function dialogs(stage: Stage, terminal: Terminal): Promise<void> {
  const asks = (prompt: string) => async () => {
    await terminal.enter(prompt);
    await terminal.shows(DIALOG);
  };
  const answer = (...keys: readonly string[]) => {
    return async () => {
      for (const key of keys) terminal.press(key);
      await terminal.hides(DIALOG);
    };
  };
  await stage.moment("asks", {
    act: asks("[[sh touch made && sleep 5]]"),
    rows: [{ headline: "NEEDS YOU", asks: "run_shell_command: touch made && sleep 5" }],
  });
  await stage.moment("granted: the tool runs", { act: answer("Enter"), rows: [WORKING] });
  await stage.moment("tool and turn over", {
    act: async () => {
      await terminal.shows("Done: the tool has run");
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
  await stage.moment("asks again", {
    act: asks("[[sh touch no]]"),
    rows: [{ headline: "NEEDS YOU", asks: "run_shell_command: touch no" }],
  });
  await stage.moment("escaped", { act: answer("Escape"), rows: [IDLE] });
  await stage.moment("question", {
    act: asks("[[ask]]"),
    rows: [
      {
        headline: "NEEDS YOU",
        asks: "Which color should the button be?",
        options: ["Red", "Blue"],
      },
    ],
  });
  await stage.moment("question answered", {
    act: async () => {
      terminal.press("Enter");
      await terminal.hides(DIALOG);
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
}

async function endings(stage: Stage, terminal: Terminal): Promise<void> {
  await stage.moment("stream escaped", {
    act: async () => {
      await terminal.enter("more [[slow 30]]");
      // No turn before it said so much.
      await terminal.shows("word11");
      terminal.press("Escape");
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
  // The prompt that was escaped is there again.
  terminal.press("C-u");
  await stage.moment("API error", {
    act: async () => {
      await terminal.enter("[[fail]]");
      await terminal.shows("fails as told");
    },
    rows: [{ headline: "PROBLEM", why: /fails as told/ }],
  });
  await stage.moment("retry", {
    act: async () => {
      await terminal.enter("try [[flaky 8]]");
      await terminal.shows("word0");
    },
    rows: [WORKING],
  });
  await stage.moment("retry over", {
    act: async () => {
      await terminal.shows("word15");
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
}

async function terminals(stage: Stage, first: Terminal, command: string): Promise<void> {
  await stage.moment("/clear, prompt", {
    act: async () => {
      await first.enter("/clear");
      await first.hides(/word0|fails as told/);
      await first.shows("Type your message");
      await first.enter("anew [[slow 3]]");
      await first.shows("word0");
    },
    rows: [{ ...WORKING, pane: first.pane }],
  });
  await stage.moment("turn over again", { act: () => first.hides(BUSY), rows: [IDLE] });
  const second = stage.terminal(command);
  await stage.moment("second terminal works", {
    act: async () => {
      await second.shows("Type your message");
      await second.enter("there [[slow 4]]");
      await second.shows("word0");
    },
    rows: [
      { ...IDLE, pane: first.pane },
      { ...WORKING, pane: second.pane },
    ],
  });
  await stage.moment("second terminal killed", {
    act: () => second.kill(),
    rows: [{ ...IDLE, pane: first.pane }],
    // The sidecar looks every two seconds.
    withinMs: 5_000,
  });
  stage.check("nothing on its screen", () =>
    /rollcall/i.test(first.screen) ? first.screen : undefined,
  );
  await stage.moment("quit", {
    act: async () => {
      await first.enter("/quit");
      await first.ends();
    },
    rows: [],
    withinMs: 5_000,
  });
}
