/** Claude Code. Its licence is proprietary: it is installed only when it is named. */
import { join } from "node:path";
import { Day, IDLE } from "../day.ts";
import type { Manners } from "../manners.ts";
import { killed, MOMENTS, playDay, subagentAsks } from "../moments.ts";
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
  alone: ["-p"],
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `Bash: ${command}` }),
  asksToWrite: (path) => ({ headline: "NEEDS YOU", asks: `Write: ${path}` }),
  no: ["Up", "Enter"],
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
  play: (stage) =>
    playDay(stage, prepareClaude(stage, stage.folder), {
      agent: "claude-code",
      manners: MANNERS,
      instead: { start: startsDefault, subagent: subagents },
      after: { withoutTerminal: deniesItself, permission: twoAtOnce, end: older },
    }),
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

/** Without a terminal there is nobody to ask. */
async function deniesItself({ stage, command }: Day): Promise<void> {
  const others = await stage.rows();
  const denied = stage.background(command, "-p", "[[sh touch p.txt]]");
  const rows = others.map(({ headline }) => ({ headline }));
  await stage.moment("alone: a permission is denied", { act: () => denied, rows });
}

/** Sessions with other settings, once that of the day has ended. */
async function older(day: Day): Promise<void> {
  await anew(day);
  await withoutState(day);
}

/**
 * Newer versions ask at their first start whether to go on in auto mode, in a dialog that no hook
 * tells of. After a yes the process executes itself anew, with another session.
 */
async function anew({ stage, command }: Day): Promise<void> {
  const day = new Day(stage, MANNERS, configured(stage, ".claude-anew", command));
  const { terminal } = day;
  if (await asksForAutoMode(terminal)) {
    const asks = {
      headline: "NEEDS YOU",
      asks: "it waits: dialog open",
      pane: terminal.pane,
    } as const;
    await day.moment("a dialog of its start", () => terminal.shows(AUTO_MODE), { rows: [asks] });
    const yes = async () => {
      terminal.press("Enter");
      await terminal.hides(AUTO_MODE);
    };
    await day.moment("it executed itself anew", yes, { rows: [day.atRest] });
  }
  await killed(day);
}

/** As older versions are, which keep no state of their processes: the conversation has to do. */
async function withoutState({ stage, command }: Day): Promise<void> {
  const manners = { ...MANNERS, prefix: "no state: " };
  const day = new Day(stage, manners, configured(stage, ".claude-older", command));
  // Where a file is there can be no folder.
  stage.write(".claude-older/sessions", "");
  for (const scene of [startsDefault, MOMENTS.interruption, MOMENTS.escape, killed])
    await scene(day);
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

async function startsDefault(day: Day): Promise<void> {
  const { terminal } = day;
  if (await asksForAutoMode(terminal)) {
    terminal.press("Down");
    await terminal.shows("❯ No");
    await terminal.submit(MANNERS.ready);
  }
  await MOMENTS.start(day);
}

async function twoAtOnce(day: Day): Promise<void> {
  const { terminal } = day;
  const prompt = "[[sh2 touch one;;touch two]]";
  await day.asks("two at once, the first asks", prompt, MANNERS.asksToRun("touch one"));
  const first = async () => {
    terminal.press("Enter");
    await terminal.shows(/^\s*touch two\s*$[^]*Do you want/m);
  };
  const rows = [MANNERS.asksToRun("touch two")];
  await day.moment("two at once, the second asks", first, { rows });
  const second = async () => {
    await day.answer("Enter");
    await day.rests();
  };
  await day.moment("two at once, both ran", second, { rows: [IDLE] });
}

async function subagents(day: Day): Promise<void> {
  await subagentAsks(day);
  const over = async () => {
    await day.stage.settled(IDLE);
    // One in the background wakes the session when it is done.
    await day.terminal.calms();
  };
  await day.moment("subagent and turn over", over, { rows: [IDLE] });
  const asks = MANNERS.asksToRun("touch sub2");
  await day.asks("subagent asks again", "[[sub go <<sh touch sub2>>]]", asks);
  const deny = async () => {
    await day.answer("Escape");
    // One in the background tells the session, which then goes on for a moment.
    if (day.terminal.screen.includes("background agent"))
      await day.terminal.shows(/touch sub2[^]*finished/);
    await day.terminal.calms();
    await day.rests();
  };
  await day.moment("subagent denied", deny, { rows: [IDLE] });
}
