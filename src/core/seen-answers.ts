/**
 * An answer that a source saw. Several sources see one question of an agent: the proxy between it
 * and its editor, and the agent's own hooks. The answer goes through the proxy; hooks may hear of
 * it late or never. So a question ends for all sources of the agent when the closest one that
 * asked it no longer does.
 *
 *   acp     asks ── 3 s ──▶ goes on
 *   file    asks ───────────────────────────▶ …     over since the proxy went on
 *
 * A question of before that moment is over; one that is asked later is a new one. The last words
 * of a turn may be a question too (kind "text"): that is none that a proxy sees.
 */
import type { Question } from "./questions.ts";
import { othersOf } from "./process-ends.ts";
import { countsFor } from "./report-owners.ts";
import type { Report, ReportedQuestion } from "./reports.ts";
import type { State } from "./state.ts";
import { rankOf } from "./wires.ts";

/** As it is told, without the question that a closer source saw answered. */
export function withSeenAnswer(state: State, report: Report): Report {
  const question = report.facts.question?.value;
  if (!question) return report;
  const isOver = othersOf(state, report).some((other) => {
    const isHeard = countsFor(other, report) && isCloser(other.alias, report.alias);
    return isHeard && isAnswered(question, lastOf(state, other.alias));
  });
  return isOver ? withoutQuestion(report) : report;
}

/** The last reports of sources further away, without the question that this report answers. */
export function answeredWith(state: State, report: Report, nowMs: number): readonly Report[] {
  const last = lastOf(state, report.alias);
  if (last?.state !== "open") return [];
  const asked = report.facts.question?.value;
  const next: Question = asked
    ? { ...last, ...asked }
    : { ...last, state: "answered", endedAtMs: nowMs };
  return othersOf(state, report).flatMap((other) => {
    const question = other.facts.question?.value;
    const isHeard = countsFor(report, other) && isCloser(report.alias, other.alias);
    const isOver = question && isHeard && isAnswered(question, next);
    return isOver ? [withoutQuestion(other)] : [];
  });
}

function lastOf({ questions }: State, alias: string): Question | undefined {
  return questions.byId.get(questions.lastOf.get(alias) ?? "")?.question;
}

function isCloser(alias: string, other: string): boolean {
  return rankOf(alias) < rankOf(other);
}

/** Two sources that saw the same question are this far apart at most: some know whole seconds. */
export const SAME_QUESTION_MS = 2_000;

function isAnswered({ kind, sinceMs }: ReportedQuestion, seen: Question | undefined): boolean {
  if (!seen || (kind === "text") !== (seen.kind === "text")) return false;
  return sinceMs <= (seen.state === "open" ? seen.sinceMs - SAME_QUESTION_MS : seen.endedAtMs);
}

function withoutQuestion(report: Report): Report {
  const { question: _, ...facts } = report.facts;
  if (facts.activity?.value !== "waiting") return { ...report, facts };
  const activity = { value: "working", rule: "its question was answered" } as const;
  return { ...report, facts: { ...facts, activity } };
}
