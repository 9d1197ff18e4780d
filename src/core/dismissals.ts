/**
 * An operator takes something off the list: a question that nobody will answer, a report that is
 * wrong or of no use.
 *
 *   question  open ── dismiss ──▶ dismissed    repeated it stays so; asked anew it is a new one
 *   report    there ── dismiss ──▶ gone        until its source reports again
 *
 * Questions that several sources of one agent report at the same time are one question, and are
 * dismissed as one.
 */
import { decided, refuse, type Decision, type Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { atMost, invalid, key } from "./fields.ts";
import { FLEET } from "./limits.ts";
import { dismissed, type Question } from "./questions.ts";
import type { Report, ReportedQuestion } from "./reports.ts";
import { SAME_QUESTION_MS } from "./seen-answers.ts";
import type { State } from "./state.ts";

export type DismissalCommand =
  | { readonly type: "question.dismiss"; readonly id: string }
  | { readonly type: "fleet.dismiss"; readonly aliases: readonly string[] };

export interface DismissalReplies {
  "question.dismiss": Question;
  /** The aliases that had a report. */
  "fleet.dismiss": { readonly aliases: readonly string[] };
}

export function decideDismissal(
  state: State,
  command: DismissalCommand,
  { nowMs }: Moment,
): Decision<Event, DismissalReplies[keyof DismissalReplies]> {
  switch (command.type) {
    case "question.dismiss":
      return dismissQuestion(state, command.id, nowMs);
    case "fleet.dismiss": {
      const { aliases } = command;
      const refusal = invalid(
        atMost("aliases", aliases.length, FLEET.dismissedAtOnce),
        ...aliases.map((alias) => key("aliases", alias, FLEET.aliasLength)),
      );
      if (refusal) return refusal;
      const known = [...new Set(aliases)].filter((alias) => state.reports.byAlias.has(alias));
      return decided(
        known.flatMap((alias) => dismissReport(state, alias, nowMs)),
        { aliases: known },
      );
    }
  }
}

export function dismissReport(state: State, alias: string, nowMs: number): Event[] {
  const over: Event = { type: "fleet.dismissed", alias };
  const asked = openOf(state, alias);
  return asked ? [{ type: "question.dismissed", question: dismissed(asked, nowMs) }, over] : [over];
}

function dismissQuestion(
  state: State,
  id: string,
  nowMs: number,
): Decision<Event, DismissalReplies["question.dismiss"]> {
  const refusal = invalid(key("id", id));
  if (refusal) return refusal;
  const question = state.questions.byId.get(id)?.question;
  if (!question) return refuse("NOT_FOUND", `no question ${id}`);
  if (question.state === "dismissed") return decided([], question);
  if (question.state !== "open") {
    return refuse("WRONG_STATE", `question ${id} is ${question.state}`);
  }
  const events = openWith(state, question).flatMap((each): Event[] => {
    const over: Event = { type: "question.dismissed", question: dismissed(each, nowMs) };
    const report = state.reports.byAlias.get(each.alias)?.report;
    return report ? [over, { type: "fleet.reported", report: withoutQuestion(report) }] : [over];
  });
  return decided(events, dismissed(question, nowMs));
}

/** The question itself, and what other sources of its agent asked with it. */
function openWith(state: State, question: Question): readonly Question[] {
  const { alias, agentId, sinceMs } = question;
  const others = Array.from(state.reports.byAgent.of(agentId)).flatMap((other) => {
    const asked = other === alias ? undefined : openOf(state, other);
    const isSame = asked && Math.abs(asked.sinceMs - sinceMs) <= SAME_QUESTION_MS;
    return isSame ? [asked] : [];
  });
  return [question, ...others];
}

function openOf({ questions }: State, alias: string): Question | undefined {
  return questions.byId.get(questions.openOf.get(alias) ?? "")?.question;
}

/** As it is told, without a question that was dismissed and is only repeated. */
export function withDismissal(report: Report, before: Report | undefined): Report {
  const { dismissed: _, ...told } = report;
  const asked = told.facts.question?.value;
  const over = before?.dismissed;
  return asked && over && isRepeat(asked, over) ? withoutQuestion(told, over) : told;
}

function isRepeat(asked: ReportedQuestion, over: ReportedQuestion): boolean {
  return asked.kind === over.kind && asked.text === over.text && asked.sinceMs <= over.sinceMs;
}

/** It still waits, but for nobody in particular. */
function withoutQuestion(report: Report, over = report.facts.question?.value): Report {
  const { question: _, ...facts } = report.facts;
  const activity = { value: "idle", rule: "its question was dismissed" } as const;
  return { ...report, facts: { ...facts, activity }, ...(over && { dismissed: over }) };
}
