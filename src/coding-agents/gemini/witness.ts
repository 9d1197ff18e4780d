/**
 * What Gemini CLI's hooks do not tell. That a person cancelled or the model failed is at the end of
 * the conversation that it writes down. That a command was allowed shows in the command itself: a
 * process of Gemini's runs it.
 */
import { oneLine } from "../../core/text.ts";
import { childrenOf, commandLineOf, findProcess, startedAtMs } from "../../machine/processes.ts";
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

/** Starts are told in whole seconds, and a question is heard of a little later. */
const SAME_START_MS = 2_000;

/** Of its processes that began since: its servers ran before. */
function commandLinesOf(pid: number, sinceMs: number): readonly string[] {
  return childrenOf(pid).flatMap((child) => {
    const found = findProcess(child);
    const startMs = found && startedAtMs(found);
    return (startMs ?? 0) + SAME_START_MS < sinceMs ? [] : [commandLineOf(child)];
  });
}

/** Longer than any command that a person reads before allowing it. */
const LOOKED_AT = 4096;

/** Busy, when one of its processes runs the command that a person was asked about. */
export function presenceByCommand(
  { process: host, question, activityMs }: HookSession,
  linesOf: (pid: number, sinceMs: number) => readonly string[],
): Presence | undefined {
  const command = question && commandIn(question);
  if (!host || command === undefined) return undefined;
  const form = formOf(command);
  const lines = linesOf(host.pid, activityMs);
  const isRunning = lines.some((line) => form.test(oneLine(line, LOOKED_AT)));
  return isRunning ? { state: "busy", sinceMs: activityMs } : undefined;
}

/** As whole words: `ls` is none of `/usr/lib/tools`. The question is one line, and may be cut. */
function formOf(command: string): RegExp {
  const isCut = command.endsWith("…");
  const words = command.replace(/…$/u, "").replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`);
  return new RegExp(String.raw`(?<![\w./-])${words}${isCut ? "" : String.raw`(?![\w/-])`}`);
}
