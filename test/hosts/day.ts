/**
 * A person's day with a coding agent in a terminal: the moments that all of them have. A program
 * says how they look on its screen, in which words it asks, and what it gives evidence of late.
 */
// tidy-allow sleep: some programs measure how fast a person types
import { setTimeout as pause } from "node:timers/promises";
import type { ExpectedRow } from "./fleet.ts";
import type { Stage } from "./stage.ts";
import type { Terminal } from "./terminal.ts";

export const IDLE: ExpectedRow = { headline: "IDLE" };
export const WORKING: ExpectedRow = { headline: "WORKING" };

/** The question of the model's mark [[ask]]. */
export const COLOR: ExpectedRow = {
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
  /** The row while it asks whether to run a command. */
  readonly asksToRun: (command: string) => ExpectedRow;
  /** Presses what ends a turn: Escape, unless given. */
  readonly interrupt?: (terminal: Terminal) => Promise<void> | void;
  /** Whether Enter right behind text counts as a part of something pasted. */
  readonly mindsPastes?: boolean;
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
    const rows = [{ ...WORKING, pane: this.terminal.pane }];
    await this.#moment("prompt, stream", () => this.say("please [[slow 5]]", "word0"), { rows });
    await this.#moment("turn over", () => this.rests(), { rows: [IDLE] });
  }

  /** Of a tool that then runs for a while. */
  async permission(): Promise<void> {
    await this.asks("asks", "[[sh touch made && sleep 6]]", this.#run("touch made && sleep 6"));
    await this.#moment("granted: the tool runs", () => this.answer("Enter"), {
      rows: [WORKING],
      late: "granted",
    });
    const over = async () => {
      await this.terminal.shows("Done: the tool has run");
      await this.rests();
    };
    await this.#moment("tool and turn over", over, { rows: [IDLE] });
  }

  async escapes(): Promise<void> {
    await this.asks("asks again", "[[sh touch no]]", this.#run("touch no"));
    await this.#moment("escaped", () => this.answer("Escape"), { rows: [IDLE], late: "ended" });
  }

  async denies(...keys: readonly string[]): Promise<void> {
    await this.asks("asks once more", "[[sh touch never]]", this.#run("touch never"));
    await this.#moment("denied", () => this.answer(...keys), { rows: [IDLE], late: "ended" });
  }

  async question(): Promise<void> {
    const { choice } = this.#manners;
    await this.#moment("question", () => this.say("[[ask]]", choice), { rows: [COLOR] });
    await this.#moment("question answered", () => this.choose("Enter"), { rows: [IDLE] });
  }

  async interrupts(): Promise<void> {
    const { interrupt = (terminal) => terminal.press("Escape") } = this.#manners;
    const act = async () => {
      // No turn before it said so much.
      await this.say("more [[slow 30]]", "word11");
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
    await this.#moment("retry", () => this.say("try [[flaky 8]]", busy), { rows: [WORKING] });
    const over = async () => {
      await this.terminal.shows("word15");
      await this.rests();
    };
    await this.#moment("retry over", over, { rows: [IDLE] });
  }

  /** A session in another terminal, which is killed. */
  async secondTerminal(command: string): Promise<void> {
    const second = new Day(this.#stage, this.#manners, this.#stage.terminal(command));
    const first = { ...IDLE, pane: this.terminal.pane };
    const works = async () => {
      await second.terminal.shows(this.#manners.ready, START_MS);
      await second.say("there [[slow 4]]", "word0");
    };
    const rows = [first, { ...WORKING, pane: second.terminal.pane }];
    await this.#moment("second terminal works", works, { rows });
    const killed = () => second.terminal.kill();
    await this.#moment("second terminal killed", killed, { rows: [first], late: "gone" });
  }

  /** Pi lists its extensions by the names of their files. */
  leavesNoTrace(): void {
    this.#stage.check("nothing on its screen", () => {
      const lines = this.terminal.screen.split("\n");
      return lines.find((line) => /rollcall(?!\.ts)/iu.test(line));
    });
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
    await this.terminal.type(text);
    if (this.#manners.mindsPastes) await pause(PASTE_MS);
    this.terminal.press("Enter");
  }

  async say(prompt: string, until: Pattern): Promise<void> {
    await this.enter(prompt);
    await this.terminal.shows(until);
  }

  /** A prompt that makes it ask for permission. */
  async asks(name: string, prompt: string, row: ExpectedRow): Promise<void> {
    await this.#moment(name, () => this.say(prompt, this.#manners.dialog), { rows: [row] });
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

  async rests(): Promise<void> {
    await this.terminal.hides(this.#manners.busy);
  }

  #run(command: string): ExpectedRow {
    return this.#manners.asksToRun(command);
  }

  async #moment(
    name: string,
    act: () => Promise<void> | void,
    { rows, late }: { rows: readonly ExpectedRow[]; late?: keyof NonNullable<Manners["lateMs"]> },
  ): Promise<void> {
    const withinMs = late && this.#manners.lateMs?.[late];
    await this.#stage.moment(name, { act, rows, ...(withinMs !== undefined && { withinMs }) });
  }
}
