/**
 * A status file on the axes of the fleet, in values without words. A report of the file says them
 * with their evidence; a list of thousands, which has no time for reports, is judged by them as
 * they are. So both say the same of the same file.
 */
import { isBusy } from "../../core/report-news.ts";
import type { Activity, Liveness, ReportedOutcome } from "../../core/reports.ts";
import type { AgentCondition } from "../../fleet/headline.ts";
import type { Status, TaskState } from "./format.ts";
import { readMeta } from "./meta.ts";
import type { StatusFile } from "./read.ts";
import { timestampMs } from "./timestamp.ts";

/** When it last did something is only asked of one that lives: to work it out takes longest. */
export function standingOf(file: StatusFile, liveness: Liveness): AgentCondition {
  const { status, updatedAtMs } = file;
  return {
    liveness,
    livenessAtMs: updatedAtMs,
    activity: activityIn(status),
    activeAtMs: (liveness === "alive" ? activeAtMs(file) : undefined) ?? updatedAtMs,
    isAsking: isAsking(status),
    outcome: outcomeIn(status) ?? null,
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

export function activityIn(status: Status): Activity {
  const { runtime, task } = status;
  if (!task?.state) return runtime.lifecycle === "running" && !task ? "idle" : "unknown";
  const activity = ACTIVITY_OF[task.state];
  return activity === "working" ? (readMeta(status).activity ?? activity) : activity;
}

const OUTCOME_OF: Readonly<Partial<Record<TaskState, ReportedOutcome>>> = {
  completed: "success",
  failed: "failed",
  rejected: "rejected",
  canceled: "cancelled",
};

export function outcomeIn({ task }: Status): ReportedOutcome | undefined {
  return task?.state ? OUTCOME_OF[task.state] : undefined;
}

export function isAsking({ task }: Status): boolean {
  return task?.state === "input-required" || task?.state === "auth-required";
}

/** When it last did something. Of one at work that does not tell, its file is the only sign. */
export function activeAtMs({ status, updatedAtMs }: StatusFile): number | undefined {
  const { runtime, task } = status;
  const actedMs = momentOf(runtime.last_activity_at);
  if (isAsking(status) || !isBusy(activityIn(status))) return actedMs;
  const beganMs = momentOf(task?.status_timestamp);
  const knownMs = Math.max(actedMs ?? -1, beganMs ?? -1);
  return knownMs === -1 ? updatedAtMs : knownMs;
}

/** Since when it works, rests or asks, where the file says. */
export function askedSinceMs({ runtime, task }: Status): number | undefined {
  return momentOf(task?.state ? task.status_timestamp : runtime.last_activity_at);
}

function momentOf(timestamp: string | undefined): number | undefined {
  return timestamp ? Math.max(0, timestampMs(timestamp)) : undefined;
}
