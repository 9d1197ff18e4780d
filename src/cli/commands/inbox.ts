/** `rollcall inbox`: what agents wait for a person to answer, the oldest first. */
import { buildCommand } from "@stricli/core";
import { RollcallError } from "../../core/errors.ts";
import type { QuestionState } from "../../core/questions.ts";
import type { AgentQuestion } from "../../fleet/inbox.ts";
import type { Context } from "../context.ts";
import { note } from "../daemon.ts";
import { atFlag, listFlags, type ListFlags } from "../flags.ts";
import { about } from "../help.ts";
import { list, type Listing } from "../listing.ts";
import type { Style } from "../terminal/output.ts";
import { fromHome } from "../terminal/path.ts";
import { ago, moment } from "../terminal/time.ts";

interface Flags extends ListFlags {
  readonly all?: boolean;
  readonly at?: number;
}

const COLOURS: Readonly<Record<QuestionState, Style>> = {
  open: "yellow",
  answered: "green",
  withdrawn: "dim",
  expired: "dim",
};

function listing({ all = false, at }: Flags): Listing<AgentQuestion> {
  return {
    noun: "questions",
    params: {
      state: all ? undefined : "open",
      at: at === undefined ? undefined : String(at),
    },
    topics: ["question."],
    columns: [
      { title: "ASKED" },
      ...(all ? [{ title: "STATE" }] : []),
      { title: "AGENT", least: 10 },
      { title: "WORKSPACE", least: 12, isExtra: true, cut: "start" },
      { title: "KIND" },
      { title: "QUESTION", least: 32 },
      { title: "OPTIONS", least: 12, isExtra: true },
    ],
    cells: (question, { nowMs }) => [
      ago(question.sinceMs, nowMs),
      ...(all ? [{ text: question.state, style: COLOURS[question.state] }] : []),
      question.name,
      question.workspace === null ? "" : fromHome(question.workspace),
      question.kind,
      question.text,
      (question.options ?? []).join(" / "),
    ],
    key: ({ id }) => id,
    nothing:
      at !== undefined
        ? "nobody waited for you then"
        : all
          ? "nobody asked anything"
          : "nobody waits for you; --all shows what was asked",
  };
}

export const inbox = buildCommand<Flags, [], Context>({
  docs: {
    brief: "What agents wait for you to answer",
    fullDescription: about(
      "What agents wait for you to answer, the oldest first. `rollcall explain AGENT` shows a " +
        "long question whole.",
      { call: "rollcall inbox", does: "what is open" },
      { call: "rollcall inbox --all", does: "and what was answered, withdrawn or expired" },
      { call: "rollcall inbox --watch", does: "the same, live" },
      { call: "rollcall at yesterday 14:03 inbox", does: "what was open then" },
    ),
  },
  parameters: {
    flags: {
      all: {
        kind: "boolean",
        optional: true,
        withNegated: false,
        brief: "Those that ended as well, for a day",
      },
      at: atFlag,
      ...listFlags,
    },
  },
  async func(flags) {
    if (flags.at !== undefined) {
      if (flags.watch === true) {
        throw new RollcallError("INVALID_ARGUMENT", "--at and --watch exclude each other");
      }
      await note(this, `as of ${moment(flags.at, Date.now())}`);
    }
    await list(this, flags, () => listing(flags));
  },
});
