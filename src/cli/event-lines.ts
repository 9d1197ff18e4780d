/** Events as they are printed: a line of words with its time for people, JSON for programs. */
import type { ConnectionState, DaemonEvent, Resync } from "../wires/api/client/events.ts";
import type { Context } from "./context.ts";
import { describe, type Names } from "./describe.ts";
import { clean, cleanJson } from "./terminal/clean.ts";
import type { Style } from "./terminal/output.ts";
import { dayOf, timeOfDay } from "./terminal/time.ts";
import { padEnd, padStart, truncate } from "./terminal/width.ts";

export interface EventView {
  show(event: DaemonEvent): Promise<void>;
}

export function jsonEvents({ out }: Context): EventView {
  return {
    show({ sequence, topic, data }) {
      const { type: _, ...facts } = data;
      return out.line(cleanJson({ sequence, topic, ...facts }));
    },
  };
}

const COLOURS: readonly (readonly [prefix: string, style: Style])[] = [
  ["agent.unreachable", "yellow"],
  ["agent.died", "red"],
  ["agent.", "green"],
  ["lease.", "cyan"],
  ["task.died", "red"],
  ["task.expired", "red"],
  ["task.", "blue"],
  ["election.", "magenta"],
  ["leader.", "magenta"],
  ["fleet.", "green"],
  ["job.", "blue"],
  ["question.asked", "yellow"],
  ["question.", "cyan"],
];

/** Everything that happens, with its place in the log. */
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
    const style = styleOf(event.topic);
    const painted = style ? out.paint(style, topic) : topic;
    return `${out.paint("dim", `${time} ${sequence}`)} ${painted} ${words}`;
  }
}

/** The events of one agent, without its name on every line. */
export class AgentLineView implements EventView {
  readonly #context: Context;
  readonly #agentId: string;
  readonly #names: Names = new Map();
  #day = "";
  #reported = "";

  constructor(context: Context, agentId: string) {
    this.#context = context;
    this.#agentId = agentId;
  }

  async show(event: DaemonEvent): Promise<void> {
    const { out } = this.#context;
    const sentence = describe(event, this.#names);
    // A report that says the same in other ways is for programs.
    if (event.topic === "fleet.reported" && sentence === this.#reported) return;
    if (event.topic === "fleet.reported") this.#reported = sentence;
    const day = dayOf(event.atMs);
    if (day !== this.#day) await out.line(out.paint("dim", `── ${day} ──`));
    this.#day = day;
    const time = timeOfDay(event.atMs).slice(0, 8);
    const self = `${this.#agentId} `;
    const said = sentence.startsWith(self) ? sentence.slice(self.length) : sentence;
    const words = truncate(clean(said), Math.max(out.columns - time.length - 2, 20));
    const style = styleOf(event.topic);
    await out.line(`${out.paint("dim", time)}  ${style ? out.paint(style, words) : words}`);
  }
}

function styleOf(topic: string): Style | undefined {
  return COLOURS.find(([prefix]) => topic.startsWith(prefix))?.[1];
}

/** Notices about the stream itself: on stderr, so that a pipe only gets events. */
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
