/** Questions as people read them: with the agent's name and place, and the row they belong to. */
import type { Question, QuestionState } from "../core/questions.ts";
import type { State } from "../core/state.ts";
import { rowIdOf } from "./identity.ts";

export interface AgentQuestion extends Question {
  /** What its agent is called; its id where nobody said. */
  readonly name: string;
  readonly workspace: string | null;
}

/** Two sources that see an agent ask tell it within this time: one of them in whole seconds. */
const SAME_MS = 2_000;

/** The oldest first; of these states, or of all. What two sources of one agent tell is one. */
export function questionsOf(state: State, wanted: readonly QuestionState[] = []): AgentQuestion[] {
  const found: AgentQuestion[] = [];
  for (const { question } of state.questions.byId.values()) {
    if (wanted.length > 0 && !wanted.includes(question.state)) continue;
    found.push(asAsked(state, question));
  }
  return once(found.sort((a, b) => a.sinceMs - b.sinceMs || (a.id < b.id ? -1 : 1)));
}

function once(questions: readonly AgentQuestion[]): AgentQuestion[] {
  const last = new Map<string, AgentQuestion>();
  return questions.filter((question) => {
    const { agentId, kind, text, state, alias, sinceMs } = question;
    const key = JSON.stringify([agentId, kind, text, state]);
    const before = last.get(key);
    if (before && before.alias !== alias && sinceMs - before.sinceMs <= SAME_MS) return false;
    last.set(key, question);
    return true;
  });
}

function asAsked(state: State, question: Question): AgentQuestion {
  const report = state.reports.byAlias.get(question.alias)?.report;
  const agentId = report ? rowIdOf(state, report) : question.agentId;
  const { name = agentId, workspace = null } = report?.facts ?? {};
  return { ...question, agentId, name, workspace };
}
