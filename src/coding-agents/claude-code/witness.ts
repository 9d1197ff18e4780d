/**
 * The state of a session of Claude Code as the program itself writes it down: in the file of its
 * process, else at the end of the conversation.
 */
import { readFileSync, watch } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { surprise } from "../hooks/surprises.ts";
import { FileTail } from "../hooks/tail.ts";
import { Unchanged } from "../hooks/unchanged.ts";
import type { Presence } from "../hooks/presence.ts";
import type { HookSession } from "../hooks/session.ts";
import type { Witness } from "../hooks/witness.ts";
import { presenceAtEnd } from "./conversation.ts";
import { readProcess, type ClaudeProcess } from "./presence.ts";

export function claudeCodeWitness(sessionId: string, noticed: () => void): Witness {
  const folder = join(process.env["CLAUDE_CONFIG_DIR"] || join(homedir(), ".claude"), "sessions");
  const conversation = new FileTail(presenceAtEnd, noticed);
  let file = "";
  let isKept = false;
  const reading = new Unchanged<ClaudeProcess | undefined>();
  const watcher = watchFolder(folder, (name) => {
    if (name === null || name === file) noticed();
  });
  return {
    get isLive() {
      return isKept ? watcher !== undefined : conversation.isWatched;
    },
    presence(session) {
      file = `${session.process?.pid ?? 0}.json`;
      const path = join(folder, file);
      const found = reading.read(path, () => readProcess(readIfThere(path) ?? "", sessionId));
      const presence = ofProcess(found, session);
      isKept = presence !== undefined;
      return presence ?? conversation.of(session.conversation);
    },
    close() {
      watcher?.close();
      conversation[Symbol.dispose]();
    },
  };
}

/** Nothing where there is no such folder: looking now and then has to do. */
function watchFolder(folder: string, noticed: (name: string | null) => void) {
  try {
    return watch(folder, (_, name) => noticed(name)).on("error", () => undefined);
  } catch {
    return undefined;
  }
}

function ofProcess(found: ClaudeProcess | undefined, session: HookSession): Presence | undefined {
  // The number may have been another's before; only Linux tells a start in the same words.
  const isOther = process.platform === "linux" && found?.start !== session.process?.start;
  if (!found || isOther) return undefined;
  if (!found.isKnown) surprise("claude-code", `the status ${found.status}`, found.version);
  return found.presence;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
