/** `rollcall audit`: who changed what, and what was denied. */
import type { AnswerOf } from "../../operations/table.ts";
import { note } from "../print.ts";
import { parseMoment } from "../moments.ts";
import { operation } from "../operation.ts";
import { clean } from "../terminal/clean.ts";
import { momentText } from "../terminal/time.ts";
import { hanging } from "../terminal/width.ts";

type AuditEntry = AnswerOf<"audit.list">["entries"][number];

interface Flags {
  readonly since?: number;
}

function lineOf({ by, action, target, outcome, count, reason }: AuditEntry): string {
  const often = count > 1 ? ` (${count} times)` : "";
  const why = reason === "" ? "" : `: ${reason}`;
  const where = [by.wire, by.peer].filter(Boolean).join(" ");
  const what = [action, target].filter(Boolean).join(" ");
  return clean(`${by.principal} (${where})  ${outcome}  ${what}${often}${why}`);
}

const INDENT = 4;

export const audit = operation<"audit.list", Flags>("audit.list", {
  words: { by: "--by PRINCIPAL", action: "--action PREFIX", limit: "--limit N" },
  flags: {
    since: {
      kind: "parsed",
      parse: (text: string) => parseMoment(text),
      brief: "Only from then on: 14:03, yesterday 14:03, 2h ago",
      optional: true,
      placeholder: "TIME",
    },
  },
  fill: ({ since }) => ({ since: since === undefined ? undefined : String(since) }),
  about:
    "The audit trail, the newest last: changes of policies and tokens, cancels, dismissals, acts " +
    "for an agent of another principal, and denials, which are counted by the minute. It is kept " +
    "for 90 days, and says how far back it reaches.",
  examples: [
    { call: "rollcall audit", does: "the last hundred entries" },
    { call: "rollcall audit --by token:ci --since '2h ago'", does: "of one caller" },
    { call: "rollcall audit --action policy. --json", does: "for programs" },
  ],
  isNothing: ({ entries }) => entries.length === 0,
  async show({ entries, reachesBackToMs }, { context }) {
    const nowMs = Date.now();
    for (const entry of entries.toReversed()) {
      const text = `${momentText(entry.atMs, nowMs)}  ${lineOf(entry)}`;
      await context.out.line(hanging(text, INDENT, context.out.columns));
    }
    const begins = momentText(reachesBackToMs, nowMs);
    const said = entries.length === 0 ? "nothing that fits; " : "";
    await note(context, `${said}the audit reaches back to ${begins}`);
  },
});
