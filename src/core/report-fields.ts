/** What a report may hold: it comes from any program, and is kept and shown to people. */
import { atMost, key, line, prose, ttl, type Problem } from "./fields.ts";
import { FLEET } from "./limits.ts";
import {
  ACTIVITIES,
  LIVENESS,
  OUTCOMES,
  QUESTION_KINDS,
  type Asked,
  type Report,
} from "./reports.ts";

export function problemsOf({
  alias,
  agentId,
  links,
  order,
  reportedAtMs,
  sinceMs,
  ttlMs,
  facts,
}: Report): Problem[] {
  const { name = "", workspace = "", goal = "", process, activity, question, outcome } = facts;
  return [
    key("alias", alias, FLEET.aliasLength),
    alias.includes(":") ? undefined : "alias is not WIRE:NAME",
    key("agentId", agentId, FLEET.aliasLength),
    atMost("links", links.length, FLEET.links),
    ...links.map((link) => key("links", link, FLEET.aliasLength)),
    time("order", order),
    time("reportedAtMs", reportedAtMs),
    ttlMs === undefined ? undefined : ttl("ttlMs", ttlMs),
    line("name", name, FLEET.nameLength),
    line("workspace", workspace, FLEET.workspaceLength),
    prose("goal", goal, FLEET.textLength),
    time("pid", process?.pid),
    time("process_started_at", process?.startedAtMs),
    time("last_activity_at", facts.lastActivityAtMs),
    time("since", sinceMs),
    oneOf("liveness", facts.liveness.value, LIVENESS),
    oneOf("activity", activity?.value ?? "unknown", ACTIVITIES),
    oneOf("outcome", outcome?.value ?? "success", OUTCOMES),
    ...[facts.liveness, activity, question, outcome].map((each) =>
      line("rule", each?.rule ?? "", FLEET.nameLength),
    ),
    prose("message", activity?.message ?? "", FLEET.textLength),
    prose("task", activity?.task ?? "", FLEET.textLength),
    prose("outcome.text", outcome?.text ?? "", FLEET.textLength),
    time("outcome.at", outcome?.atMs),
    ...problemsOfQuestion(question?.value),
  ];
}

function problemsOfQuestion(question: Asked | undefined): Problem[] {
  if (!question) return [];
  const { kind, text, options = [], sinceMs } = question;
  return [
    oneOf("question.kind", kind, QUESTION_KINDS),
    prose("question.text", text, FLEET.questionLength),
    atMost("question.options", options.length, FLEET.options),
    ...options.map((option) => line("question.options", option, FLEET.nameLength)),
    time("question.since", sinceMs),
  ];
}

function time(field: string, value: number | undefined): Problem {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return undefined;
  return `${field} is not a whole number from 0 up`;
}

function oneOf(field: string, value: string, allowed: readonly string[]): Problem {
  return allowed.includes(value) ? undefined : `${field} is none of ${allowed.join(", ")}`;
}
