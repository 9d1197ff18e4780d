/**
 * Hooks tell what happens, and of some things nothing: that a question was answered, that a turn
 * was interrupted. Some hosts keep the state of each session elsewhere. That second source cannot
 * say what is asked or done, but whether the session works, waits or rests it knows better.
 *
 * The rule: where the two disagree, the source whose word is the later one counts. Hooks take a
 * moment to be heard, so a state that began before the last of them counts only when it stands.
 */
import { WITNESS } from "./limits.ts";
import type { HookQuestion } from "./question.ts";
import type { HookSession } from "./session.ts";

/** Answered: a turn came to its own end, with words that may ask something. */
export type PresenceState = "busy" | "waiting" | "idle" | "answered" | "failed" | "gone";

export interface Presence {
  readonly state: PresenceState;
  readonly sinceMs: number;
  /** Whether it is only known to have become so then, and may have changed since. */
  readonly isEvent?: boolean;
  /** Its question, as far as it knows, for when the hooks tell of none. */
  readonly question?: HookQuestion;
  /** Why it failed. */
  readonly failure?: string;
}

/**
 * When the presence is to be believed; nothing where both say the same. The host waits for its
 * hooks, so its state follows once the last of them was heard, however long ago that began.
 */
export function believedAtMs(
  session: HookSession,
  presence: Presence,
  heardMs = session.activityMs,
): number | undefined {
  if (!disagrees(session, presence)) return undefined;
  // The hooks have said that the turn is over: these are its words.
  if (presence.state === "answered") return presence.sinceMs;
  if (presence.sinceMs < session.activityMs) {
    return presence.isEvent ? undefined : heardMs + WITNESS.graceMs;
  }
  return presence.sinceMs + (isHalfKnown(presence) ? WITNESS.hookMs : 0);
}

/** A hook brings the question, the transcript the reason of a failure: both come a little later. */
function isHalfKnown({ state, failure }: Presence): boolean {
  return state === "waiting" || (state === "failed" && failure === undefined);
}

function disagrees(session: HookSession, presence: Presence): boolean {
  if (session.isOver) return false;
  switch (presence.state) {
    case "busy":
      return session.task?.state !== "working";
    case "waiting":
      return !isAskedByDialog(session);
    case "idle":
      return session.task?.state === "working" || isAskedByDialog(session);
    case "answered":
      return isAnswer(session, presence) && !isAtRestWith(session, presence);
    case "failed":
      return session.task?.state !== "failed";
    case "gone":
      return true;
  }
}

/** Whether it is that of the last prompt, and of a turn that the hooks have said to be over. */
function isAnswer({ heard, promptedMs = 0 }: HookSession, { sinceMs }: Presence): boolean {
  return heard?.what === "Stop" && sinceMs >= promptedMs;
}

function isAtRestWith(session: HookSession, { question }: Presence): boolean {
  return session.isAtRest && session.question?.text === question?.text;
}

/** A question in the middle of a turn, not one with which an answer ended. */
export function isAskedByDialog({ question, isAtRest, subagent }: HookSession): boolean {
  return question !== undefined && (!isAtRest || subagent !== undefined);
}
