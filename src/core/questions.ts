/**
 * The questions of agents to a person. A question begins with the report that asks it and ends
 * with the one that no longer does; how it ended is told by what the agent does next.
 *
 *               goes on, or asks something else ──▶ answered
 *   asked ──▶ open ── rests ──────────────────────▶ withdrawn       a day later: forgotten
 *               ├── is gone ──────────────────────▶ expired
 *               └── an operator does not want it ─▶ dismissed
 */
import type { Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { Heap, type Slot } from "./heap.ts";
import { RETENTION } from "./limits.ts";
import type { ReportedQuestion, Facts, Liveness, Report } from "./reports.ts";
import type { State } from "./state.ts";

/** Whether a source knows that it ended; an agent that fell silent may come back. */
export function isGone(liveness: Liveness): boolean {
  return liveness === "dead" || liveness === "exited";
}

export type QuestionState = "open" | "answered" | "withdrawn" | "expired" | "dismissed";

export interface Question extends ReportedQuestion {
  readonly id: string;
  /** The owner of the source that asks; absent for `local`. */
  readonly owner?: string | undefined;
  readonly agentId: string;
  /** Which source of the agent asks. */
  readonly alias: string;
  readonly state: QuestionState;
  /** 0 while it is open. */
  readonly endedAtMs: number;
}

export interface QuestionEntry {
  question: Question;
  /** Rings when one that ended may be forgotten. */
  readonly timer: Slot<string>;
}

export class Questions {
  readonly byId = new Map<string, QuestionEntry>();
  /** The open one of a source: it asks one at a time. */
  readonly openOf = new Map<string, string>();
  /** The last one of a source, open or not. */
  readonly lastOf = new Map<string, string>();
  readonly ended = new Heap<string>();
}

export type QuestionEvent =
  | {
      readonly type:
        | "question.asked"
        | "question.answered"
        | "question.withdrawn"
        | "question.expired"
        | "question.dismissed";
      readonly question: Question;
    }
  | { readonly type: "question.forgotten"; readonly id: string };

/** The effect of a report on the question its source had open, and on the one it asks. */
export function questionEvents(state: State, report: Report, moment: Moment): readonly Event[] {
  const { questions } = state;
  const { alias, owner, agentId, facts } = report;
  const open = questions.byId.get(questions.openOf.get(alias) ?? "")?.question;
  const asked = isGone(facts.liveness.value) ? undefined : facts.question?.value;
  if (open && asked && open.owner === owner && isSame(open, asked)) return [];
  const events: Event[] = [];
  if (open) events.push(ending(open, howItEnded(facts, asked), moment.nowMs));
  if (asked) {
    const oldest = questions.byId.size >= RETENTION.questions ? questions.ended.first() : undefined;
    if (oldest !== undefined) events.push({ type: "question.forgotten", id: oldest });
    const id = moment.newId();
    const about = { id, owner, agentId, alias } as const;
    const question: Question = { ...asked, ...about, state: "open", endedAtMs: 0 };
    events.push({ type: "question.asked", question });
  }
  return events;
}

function isSame(open: Question, asked: ReportedQuestion): boolean {
  return open.kind === asked.kind && open.text === asked.text && open.sinceMs >= asked.sinceMs;
}

function howItEnded(
  { liveness, activity }: Facts,
  asked: ReportedQuestion | undefined,
): QuestionEnd {
  if (isGone(liveness.value)) return "expired";
  if (asked) return "answered";
  const doing = activity?.value ?? "unknown";
  return doing === "idle" || doing === "unknown" ? "withdrawn" : "answered";
}

/** How a question ends by what its agent does. */
type QuestionEnd = Exclude<QuestionState, "open" | "dismissed">;

function ending(open: Question, state: QuestionEnd, nowMs: number): Event {
  return { type: `question.${state}`, question: { ...open, state, endedAtMs: nowMs } };
}

export function dismissed(open: Question, nowMs: number): Question {
  return { ...open, state: "dismissed", endedAtMs: nowMs };
}

export function evolveQuestion(state: State, event: QuestionEvent): void {
  const { questions } = state;
  switch (event.type) {
    case "question.asked":
    case "question.answered":
    case "question.withdrawn":
    case "question.expired":
    case "question.dismissed":
      remove(questions, event.question.id);
      restoreQuestion(state, event.question);
      return;
    case "question.forgotten":
      remove(questions, event.id);
      return;
  }
}

export function restoreQuestion({ questions }: State, question: Question): void {
  const { id, alias } = question;
  const timer = questions.ended.add(question.endedAtMs + RETENTION.questionMs, id);
  if (question.state === "open") {
    questions.ended.remove(timer);
    questions.openOf.set(alias, id);
  }
  const last = questions.byId.get(questions.lastOf.get(alias) ?? "")?.question;
  if (!last || last.sinceMs <= question.sinceMs) questions.lastOf.set(alias, id);
  questions.byId.set(id, { question, timer });
}

function remove(questions: Questions, id: string): void {
  const entry = questions.byId.get(id);
  if (!entry) return;
  questions.ended.remove(entry.timer);
  questions.byId.delete(id);
  const { alias } = entry.question;
  if (questions.openOf.get(alias) === id) questions.openOf.delete(alias);
  if (questions.lastOf.get(alias) === id) questions.lastOf.delete(alias);
}

export function dueQuestion(questions: Questions): number | undefined {
  return questions.ended.nextAt();
}

export function expireQuestion({ questions }: State, nowMs: number): readonly Event[] {
  const old = questions.ended.takeDue(nowMs);
  return old ? [{ type: "question.forgotten", id: old.value }] : [];
}
