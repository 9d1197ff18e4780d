/** Claude Code. Its licence is proprietary: it is installed only when it is named. */
import { join } from "node:path";
import { Day, IDLE, WORKING, type Manners } from "../day.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import type { Terminal } from "../terminal.ts";

const SETTINGS = '{\n  "permissions": { "defaultMode": "default" }\n}\n';

const MANNERS: Manners = {
  ready: /^❯\s*$/m,
  busy: "esc to interrupt",
  // Of an answer it shows whole lines, and until then how much has come. A prompt that is taken
  // back before that leaves nothing behind, not even in the conversation.
  streaming: /↓ \d+ tokens/,
  dialog: "Do you want",
  choice: "Enter to select",
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `Bash: ${command}` }),
  // Its process is looked at every two seconds.
  lateMs: { gone: 3_000 },
};

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
    const uninstall = stage.install("claude-code");
    await withoutTerminal(stage, claude);
    await anew(stage, claude);
    await withoutState(stage, claude);
    const day = new Day(stage, MANNERS, stage.terminal(claude));
    await dismissed(day.terminal);
    await day.start();
    await day.turn();
    await day.interrupts();
    await day.fails();
    await day.retries();
    await day.permission();
    await day.denies("Up", "Enter");
    await writes(stage, day);
    await twoAtOnce(stage, day);
    await day.question();
    await day.dismisses();
    await day.asksAtEnd();
    await subagents(stage, day);
    await day.clears();
    await day.secondTerminal(claude);
    await day.quits();
    uninstall();
    stage.checkHookCost("claude-code");
  },
};

/** Its settings; the program is in the folder of its package. */
export function prepareClaude(stage: Stage, folder: string): string {
  stage.tellAll({
    ANTHROPIC_BASE_URL: stage.model.url,
    ANTHROPIC_API_KEY: "test",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  });
  stage.write(".claude.json", ACCEPTED(stage.project));
  stage.write(".claude/settings.json", SETTINGS);
  const platform = `${PACKAGE}-${process.platform}-${process.arch}`;
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
  if (await asksForAutoMode(first)) {
    await stage.moment("a dialog of its start", {
      act: () => first.shows(AUTO_MODE),
      rows: [{ headline: "NEEDS YOU", asks: "it waits: dialog open", pane: first.pane }],
    });
    await stage.moment("it executed itself anew", {
      act: async () => {
        first.press("Enter");
        await first.hides(AUTO_MODE);
      },
      rows: [{ ...IDLE, pane: first.pane }],
    });
  }
  await new Day(stage, MANNERS, first).killed();
}

/** As older versions are, which keep no state of their processes: the conversation has to do. */
async function withoutState(stage: Stage, claude: string): Promise<void> {
  const command = configured(stage, ".claude-older", claude);
  // Where a file is there can be no folder.
  stage.write(".claude-older/sessions", "");
  const day = new Day(stage, { ...MANNERS, prefix: "no state: " }, stage.terminal(command));
  await dismissed(day.terminal);
  await day.start();
  await day.interrupts();
  await day.escapes();
  await day.killed();
}

/** The command with settings of its own, and our hooks in them. */
function configured(stage: Stage, name: string, claude: string): string {
  stage.write(`${name}/settings.json`, SETTINGS);
  stage.write(`${name}/.claude.json`, ACCEPTED(stage.project));
  const env = `CLAUDE_CONFIG_DIR=${join(stage.home, name)}`;
  stage.run("env", env, "rollcall", "hooks", "install", "claude-code", "--yes");
  return `env ${env} ${claude}`;
}

const AUTO_MODE = "Make auto mode";

/** The dialog comes a moment after the first screen. */
async function asksForAutoMode(terminal: Terminal): Promise<boolean> {
  await terminal.shows(/^❯|Make auto mode/m);
  return terminal.shows(AUTO_MODE, 6_000).then(
    () => true,
    () => false,
  );
}

async function dismissed(terminal: Terminal): Promise<void> {
  if (!(await asksForAutoMode(terminal))) return;
  terminal.press("Down");
  await terminal.shows("❯ No");
  await terminal.submit(MANNERS.ready);
}

async function writes(stage: Stage, day: Day): Promise<void> {
  const path = `${stage.project}/w.txt`;
  await day.asks("a file is to be written", `[[write ${path}]]`, {
    headline: "NEEDS YOU",
    asks: `Write: ${path}`,
  });
  await stage.moment("Esc at the dialog", { act: () => day.answer("Escape"), rows: [IDLE] });
}

async function twoAtOnce(stage: Stage, day: Day): Promise<void> {
  const { terminal } = day;
  const prompt = "[[sh2 touch one;;touch two]]";
  await day.asks("two at once, the first asks", prompt, MANNERS.asksToRun("touch one"));
  await stage.moment("two at once, the second asks", {
    act: async () => {
      terminal.press("Enter");
      await terminal.shows(/touch two[^]*Do you want/);
    },
    rows: [MANNERS.asksToRun("touch two")],
  });
  await stage.moment("two at once, both ran", {
    act: async () => {
      await day.answer("Enter");
      await day.rests();
    },
    rows: [IDLE],
  });
}

async function subagents(stage: Stage, day: Day): Promise<void> {
  await day.subagent(async () => {
    await stage.settled(IDLE);
    // One in the background wakes the session when it is done.
    await day.terminal.calms();
  });
  await day.asks("subagent asks again", "[[sub go <<sh touch sub2>>]]", {
    headline: "NEEDS YOU",
    asks: "Bash: touch sub2",
  });
  await stage.moment("subagent denied", {
    act: async () => {
      await day.answer("Escape");
      // It may tell the session, which then goes on for a moment.
      await day.terminal.calms();
    },
    rows: [IDLE],
  });
}
