/**
 * A person's day with a coding agent in a terminal: the moments that all of them have. A program
 * says how they look on its screen, in which words it asks, and what it gives evidence of late.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
// tidy-allow sleep: some programs measure how fast a person types
import { setTimeout as pause } from "node:timers/promises";
import type { ExpectedRow } from "./fleet.ts";
import type { Stage } from "./stage.ts";
import type { Terminal } from "./terminal.ts";

export const IDLE: ExpectedRow = { headline: "IDLE" };
export const WORKING: ExpectedRow = { headline: "WORKING" };

/** The question of the model's mark [[ask]]. */
const COLOR: ExpectedRow = {
  headline: "NEEDS YOU",
  asks: "Which color should the button be?",
  options: ["Red", "Blue"],
};

type Pattern = string | RegExp;

/** How a program looks, and how it is talked to. */
export interface Manners {
  /** On its screen where it takes a prompt, while it works, asks for permission, and asks. */
  readonly ready: Pattern;
  readonly busy: Pattern;
  readonly dialog: Pattern;
  readonly choice: Pattern;
  /** On its screen when an answer comes: its words, unless given. */
  readonly streaming?: Pattern;
  /** The model's mark for a command that it asks about: sh, unless given. */
  readonly mark?: string;
  /** The row while it asks whether to run a command. */
  readonly asksToRun: (command: string) => ExpectedRow;
  /** Presses what ends a turn: Escape, unless given. */
  readonly interrupt?: (terminal: Terminal) => Promise<void> | void;
  /** Whether Enter right behind text counts as a part of something pasted. */
  readonly mindsPastes?: boolean;
  /** Before the names of its moments, where it has more than one day. */
  readonly prefix?: string;
  /** How late the rows may be where it gives no evidence within 2 s, moment by moment. */
  readonly lateMs?: Partial<Record<"start" | "granted" | "ended" | "failed" | "gone", number>>;
}

const PASTE_MS = 300;
/** On a busy machine a large program takes minutes to its first screen. */
const START_MS = 180_000;

export class Day {
  readonly #stage: Stage;
  readonly #manners: Manners;
  readonly terminal: Terminal;

  constructor(stage: Stage, manners: Manners, terminal: Terminal) {
    this.#stage = stage;
    this.#manners = manners;
    this.terminal = terminal;
  }

  async start(rows: readonly ExpectedRow[] = [{ ...IDLE, pane: this.terminal.pane }]) {
    const name = rows.length === 0 ? "start: no session yet" : "start";
    const { ready } = this.#manners;
    await this.#moment(name, () => this.terminal.shows(ready, START_MS), { rows, late: "start" });
  }

  async turn(): Promise<void> {
    const { streaming = "one0" } = this.#manners;
    const prompt = "please [[slow 8 one]]";
    const rows = [{ ...WORKING, pane: this.terminal.pane, why: prompt }];
    await this.#moment("prompt, stream", () => this.say(prompt, streaming), { rows });
    await this.#moment("turn over", () => this.rests("one15"), { rows: [IDLE] });
  }

