/**
 * Gemini CLI, Qwen Code, Goose and Claude Code as an editor runs them: behind Rollcall's ACP proxy.
 * Claude Code has our hooks too, which hear late or never of an answer: the proxy saw it.
 */
import { join } from "node:path";
import { Editor } from "../editor.ts";
import { IDLE, WORKING } from "../day.ts";
import type { ExpectedRow } from "../fleet.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import { folderOf, type Package } from "../packages.ts";
import { prepareClaude } from "./claude-code.ts";
import { prepareCodex } from "./codex.ts";
import { prepareOpenCode } from "./opencode.ts";
import { prepareGemini } from "./gemini.ts";
import { NODE, nodePath } from "./node.ts";
import { prepareQwen } from "./qwen-code.ts";

export const geminiByProxy: Program = {
  name: "gemini-acp",
  shownAs: "",
  package: "@google/gemini-cli",
  versions: ["0.61.0"],
  also: [NODE],
  play(stage) {
    const command = [...prepareGemini(stage).split(" "), "--acp"];
    return play(stage, { command, signIn: "gemini-api-key" });
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
    return play(stage, { command: [nodePath(), cli, "--acp"] });
  },
};

const GOOSE = `@aaif/goose-binary-${process.platform}-${process.arch}`;

export const gooseByProxy: Program = {
  name: "goose-acp",
  shownAs: "",
  package: GOOSE,
  versions: ["1.52.0"],
  play(stage) {
    stage.tellAll({
      GOOSE_PROVIDER: "openai",
      GOOSE_MODEL: "mock",
      GOOSE_MODE: "approve",
      GOOSE_DISABLE_KEYRING: "1",
      GOOSE_TELEMETRY_ENABLED: "false",
      OPENAI_HOST: stage.model.url,
      OPENAI_API_KEY: "test",
    });
    const goose = join(stage.folder, "node_modules", GOOSE, "bin/goose");
    // The error is a part of its answer, and the turn ends as any other.
    return play(stage, { command: [goose, "acp"], failed: IDLE });
  },
};

const CLAUDE: Package = { name: "@anthropic-ai/claude-code", version: "2.1.197" };

export const claudeByProxy: Program = {
  name: "claude-acp",
  shownAs: "",
  package: "@zed-industries/claude-code-acp",
  versions: ["0.16.2"],
  also: [CLAUDE, NODE],
  isProprietary: true,
  play(stage) {
    stage.tellAll({ CLAUDE_CODE_EXECUTABLE: prepareClaude(stage, folderOf(CLAUDE)) });
    stage.install("claude-code");
    const acp = join(stage.folder, "node_modules/@zed-industries/claude-code-acp/dist/index.js");
    // After a no it calls the turn an internal error of its own.
    const denied: ExpectedRow = { headline: "PROBLEM", why: /Internal error/ };
    return play(stage, { command: [nodePath(), acp], denied, isOrphaned: true });
  },
};

export const openCodeByProxy: Program = {
  name: "opencode-acp",
  shownAs: "",
  package: "opencode-ai",
  versions: ["1.18.33"],
  play: (stage) => play(stage, { command: [prepareOpenCode(stage), "acp"] }),
};

const CODEX: Package = { name: "@openai/codex", version: "0.166.0" };
const CODEX_ACP = `@zed-industries/codex-acp-${process.platform}-${process.arch}`;

export const codexByProxy: Program = {
  name: "codex-acp",
  shownAs: "",
  package: "@zed-industries/codex-acp",
  versions: ["0.16.0"],
  also: [CODEX],
  play(stage) {
    prepareCodex(stage, folderOf(CODEX));
    stage.tellAll({ OPENAI_API_KEY: "test" });
    const command = [join(stage.folder, "node_modules", CODEX_ACP, "bin/codex-acp")];
    return play(stage, { command, signIn: "openai-api-key", mark: "esc" });
  },
};

interface Agent {
  readonly command: readonly string[];
  readonly signIn?: string;
  /** Its row when a person said no: at rest, unless given. */
  readonly denied?: ExpectedRow;
  /** Its row when the model failed: a problem, unless given. */
  readonly failed?: ExpectedRow;
  /** Whether it lives on when its proxy was killed, and is then shown by its hooks. */
  readonly isOrphaned?: boolean;
  /** The model's mark for a command that it asks about: sh, unless given. */
  readonly mark?: string;
}

const STARTING: ExpectedRow = { ...WORKING, why: /Starting agent|Opening session/ };
const FAILED: ExpectedRow = { headline: "PROBLEM", why: /fails as told|error/i };

async function play(stage: Stage, agent: Agent): Promise<void> {
  const { command, signIn, denied = IDLE, failed = FAILED, isOrphaned = false } = agent;
  const { mark = "sh" } = agent;
  await using editor = new Editor(stage, command);
  // It rests, starts and rests again.
  const started = { rows: [IDLE], before: STARTING };
  await stage.moment("start", { act: () => editor.open(stage.project, signIn), ...started });
  await turns(stage, editor, failed);
  await permissions(stage, editor, { mark, denied });
  await stage.moment("editor leaves", { act: () => editor.close(), rows: [] });
  stage.check("the bytes of both sides are the same", () => editor.difference());
  if (isOrphaned) return;
  await using other = new Editor(stage, command);
  await stage.moment("start again", { act: () => other.open(stage.project, signIn), ...started });
  await stage.moment("killed", { act: () => other.kill(), rows: [] });
}

async function turns(stage: Stage, editor: Editor, failed: ExpectedRow): Promise<void> {
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
    rows: [failed],
  });
}

async function permissions(
  stage: Stage,
  editor: Editor,
  { mark, denied }: { readonly mark: string; readonly denied: ExpectedRow },
): Promise<void> {
  const asks = (command: string): Promise<unknown> => {
    editor.forget();
    return editor.prompt(`[[${mark} ${command}]]`);
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
    rows: [denied],
  });
}

async function settled(turn: Promise<unknown>): Promise<void> {
  await turn;
}
