/** `rollcall explain`: why an agent is shown as it is. Nothing is believed without its evidence. */
import type { FleetRow } from "../../wires/api/answers.ts";
import { lookOf, noteMoment, printFacts, printJson } from "../print.ts";
import { HEADLINE_COLOURS } from "../fleet/look.ts";
import { NearestFleet } from "../fleet/nearest.ts";
import type { AgentQuery } from "../fleet/source.ts";
import { answerFlags, type AnswerFlags } from "../flags.ts";
import { commandLine } from "../operation.ts";
import { fromHome } from "../terminal/path.ts";
import { tableLines, type Cell, type FactRow, type Look } from "../terminal/table.ts";
import { ago, momentText } from "../terminal/time.ts";

type ExplainedRow = FleetRow["row"];

const line = commandLine<{ readonly at?: number }>("fleet.get", {
  words: { id: "AGENT", at: "--at TIME" },
  examples: [
    { call: "rollcall explain web-1", does: "by its name, its id, or a part of one" },
    { call: "rollcall at 10m ago explain claude", does: "as it was then" },
  ],
});

export const explain = line.command<AnswerFlags>(answerFlags, async (context, typed) => {
  const { at, json } = typed.flags;
  await using fleet = new NearestFleet(context, typed.flags);
  const query = await line.input({ ...typed, daemon: fleet.daemon, context });
  const answer = await fleet.find(query as AgentQuery).catch(line.refused);
  if (json === true) return await printJson(context, answer);
  await noteMoment(context, at);
  const { row, atMs } = answer;
  await printFacts(context, factsOf(row, atMs));
  const look = lookOf(context);
  const tables = [...tableLines(COLUMNS, axesOf(row, atMs), look), ...jobLines(row, atMs, look)];
  for (const each of ["", ...tables]) await context.out.line(each);
});

function factsOf(row: ExplainedRow, nowMs: number): readonly FactRow[] {
  const { headline, blockedOn, lastActivityAtMs, sinceMs } = row;
  const options = blockedOn?.value.options ?? [];
  return [
    ["agent", row.name],
    ["id", row.id],
    ["headline", { text: headline, style: HEADLINE_COLOURS[headline] }],
    ["because", row.because],
    [blockedOn ? "asks" : "doing", row.why],
    ["since", sinceMs === null ? "" : momentText(sinceMs, nowMs)],
    ["options", options.join(" / ")],
    ["workspace", row.workspace === null ? "" : fromHome(row.workspace)],
    ["goal", row.goal ?? ""],
    ["last active", lastActivityAtMs === null ? "" : momentText(lastActivityAtMs, nowMs)],
    ...row.aliases.map((alias): FactRow => ["known as", alias]),
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
function jobLines({ jobs }: ExplainedRow, nowMs: number, look: Look): readonly string[] {
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
  { title: "RULE", least: 20 },
  { title: "SAID BY", least: 14 },
  { title: "WHEN" },
  { title: "ORDER", isNumber: true, isExtra: true },
] as const;

function axesOf(row: ExplainedRow, nowMs: number): readonly (readonly Cell[])[] {
  const { liveness, activity, blockedOn, outcome } = row;
  const evidence = ({
    evidence: { rule, alias, reportedAtMs, order },
  }: Pick<ExplainedRow["liveness"], "evidence">) => [
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
