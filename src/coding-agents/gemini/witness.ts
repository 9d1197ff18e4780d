/**
 * What Gemini CLI's hooks do not tell. That a person cancelled or the model failed is at the end of
 * the conversation that it writes down. That a command was allowed shows in the command itself: it
 * is a process of Gemini's that was not there when it was asked for.
 */
import { childrenOf, commandLineOf } from "../../machine/processes.ts";
import type { Presence } from "../hooks/presence.ts";
import type { HookSession } from "../hooks/session.ts";
import { tailOf } from "../hooks/tail.ts";
import type { Witness } from "../hooks/witness.ts";
import { presenceAtEnd } from "./conversation.ts";

export function geminiWitness(): Witness {
  const commands = new Commands(programsOf);
  return {
    isLive: false,
    presence: (session) => commands.presence(session) ?? ofConversation(session),
    close: () => undefined,
  };
}

function ofConversation({ conversation }: HookSession): Presence | undefined {
  return conversation === undefined ? undefined : presenceAtEnd(tailOf(conversation));
}

/** Without our own hooks, which are processes of Gemini's too. */
function programsOf(pid: number): readonly number[] {
  return childrenOf(pid).filter((child) => !/\brollcall\b/.test(commandLineOf(child)));
}

/** The processes of a host since it asked for permission. */
export class Commands {
  readonly #programsOf: (pid: number) => readonly number[];
  /** Since when it asks, and the processes that it had then. */
  #asked: { readonly sinceMs: number; readonly programs: ReadonlySet<number> } | undefined;

  constructor(list: (pid: number) => readonly number[]) {
    this.#programsOf = list;
  }

  presence({ process: host, question, task, activityMs }: HookSession): Presence | undefined {
    if (!host || !task || question?.kind !== "permission") {
      this.#asked = undefined;
      return undefined;
    }
    const programs = this.#programsOf(host.pid);
    if (this.#asked?.sinceMs !== task.sinceMs) {
      this.#asked = { sinceMs: task.sinceMs, programs: new Set(programs) };
    }
    const { programs: before } = this.#asked;
    if (programs.every((pid) => before.has(pid))) return undefined;
    return { state: "busy", sinceMs: activityMs };
  }
}
