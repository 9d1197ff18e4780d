/**
 * Claude Code keeps the state of each of its processes in a file:
 *
 *   $CLAUDE_CONFIG_DIR/sessions/PID.json
 *     { "sessionId", "procStart", "version", "status", "statusUpdatedAt", "waitingFor", … }
 *
 * `status` is idle, busy or waiting; `waitingFor` says for what in two words. A process that begins
 * another session, also without a word (it may execute itself anew), names that one from then on.
 */
import { PAYLOAD } from "../hooks/limits.ts";
import type { Presence, PresenceState } from "../hooks/presence.ts";
import { field, parseJson, wordOf } from "../../core/text.ts";

export interface ClaudeProcess {
  /** When its process started, in the words of the system. */
  readonly start?: string;
  readonly version?: string;
  /** Whether its status is a word that we know; if not, which. */
  readonly isKnown: boolean;
  readonly status?: string;
  readonly presence?: Presence;
}

const STATES: Readonly<Record<string, PresenceState>> = {
  idle: "idle",
  busy: "busy",
  waiting: "waiting",
};

export function readProcess(text: string, sessionId: string): ClaudeProcess | undefined {
  // It is written in place, and may be read in the middle.
  const record = parseJson(text);
  const ofSession = field(record, "sessionId");
  if (typeof ofSession !== "string") return undefined;
  const [status, start, version] = ["status", "procStart", "version"].map((key) =>
    wordOf(field(record, key), PAYLOAD.nameLength),
  );
  const known = {
    ...(start !== undefined && { start }),
    ...(version !== undefined && { version }),
  };
  if (ofSession !== sessionId) {
    const sinceMs = timeOf(record, "updatedAt");
    return { ...known, isKnown: true, presence: { state: "gone", sinceMs } };
  }
  // It says none while it starts, and in no terminal.
  if (status === undefined) return { ...known, isKnown: true };
  const state = STATES[status];
  if (!state) return { ...known, isKnown: false, status };
  const presence: Presence = {
    state,
    sinceMs: timeOf(record, "statusUpdatedAt"),
    ...(state === "waiting" && { question: questionOf(field(record, "waitingFor")) }),
  };
  return { ...known, isKnown: true, presence };
}

function timeOf(record: unknown, key: string): number {
  const value = field(record, key);
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function questionOf(waitingFor: unknown): NonNullable<Presence["question"]> {
  const what = wordOf(waitingFor, PAYLOAD.nameLength);
  return { kind: "text", text: what === undefined ? "it waits for you" : `it waits: ${what}` };
}
