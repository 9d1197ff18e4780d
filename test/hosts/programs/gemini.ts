/** Gemini CLI, with our hooks. */
import { join } from "node:path";
// tidy-allow sleep: the program measures how fast a person types
import { setTimeout as pause } from "node:timers/promises";
import type { ExpectedRow } from "../fleet.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import type { Terminal } from "../terminal.ts";
import { NODE, nodePath } from "./node.ts";

const WORKING: ExpectedRow = { headline: "WORKING" };
const IDLE: ExpectedRow = { headline: "IDLE" };

/** On its screen while it works, and while it asks for permission. */
const BUSY = /esc to cancel/i;
const DIALOG = "Allow once";

export const gemini: Program = {
  name: "gemini",
  package: "@google/gemini-cli",
  versions: ["0.61.0"],
  also: [NODE],
  async play(stage) {
    const command = prepareGemini(stage);
    stage.run("rollcall", "hooks", "install", "gemini", "--yes");
    const terminal = stage.terminal(command);
    await turn(stage, terminal);
    await dialogs(stage, terminal);
    await endings(stage, terminal);
    await terminals(stage, terminal, command);
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

/** Enter right behind text counts as a part of something pasted. */
const PASTE_MS = 300;

async function enter(terminal: Terminal, text: string): Promise<void> {
  await terminal.type(text);
  await pause(PASTE_MS);
  terminal.press("Enter");
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
      await enter(terminal, "please [[slow 5]]");
      await terminal.shows("word0");
    },
    rows: [WORKING],
  });
  await stage.moment("turn over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
}

async function dialogs(stage: Stage, terminal: Terminal): Promise<void> {
  const asks = (prompt: string) => async () => {
    await enter(terminal, prompt);
    await terminal.shows(DIALOG);
  };
  const answer = (key: string) => async () => {
    terminal.press(key);
    await terminal.hides(DIALOG);
  };
  await stage.moment("asks", {
    act: asks("[[sh touch made && sleep 6]]"),
    rows: [{ headline: "NEEDS YOU", asks: "Shell: touch made && sleep 6" }],
  });
  await stage.moment("granted: the tool runs", {
    act: answer("Enter"),
    rows: [WORKING],
    // Nothing but the process of the command tells of it, and the sidecar looks every two seconds.
    withinMs: 4_000,
  });
  await stage.moment("tool and turn over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
  await stage.moment("asks to write", {
    act: asks("[[write made.txt]]"),
    rows: [{ headline: "NEEDS YOU", asks: /^Edit: .*made\.txt$/ }],
  });
  await stage.moment("granted", {
    act: async () => {
      await answer("Enter")();
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
  await stage.moment("asks again", {
    act: asks("[[sh touch no]]"),
    rows: [{ headline: "NEEDS YOU", asks: "Shell: touch no" }],
  });
  await stage.moment("escaped", { act: answer("Escape"), rows: [IDLE], withinMs: 5_000 });
  await stage.moment("question", {
    act: async () => {
      await enter(terminal, "[[ask]]");
      await terminal.shows("Which color");
    },
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
      await terminal.shows("Done: the tool has run");
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
}

async function endings(stage: Stage, terminal: Terminal): Promise<void> {
  await stage.moment("stream escaped", {
    act: async () => {
      await enter(terminal, "more [[slow 30]]");
      // No turn before it said so much.
      await terminal.shows("word11");
      terminal.press("Escape");
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
  await stage.moment("API error", {
    act: async () => {
      await enter(terminal, "[[fail]]");
      await terminal.shows("fails as told");
    },
    rows: [{ headline: "PROBLEM", why: /fails as told/ }],
    // Its hook says that the turn is over, and only the conversation how.
    withinMs: 5_000,
  });
}

async function terminals(stage: Stage, first: Terminal, command: string): Promise<void> {
  await stage.moment("/clear, prompt", {
    act: async () => {
      await enter(first, "/clear");
      await first.hides(/word0|fails as told/);
      await first.shows("Type your message");
      await enter(first, "anew [[slow 3]]");
      await first.shows("word0");
    },
    rows: [{ ...WORKING, pane: first.pane }],
  });
  await stage.moment("turn over again", { act: () => first.hides(BUSY), rows: [IDLE] });
  const second = stage.terminal(command);
  await stage.moment("second terminal works", {
    act: async () => {
      await second.shows("Type your message");
      await enter(second, "there [[slow 4]]");
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
    withinMs: 5_000,
  });
  stage.check("nothing on its screen", () =>
    /rollcall/i.test(first.screen) ? first.screen : undefined,
  );
  await stage.moment("quit", {
    act: async () => {
      await enter(first, "/quit");
      await first.ends();
    },
    rows: [],
    withinMs: 5_000,
  });
}
