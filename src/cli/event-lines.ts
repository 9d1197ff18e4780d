/** Events as they are printed: a line of words with its time for people, JSON for programs. */
import type { ConnectionState, DaemonEvent, Resync } from "../client/events.ts";
import type { Context } from "./context.ts";
import { describe, type Names } from "./describe.ts";
import { clean, cleanJson } from "./terminal/clean.ts";
import type { Style } from "./terminal/output.ts";
import { dayOf, timeOfDay } from "./terminal/time.ts";
import { padEnd, padStart, truncate } from "./terminal/width.ts";

export interface EventView {
  show(event: DaemonEvent): Promise<void>;
}

export class JsonView implements EventView {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async show({ sequence, topic, data }: DaemonEvent): Promise<void> {
    const { type: _, ...facts } = data;
    await this.#context.out.line(cleanJson({ sequence, topic, ...facts }));
  }
}

const COLOURS: readonly (readonly [prefix: string, style: Style])[] = [
  ["agent.unreachable", "yellow"],
  ["agent.died", "red"],
  ["agent.", "green"],
  ["lease.", "cyan"],
  ["task.died", "red"],
  ["task.", "blue"],
  ["election.", "magenta"],
  ["leader.", "magenta"],
  ["fleet.", "green"],
  ["question.asked", "yellow"],
  ["question.", "cyan"],
];

export class LineView implements EventView {
  readonly #context: Context;
  readonly #names: Names = new Map();
  #day = "";
  /** Wide enough for every topic there is; a longer one moves its own line only. */
  readonly #topicWidth = 18;
  #sequenceWidth = 5;

  constructor(context: Context) {
    this.#context = context;
  }

  async show(event: DaemonEvent): Promise<void> {
    const { out } = this.#context;
    const day = dayOf(event.atMs);
    if (day !== this.#day) await out.line(out.paint("dim", `── ${day} ──`));
    this.#day = day;
    await out.line(this.#line(event));
  }

  #line(event: DaemonEvent): string {
    const { out } = this.#context;
    const time = timeOfDay(event.atMs);
    const sequence = padStart(String(event.sequence), this.#sequenceWidth);
    this.#sequenceWidth = sequence.length;
    const topic = padEnd(clean(event.topic), this.#topicWidth);
    const room = out.columns - `${time} ${sequence} ${topic} `.length;
    const words = truncate(clean(describe(event, this.#names)), Math.max(room, 20));
    const style = COLOURS.find(([prefix]) => event.topic.startsWith(prefix))?.[1];
    const painted = style ? out.paint(style, topic) : topic;
    return `${out.paint("dim", `${time} ${sequence}`)} ${painted} ${words}`;
  }
}

/** What is not an event: on stderr, so that a pipe only gets events. */
export class Notices {
  readonly #context: Context;
  #isOpen: boolean | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  connection(url: string, state: ConnectionState): void {
    const where = state.after === undefined ? "from now on" : `after ${state.after}`;
    if (state.kind === "lost") {
      this.#say(`${state.reason}; waiting for ${url} to come back`);
    } else if (this.#isOpen === undefined) {
      if (this.#context.err.isTerminal) this.#say(`listening at ${url}, ${where}; Ctrl-C ends`);
    } else {
      this.#say(`connected again, going on ${where}`);
    }
    this.#isOpen = state.kind === "open";
  }

  resync({ after, sequence }: Resync): void {
    const isAnother = after !== undefined && after > sequence;
    this.#say(
      isAnother
        ? `this is another log: we stood at ${after}, it ends at ${sequence}; going on after that`
        : `lost: ${(after ?? 0) + 1} to ${sequence} are no longer kept; going on after ${sequence}`,
    );
  }

  #say(text: string): void {
    const { err } = this.#context;
    void err.line(err.paint("dim", `· ${clean(text)}`));
  }
}
