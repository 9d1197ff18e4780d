/** Claude Code. Its licence is proprietary: it is installed only when it is named. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { COLOR, IDLE, WORKING } from "../day.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import type { Terminal } from "../terminal.ts";

const SETTINGS = '{\n  "permissions": { "defaultMode": "default" }\n}\n';

const ready = /^❯\s*$/m;

/** Whatever it asks at its very first start. */
const ACCEPTED = (project: string) => ({
  hasCompletedOnboarding: true,
  customApiKeyResponses: { approved: ["test"] },
  projects: { [project]: { hasTrustDialogAccepted: true } },
});

const PACKAGE = "@anthropic-ai/claude-code";

export const claudeCode: Program = {
  name: "claude-code",
  package: PACKAGE,
  versions: ["2.1.197", "2.1.325"],
  isProprietary: true,
  async play(stage) {
    const claude = prepareClaude(stage, stage.folder);
    await withoutTerminal(stage, claude);
    await anew(stage, claude);
    await withoutState(stage, claude);
    const a = stage.terminal(claude);
    await dismissed(a);
    await stage.moment("start", {
      act: () => a.shows(ready),
      rows: [{ ...IDLE, pane: a.pane }],
    });
    await turns(stage, a);
    await permissions(stage, a);
    await questions(stage, a);
    await subagents(stage, a);
    await endings(stage, claude, a);
    uninstall(stage);
    stage.checkHookCost("claude-code");
  },
};

/** With our hooks; the program is in the folder of its package. */
export function prepareClaude(stage: Stage, folder: string): string {
  stage.tellAll({
    ANTHROPIC_BASE_URL: stage.model.url,
    ANTHROPIC_API_KEY: "test",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  });
  stage.write(".claude.json", ACCEPTED(stage.project));
  stage.write(".claude/settings.json", SETTINGS);
  stage.run("rollcall", "hooks", "install", "claude-code", "--yes");
  const platform = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;
  return join(folder, "node_modules", platform, "claude");
}

async function withoutTerminal(stage: Stage, claude: string): Promise<void> {
  const run = stage.background(claude, "-p", "[[slow 4]]");
  await stage.moment("-p: works", { act: () => stage.settled(WORKING), rows: [WORKING] });
  await stage.moment("-p: ends", { act: () => run, rows: [] });
  const denied = stage.background(claude, "-p", "[[sh touch p.txt]]");
  await stage.moment("-p: a permission is denied", { act: () => denied, rows: [] });
}

/**
 * Newer versions ask at their first start whether to go on in auto mode, in a dialog that no hook
 * tells of. After a yes the process executes itself anew, with another session.
 */
async function anew(stage: Stage, claude: string): Promise<void> {
  const first = stage.terminal(configured(stage, ".claude-anew", claude));
  await first.shows(/^❯|Make auto mode/m);
  if (await asksForAutoMode(first)) {
    await stage.moment("a dialog of its start", {
      act: () => first.shows("Make auto mode"),
      rows: [{ headline: "NEEDS YOU", asks: "it waits: dialog open", pane: first.pane }],
    });
    await stage.moment("it executed itself anew", {
      act: async () => {
        first.press("Enter");
        await first.hides("Make auto mode");
      },
      rows: [{ ...IDLE, pane: first.pane }],
    });
  }
  first.kill();
  await stage.moment("kill -9 at rest", { act: () => first.ends(), rows: [], withinMs: 3_000 });
}

/** As older versions are, which keep no state of their processes: the conversation has to do. */
async function withoutState(stage: Stage, claude: string): Promise<void> {
  const command = configured(stage, ".claude-older", claude);
  // Where a file is there can be no folder.
  stage.write(".claude-older/sessions", "");
  const terminal = stage.terminal(command);
  await dismissed(terminal);
  await terminal.shows(ready);
  await stage.moment("no state: stream", {
    act: () => say(terminal, "[[slow 20]]", "esc to interrupt"),
    rows: [WORKING],
  });
  await stage.moment("no state: Esc in a stream", { act: () => escape(terminal), rows: [IDLE] });
  await stage.moment("no state: a tool asks", {
    act: () => say(terminal, "[[sh touch older]]", "Do you want"),
    rows: [{ headline: "NEEDS YOU", asks: "Bash: touch older" }],
  });
  await stage.moment("no state: denied", { act: () => answer(terminal, "Escape"), rows: [IDLE] });
  terminal.kill();
  await stage.moment("no state: killed", { act: () => terminal.ends(), rows: [], withinMs: 3_000 });
}

