/** `rollcall timeline`: what happened to an agent, under all its names, the newest last. */
import { buildCommand } from "@stricli/core";
import type { DaemonEvent } from "../../wires/api/client/events.ts";
import type { FleetRow, TimelineEvents } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import { daemonOf, itemPath, note, pathOf, printJson, read } from "../daemon.ts";
import { AgentLineView, JsonView, Notices } from "../event-lines.ts";
import { answerFlags, argument, parseCount, type AnswerFlags } from "../flags.ts";
import { about } from "../help.ts";

interface Flags extends AnswerFlags {
  readonly limit: number;
  readonly follow?: boolean;
}

export const timeline = buildCommand<Flags, [string], Context>({
  docs: {
    brief: "What happened to an agent",
    fullDescription: about(
      "What happened to an agent, under all its names, the newest last, as far as the log " +
        "reaches back.",
      { call: "rollcall timeline claude", does: "by name, id, or enough of its id" },
      { call: "rollcall timeline claude --follow", does: "and what happens now; Ctrl-C ends it" },
      { call: "rollcall timeline claude --json", does: "for programs" },
    ),
  },
  parameters: {
    flags: {
      limit: {
        kind: "parsed",
        parse: parseCount,
        default: "1000",
        placeholder: "N",
        brief: "At most so many, the last ones [1000]",
      },
      follow: {
        kind: "boolean",
        optional: true,
        withNegated: false,
        brief: "Go on with what happens",
      },
      ...answerFlags,
    },
    positional: {
      kind: "tuple",
      parameters: [argument("AGENT", "A name, an id, or enough of its beginning")],
    },
  },
  async func({ limit, follow = false, json = false, url }, given) {
    await using daemon = daemonOf(this, url === undefined ? {} : { url });
    const { row } = await read<FleetRow>(daemon, itemPath("/v1/fleet", given));
    const path = `${itemPath("/v1/fleet", row.id)}/timeline`;
    const asked = pathOf(path, { limit: Math.min(limit, MOST) });
    const answer = await read<TimelineEvents>(daemon, asked);
    if (json && !follow) return await printJson(this, answer);
    const view = json ? new JsonView(this) : new AgentLineView(this, row.id);
    for (const event of answer.events) await view.show(asEvent(event));
    if (!follow) {
      if (answer.events.length === 0) await note(this, "nothing that the log still has");
      return;
    }
    const signal = this.untilInterrupted();
    const notices = new Notices(this);
    const stream = daemon.events({
      path,
      from: answer.sequence,
      signal,
      onState: (state) => notices.connection(daemon.url, state),
    });
    for await (const item of stream) {
      if (item.kind === "event") await view.show(item);
      else notices.resync(item);
    }
  },
});

/** What a daemon gives at most. */
const MOST = 1_000;

function asEvent(data: TimelineEvents["events"][number]): DaemonEvent {
  const { sequence, topic, at } = data;
  return { kind: "event", sequence, topic, atMs: Date.parse(at), data };
}
