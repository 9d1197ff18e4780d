/** `rollcall inbox`: what agents wait for a person to answer, the oldest first. */
import type { QuestionState } from "../../core/questions.ts";
import type { AgentQuestion } from "../../fleet/inbox.ts";
import { daemonOf } from "../daemon.ts";
import { listFlags, switchFlag, type ListFlags } from "../flags.ts";
import { daemonList, showList, type ListColumn, type ListSpec } from "../listing.ts";
import { commandLine } from "../operation.ts";
import type { Style } from "../terminal/output.ts";
import { fromHome } from "../terminal/path.ts";
import { ago } from "../terminal/time.ts";

interface Flags {
  readonly all?: boolean;
  readonly at?: number;
}

const COLOURS: Readonly<Record<QuestionState, Style>> = {
  open: "yellow",
  answered: "green",
  withdrawn: "dim",
  expired: "dim",
  dismissed: "dim",
};

const line = commandLine<Flags>("questions.list", {
  words: { at: "--at TIME" },
  flags: { all: switchFlag("Also questions that ended, for a day") },
  fill: ({ all = false }) => (all ? {} : { state: ["open"] }),
  more: "`rollcall explain AGENT` shows a long question whole.",
  examples: [
    { call: "rollcall inbox", does: "open questions" },
    { call: "rollcall inbox --all", does: "and those answered, withdrawn or expired" },
    { call: "rollcall inbox --watch", does: "the same, live" },
    { call: "rollcall at yesterday 14:03 inbox", does: "questions that were open then" },
  ],
});

const STATE: ListColumn<AgentQuestion> = {
  title: "STATE",
  cell: ({ state }) => ({ text: state, style: COLOURS[state] }),
};

function placeOf({ workspace }: AgentQuestion): string {
  return workspace === null ? "" : fromHome(workspace);
}

type InboxView = Omit<ListSpec<AgentQuestion>, "input">;

function viewOf({ all = false, at }: Flags): InboxView {
  return {
    operation: "questions.list",
    noun: "questions",
    topics: ["question."],
    columns: [
      { title: "ASKED", cell: ({ sinceMs }, { nowMs }) => ago(sinceMs, nowMs) },
      ...(all ? [STATE] : []),
      { title: "AGENT", least: 10, cell: ({ name }) => name },
      { title: "WORKSPACE", least: 12, isExtra: true, cut: "start", cell: placeOf },
      { title: "KIND", cell: ({ kind }) => kind },
      { title: "QUESTION", least: 32, cell: ({ text }) => text },
      {
        title: "OPTIONS",
        least: 12,
        isExtra: true,
        cell: ({ options = [] }) => options.join(" / "),
      },
    ],
    key: ({ id }) => id,
    nothing:
      at !== undefined
        ? "no agent waited for you then"
        : all
          ? "no agent asked anything"
          : "no agent waits for you; --all shows earlier questions",
  };
}

export const inbox = line.command<ListFlags>(listFlags, async (context, typed) => {
  const { flags } = typed;
  await using daemon = daemonOf(context, flags);
  const input = (await line.input({ ...typed, daemon, context })) as ListSpec<unknown>["input"];
  const listing = { ...viewOf(flags), input };
  await showList({ context, source: daemonList(daemon, listing), look: listing, flags });
});
