/** Gemini CLI and Qwen Code as an editor runs them: behind Rollcall's ACP proxy. */
import { join } from "node:path";
import { Editor } from "../editor.ts";
import type { ExpectedRow } from "../fleet.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import { prepareGemini } from "./gemini.ts";
import { NODE, nodePath } from "./node.ts";
import { prepareQwen } from "./qwen-code.ts";

const IDLE: ExpectedRow = { headline: "IDLE" };
const WORKING: ExpectedRow = { headline: "WORKING" };

export const geminiByProxy: Program = {
  name: "gemini-acp",
  shownAs: "",
  package: "@google/gemini-cli",
  versions: ["0.61.0"],
  also: [NODE],
  play(stage) {
    const command = [...prepareGemini(stage).split(" "), "--acp"];
    return play(stage, command, "gemini-api-key");
  },
};

export const qwenByProxy: Program = {
  name: "qwen-acp",
  shownAs: "",
  package: "@qwen-code/qwen-code",
  versions: ["0.24.4", "0.15.10"],
  also: [NODE],
  play(stage) {
    prepareQwen(stage);
    const cli = join(stage.folder, "node_modules/@qwen-code/qwen-code/cli.js");
    return play(stage, [nodePath(), cli, "--acp"]);
  },
};

async function play(stage: Stage, command: readonly string[], signIn?: string): Promise<void> {
  await using editor = new Editor(stage, command);
  await stage.moment("start", { act: () => editor.open(stage.project, signIn), rows: [IDLE] });
  await turns(stage, editor);
  await permissions(stage, editor);
  await stage.moment("editor leaves", { act: () => editor.close(), rows: [] });
  await using other = new Editor(stage, command);
  await stage.moment("start again", { act: () => other.open(stage.project, signIn), rows: [IDLE] });
  await stage.moment("killed", { act: () => other.kill(), rows: [] });
}

async function turns(stage: Stage, editor: Editor): Promise<void> {
  let turn = editor.prompt("please [[slow 4]]");
  await stage.moment("prompt, stream", { act: () => editor.hears("word0"), rows: [WORKING] });
  await stage.moment("turn over", { act: () => settled(turn), rows: [IDLE] });
  editor.forget();
  turn = editor.prompt("more [[slow 30]]");
  await stage.moment("cancelled", {
    act: async () => {
      await editor.hears("word3");
      editor.cancel();
      await turn;
    },
    rows: [IDLE],
  });
  await stage.moment("API error", {
    act: () => settled(editor.prompt("[[fail]]")),
    rows: [{ headline: "PROBLEM", why: /fails as told|error/i }],
  });
}

async function permissions(stage: Stage, editor: Editor): Promise<void> {
  const asks = (command: string): Promise<unknown> => {
    editor.forget();
    return editor.prompt(`[[sh ${command}]]`);
  };
  let turn = asks("touch made && sleep 4");
  await stage.moment("asks", {
    act: () => editor.hears("session/request_permission"),
    rows: [{ headline: "NEEDS YOU", asks: /touch made && sleep 4/ }],
  });
  await stage.moment("granted: the tool runs", {
    act: () => editor.answer("allow_once"),
    rows: [{ ...WORKING, why: /touch made && sleep 4/ }],
  });
  await stage.moment("tool and turn over", { act: () => settled(turn), rows: [IDLE] });
  turn = asks("touch no");
  await stage.moment("asks again", {
    act: () => editor.hears("session/request_permission"),
    rows: [{ headline: "NEEDS YOU", asks: /touch no/ }],
  });
  await stage.moment("denied", {
    act: async () => {
      await editor.answer("reject_once");
      await turn;
    },
    rows: [IDLE],
  });
}

async function settled(turn: Promise<unknown>): Promise<void> {
  await turn;
}
