/**
 * What Gemini CLI's hooks do not tell. That a person cancelled or the model failed is at the end of
 * the conversation that it writes down. That a command was allowed shows in the command itself: a
 * process of Gemini's runs it.
 */
import { oneLine } from "../../core/text.ts";
import { childrenOf, commandLineOf } from "../../machine/processes.ts";
import type { Presence } from "../hooks/presence.ts";
import type { HookSession } from "../hooks/session.ts";
import { FileTail } from "../hooks/tail.ts";
import type { Witness } from "../hooks/witness.ts";
import { presenceAtEnd } from "./conversation.ts";
import { commandIn } from "./dialect.ts";

export function geminiWitness(_sessionId: string, noticed: () => void): Witness {
  const conversation = new FileTail(presenceAtEnd, noticed);
  let isCommandExpected = false;
  return {
    get isLive() {
      return conversation.isWatched && !isCommandExpected;
    },
    presence(session) {
      const ended = conversation.of(session.conversation);
      isCommandExpected =
        session.question !== undefined && commandIn(session.question) !== undefined;
      return presenceByCommand(session, commandLinesOf) ?? ended;
    },
    close: () => conversation[Symbol.dispose](),
  };
}

function commandLinesOf(pid: number): readonly string[] {
  return childrenOf(pid).map(commandLineOf);
}

/** Longer than any command that a person reads before allowing it. */
const LOOKED_AT = 4096;

/** Busy, when one of its processes runs the command that a person was asked about. */
export function presenceByCommand(
  { process: host, question, activityMs }: HookSession,
  linesOf: (pid: number) => readonly string[],
): Presence | undefined {
  const command = question && commandIn(question);
  if (!host || command === undefined) return undefined;
  // The question is one line, and may have been cut.
  const wanted = command.replace(/…$/u, "");
  const isRunning = linesOf(host.pid).some((line) => oneLine(line, LOOKED_AT).includes(wanted));
  return isRunning ? { state: "busy", sinceMs: activityMs } : undefined;
}
