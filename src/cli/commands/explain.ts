/** `rollcall explain`: why an agent is shown as it is. Nothing is believed without its evidence. */
import { buildCommand } from "@stricli/core";
import type { Axis } from "../../fleet/axes.ts";
import type { Row } from "../../fleet/row.ts";
import type { Context } from "../context.ts";
import { lookOf, note, printJson } from "../daemon.ts";
import { HEADLINE_COLOURS } from "../fleet/look.ts";
import { NearestFleet } from "../fleet/nearest.ts";
import { answerFlags, argument, atFlag, type AnswerFlags } from "../flags.ts";
import { about } from "../help.ts";
import { fromHome } from "../terminal/path.ts";
import { factLines, tableLines, type Cell, type Look } from "../terminal/table.ts";
import { ago, moment } from "../terminal/time.ts";

interface Flags extends AnswerFlags {
  readonly at?: number;
}

export const explain = buildCommand<Flags, [string], Context>({
  docs: {
    brief: "Why an agent is shown as it is, with the evidence",
    fullDescription: about(
      "Why an agent is shown as it is: each thing known of it, who said so, when, and by which " +
        "rule it is believed.",
      { call: "rollcall explain claude", does: "by name, id, or enough of its id" },
      { call: "rollcall at 10m ago explain claude", does: "as it was then" },
    ),
  },
  parameters: {
    flags: { at: atFlag, ...answerFlags },
    positional: {
      kind: "tuple",
      parameters: [argument("AGENT", "A name, an id, or enough of its beginning")],
    },
  },
  async func(flags, given) {
    await using fleet = new NearestFleet(this, flags);
    const answer = await fleet.find(given, flags.at);
    if (flags.json === true) return await printJson(this, answer);
    if (flags.at !== undefined) await note(this, `as of ${moment(flags.at, Date.now())}`);
    const look = lookOf(this);
    const { row, atMs } = answer;
    const lines = [
      ...factLines(factsOf(row, atMs), look),
      "",
      ...tableLines(COLUMNS, axesOf(row, atMs), look),
      ...jobLines(row, atMs, look),
    ];
    for (const line of lines) await this.out.line(line);
  },
});

type Fact = readonly [name: string, cell: Cell];

function factsOf(row: Row, nowMs: number): readonly Fact[] {
  const { headline, blockedOn, lastActivityAtMs, sinceMs } = row;
  const options = blockedOn?.value.options ?? [];
  return [
    ["agent", row.name],
    ["id", row.id],
    ["headline", { text: headline, style: HEADLINE_COLOURS[headline] }],
    ["because", row.because],
    [blockedOn ? "asks" : "doing", row.why],
    ["since", sinceMs === null ? "" : moment(sinceMs, nowMs)],
    ["options", options.join(" / ")],
    ["workspace", row.workspace === null ? "" : fromHome(row.workspace)],
    ["goal", row.goal ?? ""],
    ["last active", lastActivityAtMs === null ? "" : moment(lastActivityAtMs, nowMs)],
    ...row.aliases.map((alias): Fact => ["known as", alias]),
  ];
}

const JOB_COLUMNS = [
  { title: "JOB" },
  { title: "STATUS" },
  { title: "DOING", least: 28 },
  { title: "BY", isExtra: true },
  { title: "SUBMITTED" },
] as const;

/** Its jobs, the newest first. */
function jobLines({ jobs }: Row, nowMs: number, look: Look): readonly string[] {
  if (!jobs || jobs.newest.length === 0) return [];
  const cells = jobs.newest.map(({ id, status, why, principal, submittedAtMs }) => [
    id,
    status,
    why,
    principal,
    ago(submittedAtMs, nowMs),
  ]);
  return ["", ...tableLines(JOB_COLUMNS, cells, look)];
}

const COLUMNS = [
  { title: "WHAT" },
  { title: "VALUE", least: 12 },
  { title: "RULE", least: 28 },
  { title: "SAID BY", least: 14 },
  { title: "WHEN" },
  { title: "ORDER", isNumber: true, isExtra: true },
] as const;

function axesOf(row: Row, nowMs: number): readonly (readonly Cell[])[] {
  const { liveness, activity, blockedOn, outcome } = row;
  const evidence = ({ evidence: { rule, alias, reportedAtMs, order } }: Axis<unknown>) => [
    rule,
    alias,
    ago(reportedAtMs, nowMs),
    String(order),
  ];
  const doing = [activity.value, activity.message ?? activity.task].filter(Boolean).join(": ");
  const nothing = { text: "nothing", style: "dim" } as const;
  const none = { text: "none yet", style: "dim" } as const;
  return [
    ["liveness", liveness.value, ...evidence(liveness)],
    ["activity", doing, ...evidence(activity)],
    blockedOn
      ? ["blocked on", blockedOn.value.kind, ...evidence(blockedOn)]
      : ["blocked on", nothing],
    outcome ? ["outcome", outcome.value, ...evidence(outcome)] : ["outcome", none],
  ];
}