/** The command with settings of its own, and our hooks in them. */
function configured(stage: Stage, name: string, claude: string): string {
  stage.write(`${name}/settings.json`, SETTINGS);
  stage.write(`${name}/.claude.json`, ACCEPTED(stage.project));
  const env = `CLAUDE_CONFIG_DIR=${join(stage.home, name)}`;
  stage.run("env", env, "rollcall", "hooks", "install", "claude-code", "--yes");
  return `env ${env} ${claude}`;
}

/** The dialog comes a moment after the first screen. */
async function asksForAutoMode(terminal: Terminal): Promise<boolean> {
  return terminal.shows("Make auto mode", 6_000).then(
    () => true,
    () => false,
  );
}

async function dismissed(terminal: Terminal): Promise<void> {
  await terminal.shows(/^❯|Make auto mode/m);
  if (!(await asksForAutoMode(terminal))) return;
  terminal.press("Down");
  await terminal.shows("❯ No");
  terminal.press("Enter");
  await terminal.hides("Make auto mode");
}

async function turns(stage: Stage, a: Terminal): Promise<void> {
  await stage.moment("prompt, stream", {
    act: () => say(a, "[[slow 8]]", "esc to interrupt"),
    rows: [{ ...WORKING, why: "[[slow 8]]" }],
  });
  await stage.moment("turn over", { act: () => a.hides("esc to interrupt"), rows: [IDLE] });
  await stage.moment("stream again", {
    act: () => say(a, "again [[slow 20]]", "esc to interrupt"),
    rows: [WORKING],
  });
  await stage.moment("Esc in a stream", { act: () => escape(a), rows: [IDLE] });
  await stage.moment("API error", {
    act: () => say(a, "[[fail]]", "the model fails as told"),
    rows: [{ headline: "PROBLEM", why: /the model fails as told/ }],
  });
  await stage.moment("retry of an API error", {
    act: () => say(a, "[[flaky 8]]", "esc to interrupt"),
    rows: [WORKING],
  });
  await stage.moment("after the retry", { act: () => a.hides("esc to interrupt"), rows: [IDLE] });
}

async function permissions(stage: Stage, a: Terminal): Promise<void> {
  const bash = (command: string) => [{ headline: "NEEDS YOU", asks: `Bash: ${command}` }] as const;
  await stage.moment("a tool asks", {
    act: () => say(a, "[[sh touch made && sleep 4]]", "Do you want"),
    rows: bash("touch made && sleep 4"),
  });
  await stage.moment("granted, the tool runs", {
    act: () => answer(a, "1"),
    rows: [WORKING],
  });
  await stage.moment("tool and turn over", { act: () => a.shows("Done: the"), rows: [IDLE] });
  await stage.moment("asks again", {
    act: () => say(a, "[[sh touch no]]", "Do you want"),
    rows: bash("touch no"),
  });
  await stage.moment("denied", { act: () => answer(a, "Up", "Enter"), rows: [IDLE] });
  await stage.moment("a file is to be written", {
    act: () => say(a, `[[write ${stage.project}/w.txt]]`, "Do you want"),
    rows: [{ headline: "NEEDS YOU", asks: `Write: ${stage.project}/w.txt` }],
  });
  await stage.moment("Esc at the dialog", { act: () => answer(a, "Escape"), rows: [IDLE] });
  await stage.moment("two at once, the first asks", {
    act: () => say(a, "[[sh2 touch one;;touch two]]", "Do you want"),
    rows: bash("touch one"),
  });
  await stage.moment("two at once, the second asks", {
    act: async () => {
      a.press("1");
      await a.shows(/touch two[^]*Do you want/);
    },
    rows: bash("touch two"),
  });
  await stage.moment("two at once, both ran", { act: () => answer(a, "1"), rows: [IDLE] });
}

