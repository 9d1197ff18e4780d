/**
 * A person at a coding agent in a terminal: starts it, says something, answers its dialogs. What
 * the person does in a day, and what must be shown then, is in moments.ts.
 */
// tidy-allow sleep: some programs measure how fast a person types
import { setTimeout as pause } from "node:timers/promises";
import type { ExpectedRow } from "./fleet.ts";
import type { LateMoment, Manners, Pattern } from "./manners.ts";
import { START_MS, type Stage } from "./stage.ts";
import type { Terminal } from "./terminal.ts";

export const IDLE: ExpectedRow = { headline: "IDLE" };
export const WORKING: ExpectedRow = { headline: "WORKING" };

const PASTE_MS = 300;

interface Expectation {
  readonly rows: readonly ExpectedRow[];
  readonly late?: LateMoment;
}

export class Day {
  readonly stage: Stage;
  readonly manners: Manners;
  /** A line for the shell. */
  readonly command: string;
  #terminal: Terminal | undefined;

  constructor(stage: Stage, manners: Manners, command: string) {
    this.stage = stage;
    this.manners = manners;
    this.command = command;
  }

  /** The program starts in it when it is first looked at. */
  get terminal(): Terminal {
    return (this.#terminal ??= this.stage.terminal(this.command));
  }

  /** Its row when it has nothing to do. */
  get atRest(): ExpectedRow {
    return { ...IDLE, pane: this.terminal.pane };
  }

  async begins(): Promise<void> {
    await this.terminal.shows(this.manners.ready, START_MS);
  }

  async enter(text: string): Promise<void> {
    await this.#type(text);
    this.terminal.press("Enter");
  }

  async say(prompt: string, until: Pattern): Promise<void> {
    await this.#type(prompt);
    await this.terminal.submit(until);
  }

  /** At a dialog, which goes away then. */
  async answer(...keys: readonly string[]): Promise<void> {
    const last = keys.at(-1) ?? "";
    for (const key of keys.slice(0, -1)) await this.terminal.move(key);
    this.terminal.press(last);
    await this.terminal.hides(this.manners.dialog);
  }

  /** At a question, which ends the turn. */
  async choose(key: string): Promise<void> {
    this.terminal.press(key);
    await this.terminal.hides(this.manners.choice);
    await this.rests();
  }

  /** The last words of its answer are there, and it takes the next prompt. */
  async rests(words: Pattern = ""): Promise<void> {
    await this.terminal.shows(words);
    await this.terminal.hides(this.manners.busy);
  }

  /** A prompt that makes it ask for permission. */
  async asks(name: string, prompt: string, row: ExpectedRow): Promise<void> {
    await this.moment(name, () => this.say(prompt, this.manners.dialog), { rows: [row] });
  }

  async asksToRun(name: string, command: string): Promise<void> {
    const { mark = "sh", asksToRun } = this.manners;
    await this.asks(name, `[[${mark} ${command}]]`, asksToRun(command));
  }

  async moment(
    name: string,
    act: () => Promise<void> | void,
    { rows, late }: Expectation,
  ): Promise<void> {
    const { prefix = "", lateMs } = this.manners;
    const withinMs = late && lateMs?.[late];
    await this.stage.moment(prefix + name, {
      act,
      rows,
      ...(withinMs !== undefined && { withinMs }),
    });
  }

  async #type(text: string): Promise<void> {
    await this.terminal.type(text);
    if (this.manners.mindsPastes) await pause(PASTE_MS);
  }
}
