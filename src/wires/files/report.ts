/** A status file as a report to the fleet: what it says, in the fleet's words, with the rule. */
import { asLine, asProse } from "../../core/fields.ts";
import { FLEET } from "../../core/limits.ts";
import type {
  Activity,
  Asked,
  Facts,
  Liveness,
  Outcome,
  Report,
  ReportedProcess,
  Ruled,
} from "../../core/reports.ts";
import type { Status, TaskState } from "./format.ts";
import { readMeta } from "./meta.ts";
import type { StatusFile } from "./read.ts";
import { timestampMs } from "./timestamp.ts";

/** What is known of an agent beside its file. */
export interface Circumstances {
  readonly host: string;
  readonly liveness: Ruled<Liveness>;
  /** When the process of the file began, where that is known. */
  readonly processStartedAtMs?: number | undefined;
  readonly hasEnded: boolean;
  /** Since when its task is in the state it is in, where the file does not say. */
  readonly inStateSinceMs: number;
}

export function aliasOf(host: string, { agent_id }: Status): string {
  return `file@${host}:${asLine(agent_id, FLEET.nameLength)}`;
}

export function reportOf({ status, updatedAtMs }: StatusFile, about: Circumstances): Report {
  const { runtime, task, goal, a2a } = status;
  const own = readMeta(status);
  const sinceMs = task?.status_timestamp
    ? timestampMs(task.status_timestamp)
    : about.inStateSinceMs;
  const state = task?.state ?? undefined;
  const cardUrl = a2a?.agent_card_url;
  const { workspace, pid, last_activity_at } = runtime;
  const facts: Facts = {
    name: asLine(status.agent_name, FLEET.nameLength),
    ...(workspace !== undefined && { workspace: asLine(workspace, FLEET.workspaceLength) }),
    ...(goal && { goal: asProse(goal.summary, FLEET.textLength) }),
    ...(pid !== undefined && pid >= 0 && { process: processOf(pid, about) }),
    liveness: about.liveness,
    activity: activityOf(status, own.activity),
    ...questionOf(status, { sinceMs, said: own.question }),
    ...(state !== undefined && outcomeOf(state, task?.summary, sinceMs)),
    ...(last_activity_at && { lastActivityAtMs: Math.max(0, timestampMs(last_activity_at)) }),
  };
  return {
    alias: aliasOf(about.host, status),
    agentId: asLine(own.agentId ?? status.agent_id, FLEET.nameLength),
    links: cardUrl ? [`a2a:${asLine(cardUrl, FLEET.aliasLength - 4)}`] : [],
    order: updatedAtMs,
    reportedAtMs: updatedAtMs,
    facts,
  };
}

function processOf(pid: number, about: Circumstances): ReportedProcess {
  const { processStartedAtMs: startedAtMs, hasEnded } = about;
  return {
    pid,
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(hasEnded && { hasEnded }),
  };
}

const ACTIVITY_OF: Readonly<Record<TaskState, Activity>> = {
  working: "working",
  submitted: "waiting",
  "input-required": "waiting",
  "auth-required": "waiting",
  completed: "idle",
  canceled: "idle",
  rejected: "idle",
  failed: "idle",
  unknown: "unknown",
};

function activityOf(
  { runtime, task }: Status,
  finer: Activity | undefined,
): NonNullable<Facts["activity"]> {
  const state = task?.state ?? undefined;
  if (state === undefined) {
    const isIdle = runtime.lifecycle === "running" && !task;
    return isIdle
      ? { value: "idle", rule: "it has no task" }
      : { value: "unknown", rule: "its task has no state" };
  }
  const value = ACTIVITY_OF[state];
  const message = task?.summary ? { message: asProse(task.summary, FLEET.textLength) } : {};
  if (value === "working" && finer)
    return { value: finer, rule: "x_meta.rollcall.activity", ...message };
  return { value, rule: `task.state is ${state}`, ...message };
}

function questionOf(
  { task }: Status,
  { sinceMs, said }: { readonly sinceMs: number; readonly said: Partial<Asked> },
): Pick<Facts, "question"> {
  const state = task?.state;
  if (state !== "input-required" && state !== "auth-required") return {};
  const fallback = state === "auth-required" ? "auth" : "text";
  const asked: Asked = {
    kind: said.kind ?? fallback,
    text: asProse(said.text ?? task?.summary ?? "", FLEET.questionLength),
    ...(said.options && {
      options: said.options.slice(0, FLEET.options).map((each) => asLine(each, FLEET.nameLength)),
    }),
    sinceMs,
  };
  return { question: { value: asked, rule: `task.state is ${state}` } };
}

const OUTCOME_OF: Readonly<Partial<Record<TaskState, Outcome>>> = {
  completed: "success",
  failed: "failed",
  rejected: "rejected",
  canceled: "cancelled",
};

function outcomeOf(
  state: TaskState,
  summary: string | undefined,
  atMs: number,
): Pick<Facts, "outcome"> {
  const value = OUTCOME_OF[state];
  if (!value) return {};
  const about = summary ? { text: asProse(summary, FLEET.textLength) } : {};
  return { outcome: { value, rule: `task.state is ${state}`, atMs, ...about } };
}
