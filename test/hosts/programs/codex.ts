/** Codex. Its hooks run once a person trusted them, which is done here in its own dialog. */
import { join } from "node:path";
import { commandLineOf, runningPids } from "../../../src/machine/processes.ts";
import { Day, IDLE, WORKING, type Manners } from "../day.ts";
import type { ExpectedRow } from "../fleet.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";

const REASON = "(May I run this outside the sandbox?)";

const MANNERS: Manners = {
  ready: "for shortcuts",
  busy: "esc to interrupt",
  dialog: "Would you like",
  choice: "Would you like",
  mark: "esc",
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `Bash: ${command} ${REASON}` }),
  // Its terminal is looked at every two seconds.
  lateMs: { gone: 3_000 },
};

export const codex: Program = {
  name: "codex",
  package: "@openai/codex",
  versions: ["0.166.0"],
  async play(stage) {
    const program = prepareCodex(stage, stage.folder);
    const uninstall = stage.install("codex");
    const day = new Day(stage, MANNERS, stage.terminal(program));
    await trusts(stage, day);
    await withoutTerminal(stage, program, { ...IDLE, pane: day.terminal.pane });
    await day.turn();
    await day.interrupts();
    await day.fails();
    await day.retries();
    await day.asksAtEnd();
    await day.permission();
    await day.escapes();
    await day.denies("Up", "Enter");
    await stage.moment("a question that it may not ask", {
      act: () => day.say("[[ask]]", /\[\[ask\]\][^]*Done: the tool has run/),
      rows: [IDLE],
    });
    await day.subagent(() => stage.settled(IDLE));
    await terminals(stage, day, program);
    await day.quits();
    await serverKilled(stage, program);
    uninstall();
    stage.checkHookCost("codex");
  },
};

/** Its settings; the program is in the folder of its package. */
export function prepareCodex(stage: Stage, folder: string): string {
  stage.tellAll({ MODEL_KEY: "test" });
  stage.write(
    ".codex/config.toml",
    [
      'model = "gpt-5-codex"',
      'model_provider = "mock"',
      'approval_policy = "on-request"',
      "[model_providers.mock]",
      'name = "mock"',
      `base_url = "${stage.model.url}/v1"`,
      'env_key = "MODEL_KEY"',
      'wire_api = "responses"',
      `[projects."${stage.project}"]`,
      'trust_level = "trusted"',
      "",
    ].join("\n"),
  );
  const target = `${process.arch === "arm64" ? "aarch64" : "x86_64"}-unknown-linux-musl`;
  const platform = `@openai/codex-${process.platform}-${process.arch}`;
  return join(folder, "node_modules", platform, "vendor", target, "bin", "codex");
}

async function trusts(stage: Stage, day: Day): Promise<void> {
  const { terminal } = day;
  await stage.moment("start, hooks not trusted yet", {
    act: () => terminal.shows("Trust all and continue"),
    rows: [],
  });
  stage.check("hooks status: not trusted", () => wordOfStatus(stage, /not trusted/));
  terminal.press("2", "Enter");
  await day.start();
  stage.check("hooks status: trusted", () => wordOfStatus(stage, /installed(?![^]*not trusted)/));
}

function wordOfStatus(stage: Stage, wanted: RegExp): string | undefined {
  const said = stage.run("rollcall", "hooks", "status", "codex");
  return wanted.test(said) ? undefined : said.trim();
}

async function withoutTerminal(stage: Stage, program: string, other: ExpectedRow): Promise<void> {
  const run = stage.background(program, "exec", "--skip-git-repo-check", "[[slow 4]]");
  const rows = [other, WORKING];
  await stage.moment("exec: works", { act: () => stage.settled(...rows), rows });
  await stage.moment("exec: ends", { act: () => run, rows: [other], withinMs: 3_000 });
}

/** Each has its own row, though one process serves them all. */
async function terminals(stage: Stage, day: Day, program: string): Promise<void> {
  const second = new Day(stage, MANNERS, stage.terminal(program));
  const first = { ...IDLE, pane: day.terminal.pane };
  const other = { ...IDLE, pane: second.terminal.pane };
  const rows = [first, other];
  await stage.moment("a second terminal", {
    act: () => second.terminal.shows(MANNERS.ready),
    rows,
  });
  await stage.moment("the second one asks", {
    act: () => second.say("[[esc touch b]]", MANNERS.dialog),
    rows: [first, { ...other, ...MANNERS.asksToRun("touch b") }],
  });
  await stage.moment("the second one is denied", { act: () => second.answer("Escape"), rows });
  await day.clears([other]);
  await stage.moment("the second one is killed", {
    act: () => second.terminal.kill(),
    rows: [first],
    withinMs: 3_000,
  });
}

/** The process that serves all terminals: with it ends what they show. */
async function serverKilled(stage: Stage, program: string): Promise<void> {
  const [working, resting] = [1, 2].map(() => new Day(stage, MANNERS, stage.terminal(program)));
  if (!working || !resting) return;
  const rows = [working, resting].map(({ terminal: { pane } }) => ({ ...IDLE, pane }));
  await stage.moment("two terminals again", {
    async act() {
      await working.terminal.shows(MANNERS.ready);
      await resting.terminal.shows(MANNERS.ready);
    },
    rows,
  });
  await working.say("more [[slow 30 four]]", "four1");
  await stage.moment("their server is killed", {
    async act() {
      for (const pid of appServers()) process.kill(pid, "SIGKILL");
      await resting.terminal.shows("Reconnecting");
    },
    rows: [],
    withinMs: 4_000,
  });
}

function appServers(): readonly number[] {
  return [...runningPids()].filter((pid) => commandLineOf(pid).includes("app-server"));
}
