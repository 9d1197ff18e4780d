/**
 * `rollcall events`: everything that happens, as it happens. The connection may come and go, the
 * daemon may be killed and started again: the stream goes on where it was, and says so on stderr,
 * so that stdout holds events and nothing else.
 */
import { buildCommand } from "@stricli/core";
import { connect } from "../../client/client.ts";
import type { ConnectionState, DaemonEvent, Resync } from "../../client/events.ts";
import { findUrl } from "../../client/url.ts";
import type { Context } from "../context.ts";
import { describe, type Names } from "../describe.ts";
import { daemonFlags, jsonFlag, type DaemonFlags } from "../flags.ts";
import { about } from "../help.ts";
import { clean, cleanJson } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { dayOf, timeOfDay } from "../terminal/time.ts";
import { padEnd, padStart, truncate } from "../terminal/width.ts";

interface Flags extends DaemonFlags {
  readonly from?: number;
  readonly topic?: readonly string[];
  readonly json?: boolean;
}

const TOPICS = ["agent.", "election.", "leader.", "lease.", "node.", "policy.", "task."];

export const events = buildCommand<Flags, [], Context>({
  docs: {
    brief: "Follow what happens, live or from any point of the past",
    fullDescription: about(
      "Follow what happens, live; with --from first what happened since. Ctrl-C ends it.\n" +
        "When the daemon goes away it waits and goes on from there: no gap, nothing twice.",
      { call: "rollcall events", does: "from now on" },
      { call: "rollcall events --from 0", does: "from the very beginning" },
      { call: "rollcall events --topic lease. --topic leader.", does: "only these topics" },
      { call: "rollcall events --json | jq .topic", does: "one JSON object a line" },
    ),
  },
  parameters: {
    flags: {
      from: {
        kind: "parsed",
        optional: true,
        parse: parseSequence,
        placeholder: "SEQ",
        brief: "Begin after this sequence, 0 for all there is [from now on]",
      },
      topic: {
        kind: "parsed",
        optional: true,
        variadic: true,
        parse: String,
        placeholder: "PREFIX",
        brief: "Only topics that begin with this; may be given several times",
        proposeCompletions: (partial) => TOPICS.filter((topic) => topic.startsWith(partial)),
      },
      json: { ...jsonFlag, brief: "One JSON object a line, for programs" },
      ...daemonFlags,
    },
  },
  async func({ from, topic = [], json = false, url }) {
    const signal = this.untilInterrupted();
    const view = json ? new JsonView(this) : new LineView(this);
    const notices = new Notices(this);
    await using daemon = connect({ url: findUrl(url, this.env) });
    const stream = daemon.events({
      from,
      topics: topic,
      signal,
      onState: (state) => notices.connection(daemon.url, state),
    });
    for await (const item of stream) {
      if (item.kind === "event") await view.show(item);
      else notices.resync(item);
      if (signal.aborted) return;
    }
  },
});

function parseSequence(text: string): number {
  const sequence = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(sequence)) return sequence;
  throw new Error("not a sequence, which is a whole number from 0 up");
}

class JsonView {
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
];

class LineView {
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
class Notices {
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
