/**
 * The questions of a fleet, in order and each once, kept until one of them or a report changes:
 * what two sources tell is put together by the rows that they belong to, and reports say which.
 * There may be fifty thousand, so they are made in short turns, once for all who ask meanwhile.
 */
import type { Event } from "../core/events.ts";
import type { QuestionState } from "../core/questions.ts";
import type { Sight } from "../core/visibility.ts";
import type { Engine } from "../engine/engine.ts";
import { inSlices } from "../machine/slices.ts";
import { makeQuestions, type AgentQuestion } from "./inbox.ts";

export interface QuestionsNow {
  /** The oldest first. */
  readonly questions: readonly AgentQuestion[];
  /** Of the last event they rest on. */
  readonly sequence: number;
  readonly atMs: number;
}

/** How often questions changed, or what they are made of; and how often the state was replaced. */
export class QuestionRevision {
  events = 0;
  states = 0;

  note({ type }: Event): void {
    if (type.startsWith("question.") || type.startsWith("fleet.")) this.events += 1;
  }
}

interface QuestionsSnapshot extends QuestionsNow {
  readonly revision: string;
  /** The questions of some states, by these states. */
  readonly some: Map<string, readonly AgentQuestion[]>;
}

export interface KeptQuestionsOptions {
  readonly engine: Engine;
  readonly sight: Sight;
  readonly revision: QuestionRevision;
}

export class KeptQuestions {
  readonly #options: KeptQuestionsOptions;
  #made: QuestionsSnapshot | undefined;
  #making: Promise<QuestionsSnapshot> | undefined;

  constructor(options: KeptQuestionsOptions) {
    this.#options = options;
  }

  /** Of these states, or of all. What is seen is durable when it resolves. */
  async of(wanted: readonly QuestionState[]): Promise<QuestionsNow> {
    const { engine } = this.#options;
    const made = await this.#current();
    const sequence = await engine.read((_, at) => at);
    // Questions that have not changed are those of now.
    const isNow = made.revision === this.#revision;
    const now = isNow ? { sequence, atMs: engine.nowMs } : made;
    const questions = wanted.length === 0 ? made.questions : someOf(made, wanted);
    return { questions, sequence: now.sequence, atMs: now.atMs };
  }

  get #revision(): string {
    const { events, states } = this.#options.revision;
    return `${states} ${events}`;
  }

  /** Made after the caller asked, or just as good. */
  async #current(): Promise<QuestionsSnapshot> {
    if (this.#made?.revision === this.#revision) return this.#made;
    // One that is under way may have begun before the last change; the next one did not.
    const before = await this.#making?.catch(() => undefined);
    if (before?.revision === this.#revision) return before;
    this.#making ??= this.#make().finally(() => (this.#making = undefined));
    this.#made = await this.#making;
    return this.#made;
  }

  async #make(): Promise<QuestionsSnapshot> {
    const { engine, sight, revision } = this.#options;
    for (;;) {
      const { states } = revision;
      const begun = await engine.read((state, sequence) => ({
        making: makeQuestions(state, sight),
        revision: this.#revision,
        sequence,
        atMs: engine.nowMs,
      }));
      const questions = await inSlices(begun.making);
      const { sequence, atMs } = begun;
      const made = { questions, sequence, atMs, revision: begun.revision, some: new Map() };
      // Of a state that was replaced, what was not durable never happened.
      if (states === revision.states) return made;
    }
  }
}

function someOf({ questions, some }: QuestionsSnapshot, wanted: readonly QuestionState[]) {
  const key = wanted.toSorted().join(" ");
  const known = some.get(key);
  if (known) return known;
  const found = questions.filter(({ state }) => wanted.includes(state));
  some.set(key, found);
  return found;
}
