/** How one program speaks through its hooks: the little in which the payloads differ. */
import type { HookQuestion } from "./question.ts";

export interface HookDialect {
  /** The events that it is to tell us of, by its own names, with the time that each may take. */
  readonly events: Readonly<Record<string, number>>;
  /** Its payload in the words that fact.ts reads, where it uses others. */
  translate?(payload: unknown): unknown;
  /** Whether the command line of a host's process is that of a server for several terminals. */
  isShared?(commandLine: string): boolean;
  /** The words of a person, from what it calls a prompt. */
  promptOf(prompt: unknown): unknown;
  /** The question of a tool call that asks the user, or that needs a permission. */
  questionOf(tool: string, input: unknown): HookQuestion;
}

/** The same payload, but for what is said differently. */
export function retold(payload: unknown, changes: object): unknown {
  return typeof payload === "object" ? { ...payload, ...changes } : payload;
}

/** In seconds. A hook takes a few hundredths of one; a host must not wait for one that hangs. */
export const HOOK_TIMEOUT = 10;
