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

/** The oldest first; of these states, or of all. What two sources of one agent tell is one. */
export function questionsOf(
  state: State,
  wanted: readonly QuestionState[] = [],
  sight = EVERYTHING,
): AgentQuestion[] {
  const all = Array.from(state.questions.byId.values(), ({ question }) => question);
  const seen = all.filter((question) => sees(sight, question));
  const inTime = seen
    .map((question) => asAsked(state, question))
    .sort((a, b) => a.sinceMs - b.sinceMs || (a.id < b.id ? -1 : 1));
  const told = once(inTime);
  return wanted.length === 0 ? told : told.filter(({ state: own }) => wanted.includes(own));
}

function once(questions: readonly AgentQuestion[]): AgentQuestion[] {
  const told: AgentQuestion[] = [];
  const places = new Map<string, number>();
  for (const question of questions) {
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
