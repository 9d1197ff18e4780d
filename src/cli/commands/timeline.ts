/** `rollcall timeline`: what happened to an agent, under all its names, the newest last. */
import type { InputOf } from "../../operations/table.ts";
import type { DaemonEvent } from "../../wires/api/client/events.ts";
import type { TimelineEvents } from "../../wires/api/answers.ts";
import { apiOperation, call, pathOf } from "../api.ts";
import { daemonOf } from "../daemon.ts";
import { note, printJson } from "../print.ts";
import { AgentLineView, jsonEvents, Notices } from "../event-lines.ts";
import { answerFlags, switchFlag, type AnswerFlags } from "../flags.ts";
import { commandLine } from "../operation.ts";

interface Flags {
  readonly limit?: number;
  readonly follow?: boolean;
}

/** The largest page of a daemon. */
const MOST = 1_000;

const line = commandLine<Flags>("fleet.timeline", {
  words: { id: "AGENT", limit: "--limit N" },
  flags: { follow: switchFlag("Follow new events") },
  fill: ({ limit = MOST }) => ({ limit: Math.min(limit, MOST) }),
  examples: [
    { call: "rollcall timeline web-1", does: "by its name, its id, or a part of one" },
    { call: "rollcall timeline claude --follow", does: "and new events; Ctrl-C ends it" },
    { call: "rollcall timeline claude --json", does: "for programs" },
  ],
});

export const timeline = line.command<AnswerFlags>(answerFlags, async (context, typed) => {
  const { follow = false, json = false } = typed.flags;
  await using daemon = daemonOf(context, typed.flags);
  const input = (await line.input({ ...typed, daemon, context })) as InputOf<"fleet.timeline">;
  const answer = await call(daemon, "fleet.timeline", { input }).catch(line.refused);
  if (json && !follow) return await printJson(context, answer);
  const { id, events, sequence: from } = answer;
  const view = json ? jsonEvents(context) : new AgentLineView(context, id);
  for (const event of events) await view.show(asEvent(event));
  if (!follow) {
    if (events.length === 0) await note(context, "nothing that the log still has");
    return;
  }
  const notices = new Notices(context);
  const stream = daemon.events({
    path: pathOf(apiOperation("fleet.timeline").path, { id }),
    from,
    signal: context.untilInterrupted(),
    onState: (state) => notices.connection(daemon.url, state),
  });
  for await (const item of stream) {
    if (item.kind === "event") await view.show(item);
    else notices.resync(item);
  }
});

function asEvent(data: TimelineEvents["events"][number]): DaemonEvent {
  const { sequence, topic, at } = data;
  return { kind: "event", sequence, topic, atMs: Date.parse(at), data };
}
