/**
 * `rollcall events`: everything that happens, as it happens. The connection may come and go, the
 * daemon may be killed and started again: the stream goes on where it was, and says so on stderr,
 * so that stdout holds events and nothing else.
 */
import { buildCommand } from "@stricli/core";
import type { Topic } from "../../core/events.ts";
import type { Context } from "../context.ts";
import { daemonOf } from "../daemon.ts";
import { note } from "../print.ts";
import { jsonEvents, LineView, Notices } from "../event-lines.ts";
import {
  daemonFlags,
  jsonFlag,
  parseSequence,
  textsFlag,
  valueFlag,
  type DaemonFlags,
} from "../flags.ts";
import { about } from "../help.ts";

interface Flags extends DaemonFlags {
  readonly from?: number;
  readonly topic?: readonly string[];
  readonly json?: boolean;
}

type NounOf<T extends Topic> = T extends `${infer Noun}.${string}` ? Noun : never;

const NOUNS: Readonly<Record<NounOf<Topic>, true>> = {
  agent: true,
  credential: true,
  directory: true,
  election: true,
  fleet: true,
  job: true,
  leader: true,
  lease: true,
  node: true,
  outpost: true,
  policy: true,
  question: true,
  request: true,
  session: true,
  task: true,
  token: true,
};

const TOPICS = Object.keys(NOUNS).map((noun) => `${noun}.`);

/** A newer daemon may have more topics: a word that fits none is told, and followed. */
function unknownTopics(given: readonly string[]): readonly string[] {
  return given.filter(
    (prefix) => !TOPICS.some((each) => each.startsWith(prefix) || prefix.startsWith(each)),
  );
}

export const events = buildCommand<Flags, [], Context>({
  docs: about(
    "Follow what happens, live; with --from first what happened since. Ctrl-C ends it.\n" +
      "When the daemon goes away it waits and goes on from there: no gap, nothing twice.",
    { call: "rollcall events", does: "from now on" },
    { call: "rollcall events --from 0", does: "from the very beginning" },
    { call: "rollcall events --topic lease. --topic leader.", does: "only these topics" },
    { call: "rollcall events --json | jq .topic", does: "one JSON object a line" },
  ),
  parameters: {
    flags: {
      from: valueFlag(
        "SEQ",
        "Begin after this sequence, 0 for all there is [from now on]",
        parseSequence,
      ),
      topic: {
        ...textsFlag("PREFIX", "Only topics that begin with this; may be given several times"),
        proposeCompletions: (partial: string) =>
          TOPICS.filter((topic) => topic.startsWith(partial)),
      },
      json: { ...jsonFlag, brief: "One JSON object a line, for programs" },
      ...daemonFlags,
    },
  },
  async func({ from, topic = [], json = false, ...flags }) {
    const signal = this.untilInterrupted();
    const view = json ? jsonEvents(this) : new LineView(this);
    const notices = new Notices(this);
    let unknown = unknownTopics(topic);
    await using daemon = daemonOf(this, flags);
    const stream = daemon.events({
      from,
      topics: topic,
      signal,
      onState: (state) => {
        notices.connection(daemon.url, state);
        if (unknown.length > 0) void note(this, `${none(unknown)}; there are ${TOPICS.join(" ")}`);
        unknown = [];
      },
    });
    for await (const item of stream) {
      if (item.kind === "event") await view.show(item);
      else notices.resync(item);
      if (signal.aborted) return;
    }
  },
});

function none(unknown: readonly string[]): string {
  return `no topic begins with ${unknown.join(" or ")}`;
}