async function questions(stage: Stage, a: Terminal): Promise<void> {
  await stage.moment("it asks a question", {
    act: () => say(a, "[[ask]]", "Which color"),
    rows: [COLOR],
  });
  await stage.moment("question answered", { act: () => answer(a, "Enter"), rows: [IDLE] });
  await stage.moment("it asks once more", {
    act: () => say(a, "again [[ask]]", "Which color"),
    rows: [COLOR],
  });
  await stage.moment("question dismissed", { act: () => answer(a, "Escape"), rows: [IDLE] });
  await stage.moment("the answer ends with a question", {
    act: () => say(a, "[[q]]", "Shall I drop the table?"),
    rows: [{ headline: "NEEDS YOU", asks: "Shall I drop the table?" }],
  });
}

async function subagents(stage: Stage, a: Terminal): Promise<void> {
  await stage.moment("a subagent asks", {
    act: () => say(a, "[[sub please <<sh touch sub && sleep 4>>]]", "Do you want"),
    rows: [{ headline: "NEEDS YOU", asks: "Bash: touch sub && sleep 4" }],
  });
  await stage.moment("granted, the subagent works", { act: () => answer(a, "1"), rows: [WORKING] });
  await stage.moment("the subagent is done", {
    act: async () => {
      await stage.settled(IDLE);
      // One in the background wakes the session when it is done.
      await a.calms();
    },
    rows: [IDLE],
  });
  await stage.moment("a subagent asks again", {
    act: () => say(a, "[[sub please <<sh touch sub2>>]]", "Do you want"),
    rows: [{ headline: "NEEDS YOU", asks: "Bash: touch sub2" }],
  });
  await stage.moment("the subagent is denied", {
    act: async () => {
      await answer(a, "Escape");
      // It may tell the session, which then goes on for a moment.
      await a.calms();
    },
    rows: [IDLE],
  });
}

async function endings(stage: Stage, claude: string, a: Terminal): Promise<void> {
  await stage.moment("/clear", { act: () => clear(a), rows: [{ ...IDLE, isNew: true }] });
  const b = stage.terminal(claude);
  await stage.moment("a second terminal", {
    act: () => b.shows(ready),
    rows: [
      { ...IDLE, pane: a.pane },
      { ...IDLE, pane: b.pane },
    ],
  });
  await stage.moment("the second one asks", {
    act: () => say(b, "[[sh touch b]]", "Do you want"),
    rows: [
      { ...IDLE, pane: a.pane },
      { headline: "NEEDS YOU", asks: "Bash: touch b", pane: b.pane },
    ],
  });
  await stage.moment("kill -9 with its dialog open", {
    act: () => b.kill(),
    rows: [{ ...IDLE, pane: a.pane }],
    // Looked at every 2 s.
    withinMs: 3_000,
  });
  await stage.moment("the first one is closed", {
    act: async () => {
      await a.enter("/exit");
      await a.ends();
    },
    rows: [],
  });
}

function uninstall(stage: Stage): void {
  stage.run("rollcall", "hooks", "uninstall", "claude-code", "--yes");
  stage.check("uninstalled without a trace", () => {
    const text = readFileSync(join(stage.home, ".claude/settings.json"), "utf8");
    return text === SETTINGS ? undefined : `settings.json is now ${text}`;
  });
}

async function say(terminal: Terminal, prompt: string, until: string | RegExp): Promise<void> {
  await terminal.enter(prompt);
  await terminal.shows(until);
}

/** At a dialog, which goes away then. */
async function answer(terminal: Terminal, ...keys: readonly string[]): Promise<void> {
  terminal.press(...keys);
  await terminal.hides(/Do you want|Enter to select/);
}

async function escape(terminal: Terminal): Promise<void> {
  terminal.press("Escape");
  await terminal.shows("Interrupted");
}

async function clear(terminal: Terminal): Promise<void> {
  await terminal.enter("/clear");
  await terminal.hides("[[sub");
}
