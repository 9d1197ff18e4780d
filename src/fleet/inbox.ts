/** Questions as people read them: with the agent's name and place, and the row they belong to. */
import type { Question, QuestionState } from "../core/questions.ts";
import type { State } from "../core/state.ts";
import { EVERYTHING, sees } from "../core/visibility.ts";
import { rowIdOf } from "./identity.ts";

export interface AgentQuestion extends Question {
  /** The name of its agent; its id where it has no name. */
  readonly name: string;
  readonly workspace: string | null;
}

/** Two sources that see an agent ask tell it within this time: one of them in whole seconds. */
const SAME_MS = 2_000;

/** Where two sources differ on a question, the earlier of these states counts. */
const STATES: readonly QuestionState[] = ["open", "dismissed", "answered", "withdrawn", "expired"];

/** The oldest first. What two sources of one agent tell is one. A step for each question. */
export function* makeQuestions(state: State, sight = EVERYTHING): Generator<void, AgentQuestion[]> {
  const asked: AgentQuestion[] = [];
  // A copy: a question that changes meanwhile moves to the end, and would come twice.
  const all = Array.from(state.questions.byId.values(), ({ question }) => question);
  for (const question of all) {
    if (sees(sight, question)) asked.push(asAsked(state, question));
    yield;
  }
  return yield* once(asked.sort(byAge));
}

function byAge(a: Question, b: Question): number {
  return a.sinceMs - b.sinceMs || (a.id < b.id ? -1 : 1);
}

function* once(questions: readonly AgentQuestion[]): Generator<void, AgentQuestion[]> {
  const told: AgentQuestion[] = [];
  const places = new Map<string, number>();
  for (const question of questions) {
    yield;
    const { agentId, kind, text, alias, sinceMs } = question;
    const key = JSON.stringify([agentId, kind, text]);
    const place = places.get(key) ?? told.length;
    const before = told[place];
    if (before && before.alias !== alias && sinceMs - before.sinceMs <= SAME_MS) {
      if (rankOf(question) < rankOf(before)) told[place] = question;
      continue;
    }
    places.set(key, told.length);
    told.push(question);
  }
  return told;
}

function rankOf({ state }: AgentQuestion): number {
  return STATES.indexOf(state);
}

function asAsked(state: State, question: Question): AgentQuestion {
  const report = state.reports.byAlias.get(question.alias)?.report;
  const agentId = report ? rowIdOf(state, report) : question.agentId;
  const { name = agentId, workspace = null } = report?.facts ?? {};
  return { ...question, agentId, name, workspace };
}
