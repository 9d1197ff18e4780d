/**
 * An agent behind the proxy, in the terms of others: of a status file, and of the fleet.
 * Pure: one moment in, one picture out.
 */
import { asLine, asProse } from "../../../core/fields.ts";
import { FLEET } from "../../../core/limits.ts";
import type {
  ReportedQuestion,
  Facts,
  ReportedOutcome,
  QuestionKind,
  Report,
} from "../../../core/reports.ts";
import type { AcpProgram, AcpQuestion, AcpRecord, AcpSource } from "../derive/record.ts";
import type { StatusTask } from "../../files/format.ts";
import type { OwnMeta } from "../../files/meta.ts";
import { PUBLISHER } from "./limits.ts";

/** Of one moment. */
export interface SessionPresence {
  readonly name: string;
  readonly version: string | null;
  readonly client: AcpProgram | null;
  readonly sessionId: string | null;
  readonly workspace: string | null;
  readonly goal: string | null;
  /** Too long to be read, or missed. What they said is not in the record. */
  readonly unreadFrames: number;
  readonly record: AcpRecord;
  readonly atMs: number;
}

/** Nothing while it has nothing to do. */
export function taskOf({
  record,
}: SessionPresence): Omit<StatusTask, "status_timestamp"> | undefined {
  const { state, error, currentTask, message } = record;
  const summary = currentTask ?? message ?? undefined;
  switch (state) {
    case "starting":
    case "running":
      return { state: "working", ...(summary !== undefined && { summary }) };
    case "waiting": {
      const [question] = record.questions;
      const asked = question?.text ?? message ?? "Input needed";
      return {
        state: question?.kind === "auth" ? "auth-required" : "input-required",
        summary: asked,
      };
    }
    case "idle":
      return error === null ? undefined : { state: "failed", summary: error };
    case "exited":
      return undefined;
  }
}

/** The fields for our readers beyond the format of the file. */
export function metaOf(presence: SessionPresence): Pick<OwnMeta, "activity" | "question" | "acp"> {
  const { record, sessionId, client, version, unreadFrames } = presence;
  const { state, status, message, currentTask, source, background, stalled } = record;
  const [question] = record.questions;
  return {
    activity: status,
    ...(question && { question: wordsOf(question) }),
    acp: {
      session_id: sessionId,
      agent_version: version,
      client: client?.title ?? client?.name ?? null,
      state,
      status,
      message,
      current_task: currentTask,
      source,
      background,
      stalled,
      since: record.since,
      unread_frames: unreadFrames,
    },
  };
}

export interface Identity {
  /** WIRE:NAME */
  readonly alias: string;
  readonly agentId: string;
  readonly process: NonNullable<Facts["process"]>;
}

export function proxyReport(
  presence: SessionPresence,
  { alias, agentId, process }: Identity,
): Report {
  const { record, name, workspace, goal, unreadFrames, atMs } = presence;
  const [question] = record.questions;
  const { message, currentTask } = record;
  const facts: Facts = {
    name: asLine(name, FLEET.nameLength),
    ...(workspace !== null && { workspace: asLine(workspace, FLEET.workspaceLength) }),
    ...(goal !== null && { goal: asProse(goal, FLEET.textLength) }),
    process,
    liveness: livenessOf(record),
    activity: {
      value: record.status,
      rule: unreadFrames > 0 ? `${RULES[record.source]}${UNREAD}` : RULES[record.source],
      ...(message !== null && { message: asProse(message, FLEET.textLength) }),
      ...(currentTask !== null && { task: asProse(currentTask, FLEET.textLength) }),
    },
    ...(record.state === "waiting" && {
      question: question
        ? { value: askedOf(question), rule: ASKED_BY[question.kind] }
        : { value: unknownAsked(record), rule: "its state is requires_action" },
    }),
    ...outcomeOf(record),
    lastActivityAtMs: atMs,
  };
  const { ttlMs } = PUBLISHER;
  return { alias, agentId, links: [], order: atMs, reportedAtMs: atMs, ttlMs, facts };
}

const RULES: Readonly<Record<AcpSource, string>> = {
  derived: "derived from its ACP frames",
  agent_status_update: "its agent_status_update says so",
  meta: "its status in _meta says so",
  state_update: "its state_update says so",
};

/** Without their number, or each one would be an event. */
const UNREAD = "; some of its frames were not read";

const ASKED_BY: Readonly<Record<AcpQuestion["kind"], string>> = {
  permission: "session/request_permission is open",
  elicitation: "elicitation/create is open",
  auth: "it waits for a person to sign in",
};

function livenessOf({ state }: AcpRecord): Facts["liveness"] {
  switch (state) {
    case "starting":
      return { value: "starting", rule: "its first call is not answered" };
    case "exited":
      return { value: "exited", rule: "its process ended" };
    case "running":
    case "waiting":
    case "idle":
      return { value: "alive", rule: "it runs behind the proxy" };
  }
}

function askedOf(question: AcpQuestion): ReportedQuestion {
  return { ...wordsOf(question), sinceMs: Date.parse(question.since) };
}

function wordsOf({ kind, text, options }: AcpQuestion): Omit<ReportedQuestion, "sinceMs"> {
  return {
    kind: kindOf(kind, options.length > 0),
    text: asProse(text, FLEET.questionLength),
    ...(options.length > 0 && {
      options: options.slice(0, FLEET.options).map(({ name }) => asLine(name, FLEET.nameLength)),
    }),
  };
}

function kindOf(kind: AcpQuestion["kind"], hasOptions: boolean): QuestionKind {
  if (kind === "elicitation") return hasOptions ? "choice" : "text";
  return kind;
}

function unknownAsked({ message, since }: AcpRecord): ReportedQuestion {
  const text = asProse(message ?? "Input needed", FLEET.questionLength);
  return { kind: "text", text, sinceMs: Date.parse(since) };
}

/** How its last turn ended; what went well and what a person stopped is no trouble. */
function outcomeOf({ state, error, stopReason, since }: AcpRecord): Pick<Facts, "outcome"> {
  if (state !== "idle" || (error === null && stopReason === null)) return {};
  const atMs = Date.parse(since);
  if (error !== null) {
    const text = asProse(error, FLEET.textLength);
    return { outcome: { value: "failed", rule: "its turn ended in an error", text, atMs } };
  }
  const value = OUTCOMES[stopReason ?? ""] ?? "success";
  return { outcome: { value, rule: `stopReason is ${asLine(stopReason ?? "", 80)}`, atMs } };
}

const OUTCOMES: Readonly<Record<string, ReportedOutcome>> = {
  end_turn: "success",
  cancelled: "cancelled",
  refusal: "rejected",
  max_tokens: "failed",
  max_turn_requests: "failed",
};