  /** Of a tool that then runs for a while. */
  async permission(): Promise<void> {
    await this.asksToRun("asks", "touch made && sleep 6");
    await this.#moment("granted: the tool runs", () => this.answer("Enter"), {
      rows: [WORKING],
      late: "granted",
    });
    const over = () => this.rests("Done: the tool has run");
    await this.#moment("tool and turn over", over, { rows: [IDLE] });
  }

  async escapes(): Promise<void> {
    await this.asksToRun("asks again", "touch no");
    await this.#moment("escaped", () => this.answer("Escape"), { rows: [IDLE], late: "ended" });
  }

  async denies(...keys: readonly string[]): Promise<void> {
    await this.asksToRun("asks once more", "touch never");
    await this.#moment("denied", () => this.answer(...keys), { rows: [IDLE], late: "ended" });
    const made = join(this.#stage.project, "never");
    this.#stage.check("what was denied has not run", () =>
      existsSync(made) ? `${made} is there` : undefined,
    );
  }

  async question(): Promise<void> {
    await this.#asksColor("question");
    await this.#moment("question answered", () => this.choose("Enter"), { rows: [IDLE] });
  }

  async dismisses(): Promise<void> {
    await this.#asksColor("question again");
    await this.#moment("question dismissed", () => this.choose("Escape"), { rows: [IDLE] });
  }

  /** Without a dialog: with the last words of its answer. */
  async asksAtEnd(): Promise<void> {
    const asks = "Shall I drop the table?";
    const rows = [{ headline: "NEEDS YOU", asks }] as const;
    await this.#moment("the answer ends with a question", () => this.say("[[q]]", asks), { rows });
  }

  /** In the row of its session. Over when its screen rests, unless that tells too little. */
  async subagent(over = () => this.rests()): Promise<void> {
    const { mark = "sh", asksToRun } = this.#manners;
    const command = "touch sub && sleep 5";
    await this.asks("subagent asks", `[[sub go <<${mark} ${command}>>]]`, asksToRun(command));
    await this.#moment("subagent granted", () => this.answer("Enter"), { rows: [WORKING] });
    await this.#moment("subagent and turn over", over, { rows: [IDLE] });
  }

  async interrupts(): Promise<void> {
    const { streaming = "two1", interrupt = (terminal) => terminal.press("Escape") } =
      this.#manners;
    const act = async () => {
      await this.say("more [[slow 30 two]]", streaming);
      await interrupt(this.terminal);
      await this.rests();
    };
    await this.#moment("stream interrupted", act, { rows: [IDLE], late: "ended" });
  }

  async fails(): Promise<void> {
    const rows = [{ headline: "PROBLEM", why: /fails as told/ }] as const;
    const act = () => this.say("[[fail]]", "fails as told");
    await this.#moment("API error", act, { rows, late: "failed" });
  }

  async retries(): Promise<void> {
    const { busy } = this.#manners;
    await this.#moment("retry", () => this.say("try [[flaky 8 three]]", busy), { rows: [WORKING] });
    await this.#moment("retry over", () => this.rests("three15"), { rows: [IDLE] });
  }

  /** Another session in the same terminal; others may be elsewhere. */
  async clears(others: readonly ExpectedRow[] = []): Promise<void> {
    const act = async () => {
      await this.enter("/clear");
      await this.terminal.hides("[[");
      await this.terminal.shows(this.#manners.ready);
    };
    const rows = [{ ...IDLE, pane: this.terminal.pane, isNew: true }, ...others];
    await this.#moment("/clear", act, { rows });
  }

  /** A session in another terminal, which is killed while it asks. */
  async secondTerminal(command: string): Promise<void> {
    const second = new Day(this.#stage, this.#manners, this.#stage.terminal(command));
    const { mark = "sh", ready, dialog, asksToRun } = this.#manners;
    const first = { ...IDLE, pane: this.terminal.pane };
    const asks = async () => {
      await second.terminal.shows(ready, START_MS);
      await second.say(`[[${mark} touch b]]`, dialog);
    };
    const rows = [first, { ...asksToRun("touch b"), pane: second.terminal.pane }];
    await this.#moment("second terminal asks", asks, { rows });
    const killed = () => second.terminal.kill();
    await this.#moment("second terminal killed", killed, { rows: [first], late: "gone" });
  }

  async quits(): Promise<void> {
    const act = async () => {
      await this.enter("/quit");
      await this.terminal.ends();
    };
    await this.#moment("quit", act, { rows: [], late: "gone" });
  }

  async killed(): Promise<void> {
    await this.#moment("killed", () => this.terminal.kill(), { rows: [], late: "gone" });
  }

  async enter(text: string): Promise<void> {
    await this.#type(text);
    this.terminal.press("Enter");
  }

  async say(prompt: string, until: Pattern): Promise<void> {
    await this.#type(prompt);
    await this.terminal.submit(until);
  }

  /** A prompt that makes it ask for permission. */
  async asks(name: string, prompt: string, row: ExpectedRow): Promise<void> {
    await this.#moment(name, () => this.say(prompt, this.#manners.dialog), { rows: [row] });
  }

  async asksToRun(name: string, command: string): Promise<void> {
    const { mark = "sh", asksToRun } = this.#manners;
    await this.asks(name, `[[${mark} ${command}]]`, asksToRun(command));
  }

  /** At a dialog, which goes away then. */
  async answer(...keys: readonly string[]): Promise<void> {
    for (const key of keys) this.terminal.press(key);
    await this.terminal.hides(this.#manners.dialog);
  }

  /** At a question, which ends the turn. */
  async choose(key: string): Promise<void> {
    this.terminal.press(key);
    await this.terminal.hides(this.#manners.choice);
    await this.rests();
  }

  /** The last words of its answer are there, and it takes the next prompt. */
  async rests(words: Pattern = ""): Promise<void> {
    await this.terminal.shows(words);
    await this.terminal.hides(this.#manners.busy);
  }

  async #type(text: string): Promise<void> {
    await this.terminal.type(text);
    if (this.#manners.mindsPastes) await pause(PASTE_MS);
  }

  async #asksColor(name: string): Promise<void> {
    const { choice } = this.#manners;
    await this.#moment(name, () => this.say("[[ask]]", choice), { rows: [COLOR] });
  }

  async #moment(
    name: string,
    act: () => Promise<void> | void,
    { rows, late }: { rows: readonly ExpectedRow[]; late?: keyof NonNullable<Manners["lateMs"]> },
  ): Promise<void> {
    const { prefix = "", lateMs } = this.#manners;
    const withinMs = late && lateMs?.[late];
    await this.#stage.moment(prefix + name, {
      act,
      rows,
      ...(withinMs !== undefined && { withinMs }),
    });
  }
}
