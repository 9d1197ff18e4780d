/** Codex. Its hooks run once a person trusted them, which is done here in its own dialog. */
import { join } from "node:path";
import { commandLineOf, runningPids } from "../../../src/machine/processes.ts";
import { Day, IDLE } from "../day.ts";
import type { Manners } from "../manners.ts";
import { MOMENTS, playDay, subagentAsks } from "../moments.ts";
import type { Program } from "../program.ts";
import { START_MS, type Stage } from "../stage.ts";

const REASON = "(May I run this outside the sandbox?)";

const MANNERS: Manners = {
  // The name of its model comes with its session, all else on its first screen before.
  ready: /^ {2}gpt-5-codex/m,
  busy: "esc to interrupt",
  dialog: "Would you like",
  choice: "Would you like",
  alone: ["exec", "--skip-git-repo-check"],
  mark: "esc",
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `Bash: ${command} ${REASON}` }),
  no: ["Up", "Enter"],
  // Its terminal is looked at every two seconds.
  lateMs: { gone: 3_000 },
};

export const codex: Program = {
  name: "codex",
  package: "@openai/codex",
  versions: ["0.166.0"],
  play: (stage) =>
    playDay(stage, prepareCodex(stage, stage.folder), {
      agent: "codex",
      manners: MANNERS,
      instead: {
        start: trusts,
        write: "the model that it knows nothing of gets no tool that writes",
        question: mayNotAsk,
        subagent,
        secondTerminal,
        clear: "with the second terminal, which must stay",
      },
      after: { end: serverKilled },
    }),
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

async function trusts(day: Day): Promise<void> {
  const { stage, terminal } = day;
  await stage.moment("start, hooks not trusted yet", {
    act: () => terminal.shows("Trust all and continue", START_MS),
    rows: [],
  });
  stage.check("hooks status: not trusted", () => wordOfStatus(stage, /not trusted/));
  terminal.press("2", "Enter");
  await MOMENTS.start(day);
  stage.check("hooks status: trusted", () => wordOfStatus(stage, /installed(?![^]*not trusted)/));
}

function wordOfStatus(stage: Stage, wanted: RegExp): string | undefined {
  const said = stage.run("rollcall", "hooks", "status", "codex");
  return wanted.test(said) ? undefined : said.trim();
}

/** Outside of its plan mode it refuses the tool that asks. */
async function mayNotAsk(day: Day): Promise<void> {
  const act = () => day.say("[[ask]]", /\[\[ask\]\][^]*Done: the tool has run/);
  await day.moment("a question that it may not ask", act, { rows: [IDLE] });
}

async function subagent(day: Day): Promise<void> {
  await subagentAsks(day);
  await day.moment("subagent and turn over", () => day.stage.settled(IDLE), { rows: [IDLE] });
}

/** Each has its own row, though one process serves them all. */
async function secondTerminal(day: Day): Promise<void> {
  const second = new Day(day.stage, MANNERS, day.command);
  const rows = [day.atRest, second.atRest];
  await day.moment("a second terminal", () => second.begins(), { rows });
  await day.moment("the second one asks", () => second.say("[[esc touch b]]", MANNERS.dialog), {
    rows: [day.atRest, { ...second.atRest, ...MANNERS.asksToRun("touch b") }],
  });
  await day.moment("the second one is denied", () => second.answer("Escape"), { rows });
  const clear = async () => {
    await day.enter("/clear");
    await day.terminal.hides("[[");
    await day.begins();
  };
  await day.moment("/clear", clear, { rows: [{ ...day.atRest, isNew: true }, second.atRest] });
  const kill = () => second.terminal.kill();
  await day.moment("the second one is killed", kill, { rows: [day.atRest], late: "gone" });
}

/** The process that serves all terminals: with it ends what they show. */
async function serverKilled({ stage, command }: Day): Promise<void> {
  const [working, resting] = [1, 2].map(() => new Day(stage, MANNERS, command));
  if (!working || !resting) return;
  await stage.moment("two terminals again", {
    async act() {
      await working.begins();
      await resting.begins();
    },
    rows: [working.atRest, resting.atRest],
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
