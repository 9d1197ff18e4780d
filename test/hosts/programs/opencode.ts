/** OpenCode, with our plugin. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ExpectedRow } from "../fleet.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import type { Terminal } from "../terminal.ts";

const WORKING: ExpectedRow = { headline: "WORKING" };
const IDLE: ExpectedRow = { headline: "IDLE" };

/** On its screen while it works, while it asks for permission, and while it asks a question. */
const BUSY = "esc interrupt";
const PERMISSION = "Permission required";
const QUESTION = "esc dismiss";

/** It starts slowly, and more so on a busy machine. */
const START_MS = 60_000;

export const openCode: Program = {
  name: "opencode",
  package: "opencode-ai",
  versions: ["1.18.33"],
  async play(stage) {
    const opencode = prepare(stage);
    const terminal = await firstTurn(stage, opencode);
    await permissions(stage, terminal);
    await questions(stage, terminal);
    await endings(stage, terminal);
    await terminals(stage, terminal, opencode);
    uninstall(stage);
  },
};

/** Without its packages there OpenCode asks the registry for them first, in vain here. */
const LOCK = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } };

function prepare(stage: Stage): string {
  stage.tellAll({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  });
  const folder = ".config/opencode";
  mkdirSync(join(stage.home, folder, "node_modules"), { recursive: true });
  stage.write(`${folder}/package-lock.json`, LOCK);
  stage.write(`${folder}/opencode.json`, {
    model: "mock/mock",
    small_model: "mock/mock",
    share: "disabled",
    permission: { bash: "ask", edit: "ask" },
    provider: {
      mock: {
        npm: "@ai-sdk/openai-compatible",
        name: "Mock",
        options: { baseURL: `${stage.model.url}/v1`, apiKey: "test" },
        models: { mock: { name: "mock", tool_call: true } },
      },
    },
  });
  stage.run("rollcall", "hooks", "install", "opencode", "--yes");
  const platform = `opencode-${process.platform}-${process.arch}`;
  return join(stage.folder, "node_modules", platform, "bin/opencode");
}

async function firstTurn(stage: Stage, opencode: string): Promise<Terminal> {
  const terminal = stage.terminal(opencode);
  await stage.moment("start: no session yet", {
    act: () => terminal.shows("Ask anything", START_MS),
    rows: [],
  });
  await stage.moment("prompt, stream", {
    act: async () => {
      await terminal.enter("please [[slow 5]]");
      await terminal.shows("word0");
    },
    rows: [{ ...WORKING, pane: terminal.pane }],
  });
  await stage.moment("turn over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
  return terminal;
}

async function permissions(stage: Stage, terminal: Terminal): Promise<void> {
  const asks = (command: string) => async () => {
    await terminal.enter(command);
    await terminal.shows(PERMISSION);
  };
  const answer = (...keys: readonly string[]) => {
    return async () => {
      terminal.press(...keys);
      await terminal.hides(PERMISSION);
    };
  };
  await stage.moment("asks", {
    act: asks("[[sh touch made && sleep 5]]"),
    rows: [
      {
        headline: "NEEDS YOU",
        asks: "bash: touch made && sleep 5",
        options: ["allow once", "allow always: touch *, sleep *", "reject"],
      },
    ],
  });
  await stage.moment("granted: the tool runs", { act: answer("Enter"), rows: [WORKING] });
  await stage.moment("tool and turn over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
  await stage.moment("asks to write", {
    act: asks("[[write made.txt]]"),
    rows: [{ headline: "NEEDS YOU", asks: /^edit: .*made\.txt$/ }],
  });
  await stage.moment("denied", { act: answer("Right", "Right", "Enter"), rows: [IDLE] });
  await stage.moment("asks once more", {
    act: asks("[[sh touch no]]"),
    rows: [{ headline: "NEEDS YOU", asks: "bash: touch no" }],
  });
  await stage.moment("escaped", { act: answer("Escape"), rows: [IDLE] });
  await stage.moment("subagent asks", {
    act: asks("[[sub go <<sh touch sub && sleep 5>>]]"),
    rows: [{ headline: "NEEDS YOU", asks: "bash: touch sub && sleep 5" }],
  });
  await stage.moment("subagent granted", { act: answer("Enter"), rows: [WORKING] });
  await stage.moment("subagent and turn over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
}

async function questions(stage: Stage, terminal: Terminal): Promise<void> {
  const asks = async () => {
    await terminal.enter("[[ask]]");
    await terminal.shows(QUESTION);
  };
  const asked: ExpectedRow = {
    headline: "NEEDS YOU",
    asks: "Which color should the button be?",
    options: ["Red", "Blue"],
  };
  await stage.moment("question", { act: asks, rows: [asked] });
  await stage.moment("question answered", {
    act: async () => {
      terminal.press("Enter");
      await terminal.hides(QUESTION);
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
  await stage.moment("question again", { act: asks, rows: [asked] });
  await stage.moment("question dismissed", {
    act: async () => {
      terminal.press("Escape");
      await terminal.hides(QUESTION);
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
}

async function endings(stage: Stage, terminal: Terminal): Promise<void> {
  await stage.moment("stream escaped", {
    act: async () => {
      await terminal.enter("more [[slow 30]]");
      await terminal.shows(BUSY);
      terminal.press("Escape");
      await terminal.shows("esc again");
      terminal.press("Escape");
      await terminal.hides(/esc (?:again|interrupt)/);
    },
    rows: [IDLE],
  });
  await stage.moment("API error", {
    act: async () => {
      await terminal.enter("[[fail]]");
      await terminal.shows("fails as told");
    },
    rows: [{ headline: "PROBLEM", why: /fails as told/ }],
  });
  await stage.moment("retry", {
    act: async () => {
      await terminal.enter("try [[flaky 6]]");
      await terminal.shows(/retrying/i);
    },
    rows: [WORKING],
  });
  await stage.moment("retry over", { act: () => terminal.hides(/esc |retrying/i), rows: [IDLE] });
}

async function terminals(stage: Stage, first: Terminal, opencode: string): Promise<void> {
  const second = stage.terminal(opencode);
  await stage.moment("second terminal works", {
    act: async () => {
      await second.shows("Ask anything", START_MS);
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
  });
  // The session before it can be chosen again, in this process, and so is still there.
  await stage.moment("/new", {
    act: async () => {
      await first.enter("/new");
      await first.shows("Ask anything");
      await first.enter("anew [[slow 5]]");
      await first.shows("word0");
    },
    rows: [IDLE, WORKING],
  });
  stage.check("nothing on its screen", () =>
    /rollcall/i.test(first.screen) ? first.screen : undefined,
  );
  await stage.moment("killed while it works", { act: () => first.kill(), rows: [] });
}

function uninstall(stage: Stage): void {
  stage.run("rollcall", "hooks", "uninstall", "opencode", "--yes");
  stage.check("uninstalled", () => {
    const left = stage.run("find", join(stage.home, ".config/opencode"), "-name", "*rollcall*");
    return left === "" ? undefined : left;
  });
}
