/**
 * The moments of a day with a coding agent in a terminal, and the rows that must be shown: one
 * table for all programs, played in this order. A program may have its own way of a moment. One
 * that it leaves out has a reason, which is printed: no cell vanishes without a word.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { agentNamed } from "../../src/coding-agents/agents.ts";
import { Day, IDLE, WORKING } from "./day.ts";
import type { ExpectedRow } from "./fleet.ts";
import type { Manners } from "./manners.ts";
import type { Stage } from "./stage.ts";
import { until } from "../tour/until.ts";

export type Scene = (day: Day) => Promise<void>;

/** The question of the model's mark [[ask]]. */
const COLOR: ExpectedRow = {
  headline: "NEEDS YOU",
  asks: "Which color should the button be?",
  options: ["Red", "Blue"],
};

/**
 * A command that still runs when its row has been judged: it begins with the key that grants it,
 * and its row may come 4 s after the screen shows that, which may take seconds on a busy machine.
 */
const LASTS = "sleep 8";

/** What tells that a command was granted is the same for that of a subagent. */
const GRANTED = { rows: [WORKING], late: "granted" } as const;

export const MOMENTS = {
  start: async (day) => {
    const isKnown = day.manners.knownByPrompt !== "always";
    const name = isKnown ? "start" : "start: no session yet";
    const rows = isKnown ? [day.atRest] : [];
    const act = async () => {
      await day.begins();
      await day.manners.begun?.(day.stage);
    };
    await day.moment(name, act, { rows });
  },

  withoutTerminal: async (day) => {
    const others = await day.stage.rows();
    const rows = [...others.map(({ headline }) => ({ headline })), WORKING];
    const [program = "", ...words] = [...day.command.split(" "), ...day.manners.alone];
    const run = day.stage.background(program, ...words, "[[slow 6]]");
    await day.moment("alone: works", () => day.stage.settled(...rows), { rows });
    await day.moment("alone: ends", () => run, { rows: rows.slice(0, -1), late: "gone" });
  },

  turn: async (day) => {
    const { streaming = "one0" } = day.manners;
    const prompt = "please [[slow 8 one]]";
    const rows = [{ ...WORKING, pane: day.terminal.pane, why: prompt }];
    await day.moment("prompt, stream", () => day.say(prompt, streaming), { rows });
    await day.moment("turn over", () => day.rests("one15"), { rows: [IDLE] });
  },

  /** Of a tool that then runs for a while. */
  permission: async (day) => {
    await day.asksToRun("asks", `touch made && ${LASTS}`);
    await day.moment("granted: the tool runs", () => day.answer("Enter"), GRANTED);
    const over = () => day.rests("Done: the tool has run");
    await day.moment("tool and turn over", over, { rows: [IDLE] });
  },

  write: async (day) => {
    const path = join(day.stage.project, "w.txt");
    const { asksToWrite } = day.manners;
    if (asksToWrite === undefined) throw new Error("it has no row for a file that it writes");
    await day.asks("asks to write", `[[write ${path}]]`, asksToWrite(path));
    const act = async () => {
      await day.answer("Enter");
      await day.rests();
    };
    await day.moment("granted: written, turn over", act, { rows: [IDLE] });
    day.stage.check("what was granted is there", () =>
      existsSync(path) ? undefined : `${path} is not`,
    );
  },

  escape: async (day) => {
    await day.asksToRun("asks again", "touch no");
    await day.moment("escaped", () => day.answer("Escape"), { rows: [IDLE], late: "ended" });
  },

  denial: async (day) => {
    await day.asksToRun("asks once more", "touch never");
    const { no } = day.manners;
    await day.moment("denied", () => day.answer(...no), { rows: [IDLE], late: "ended" });
    checkNotRun(day);
  },

  question: async (day) => {
    const ask = () => day.say("[[ask]]", day.manners.choice);
    await day.moment("question", ask, { rows: [COLOR] });
    await day.moment("question answered", () => day.choose("Enter"), { rows: [IDLE] });
    await day.moment("question again", ask, { rows: [COLOR] });
    const dismiss = () => day.choose("Escape");
    await day.moment("question dismissed", dismiss, { rows: [IDLE], late: "ended" });
  },

  /** Without a dialog: with the last words of its answer. */
  lastWords: async (day) => {
    const asks = "Shall I drop the table?";
    const rows = [{ headline: "NEEDS YOU", asks }] as const;
    await day.moment("the answer ends with a question", () => day.say("[[q]]", asks), { rows });
  },

  /** In the row of its session. */
  subagent: async (day) => {
    await subagentAsks(day);
    const over = () => day.rests(/\[\[sub go[^]*Done: the tool has run/);
    await day.moment("subagent and turn over", over, { rows: [IDLE] });
  },

  interruption: async (day) => {
    const { streaming = "two1", interrupt = (terminal) => terminal.press("Escape") } = day.manners;
    const act = async () => {
      await day.say("more [[slow 30 two]]", streaming);
      await interrupt(day.terminal);
      await day.rests();
    };
    await day.moment("stream interrupted", act, { rows: [IDLE], late: "ended" });
  },

  failure: async (day) => {
    const rows = [{ headline: "PROBLEM", why: /fails as told/ }] as const;
    await day.moment("API error", () => day.say("[[fail]]", "fails as told"), {
      rows,
      late: "failed",
    });
  },

  retry: async (day) => {
    const { busy } = day.manners;
    const tries = async () => {
      await day.say("try [[flaky 8 three]]", busy);
      await until("a try that failed", () => day.stage.model.failed.size > 0 || undefined);
    };
    await day.moment("retry", tries, { rows: [WORKING] });
    await day.moment("retry over", () => day.rests("three15"), { rows: [IDLE] });
  },

  /** A session in another terminal, which is killed while it asks. */
  secondTerminal: async (day) => {
    const second = new Day(day.stage, day.manners, day.command);
    const { mark = "sh", dialog, asksToRun } = day.manners;
    const asks = async () => {
      await second.begins();
      await second.say(`[[${mark} touch b]]`, dialog);
    };
    const asking = { ...asksToRun("touch b"), pane: second.terminal.pane };
    await day.moment("second terminal asks", asks, { rows: [day.atRest, asking] });
    const kill = () => second.terminal.kill();
    await day.moment("second terminal killed", kill, { rows: [day.atRest], late: "gone" });
  },

  /** Another session in the same terminal. */
  clear: async (day) => {
    const clear = async () => {
      await day.enter("/clear");
      await day.terminal.hides("[[");
      await day.begins();
      // Until the hook of the session before has run there is no other.
      await day.rests();
    };
    const anew = { pane: day.terminal.pane, isNew: true };
    if (day.manners.knownByPrompt === undefined) {
      return day.moment("/clear", clear, { rows: [{ ...IDLE, ...anew }] });
    }
    const prompted = async () => {
      await clear();
      await day.say("anew [[slow 8]]", "word0");
    };
    await day.moment("/clear, prompt", prompted, { rows: [{ ...WORKING, ...anew }] });
    await day.moment("turn over again", () => day.rests(), { rows: [IDLE] });
  },

  end: async (day) => {
    const quit = async () => {
      await day.enter("/quit");
      await day.terminal.ends();
    };
    await day.moment("quit", quit, { rows: [], late: "gone" });
  },
} satisfies Record<string, Scene>;

export type MomentName = keyof typeof MOMENTS;

/** Until it works again, in the row of its session. */
export async function subagentAsks(day: Day): Promise<void> {
  const { mark = "sh", asksToRun } = day.manners;
  const command = `touch sub && ${LASTS}`;
  await day.asks("subagent asks", `[[sub go <<${mark} ${command}>>]]`, asksToRun(command));
  await day.moment("subagent granted", () => day.answer("Enter"), GRANTED);
}

/** The command that was denied. */
export function checkNotRun({ stage }: Day): void {
  const made = join(stage.project, "never");
  stage.check("what was denied has not run", () =>
    existsSync(made) ? `${made} is there` : undefined,
  );
}

export async function killed(day: Day): Promise<void> {
  await day.moment("killed", () => day.terminal.kill(), { rows: [], late: "gone" });
}

/** What is its own in a program's day. */
export interface Differences {
  /** The coding agent that is installed, by its name. */
  readonly agent: string;
  readonly manners: Manners;
  /** Its own way of a moment, or why it has none. */
  readonly instead?: Partial<Record<MomentName, Scene | string>>;
  /** Moments that no other program has, by what they come after. */
  readonly after?: Partial<Record<MomentName, Scene>>;
}

/** The command is a line for the shell. */
export async function playDay(
  stage: Stage,
  command: string,
  { agent, manners, instead = {}, after = {} }: Differences,
): Promise<void> {
  const uninstall = stage.install(agent);
  const day = new Day(stage, manners, command);
  for (const name of Object.keys(MOMENTS) as MomentName[]) {
    const scene = instead[name] ?? MOMENTS[name];
    if (typeof scene === "string") stage.leaveOut(name, scene);
    else await scene(day);
    await after[name]?.(day);
  }
  uninstall();
  if (agentNamed(agent).observe.by === "hooks") stage.checkHookCost(agent);
}
