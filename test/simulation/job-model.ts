/** One job: submitted once, it waits or runs until it ends, once; a cancel before that counts. */
import type { SubmitReply } from "../../src/core/job-submit.ts";
import type { Job, JobStep } from "../../src/core/jobs.ts";
import type { Event } from "../../src/core/events.ts";
import type { Op } from "./history.ts";
import type { Model } from "./linearizable.ts";
import { commandOf, isRefused, told, type Input } from "./model.ts";

interface JobState {
  readonly status: "none" | "pending" | "running" | "over";
  /** How it ended; empty before. */
  readonly end: string;
  readonly isCancelled: boolean;
}

const NONE: JobState = { status: "none", end: "", isCancelled: false };

/** Facts are: starts, and submits, ends and cancels that no client was told of or asked for. */
export const jobModel: Model<JobState, Input> = {
  initial: NONE,
  step: (state, input) =>
    input.kind === "asked" ? asked(state, input.op) : happened(state, input.event),
  key: (state) => JSON.stringify(state),
};

function happened(state: JobState, event: Event): JobState | undefined {
  const isAlive = state.status === "pending" || state.status === "running";
  switch (event.type) {
    case "job.submitted":
      return state.status === "none" ? begun(state, event.job) : undefined;
    case "job.imported":
      return over(state, event.job.status);
    case "job.started":
      return isAlive ? { ...state, status: "running" } : undefined;
    case "job.cancelling":
      return state.status === "running" ? { ...state, isCancelled: true } : undefined;
    case "job.moved":
    case "job.progressed":
      return isAlive ? state : undefined;
    case "job.ended":
      return isAlive ? over(state, event.job.status) : undefined;
    case "job.forgotten":
      return state.status === "over" ? NONE : undefined;
    default:
      return undefined;
  }
}

function over(state: JobState, end: string): JobState {
  return { ...state, status: "over", end };
}

function asked(state: JobState, op: Op): JobState | undefined {
  const { status, end, isCancelled } = state;
  if (op.ask.kind === "read") {
    const now = status === "none" ? null : { status: end || status, isCancelled };
    const answer = told<string>(op);
    return answer.kind === "ok" && answer.reply === JSON.stringify(now) ? state : undefined;
  }
  const isAlive = status === "pending" || status === "running";
  if (commandOf(op, "job.submit")) return submitted(state, op);
  if (commandOf(op, "job.cancel")) {
    const answer = told<{ readonly isCancelled: boolean }>(op);
    // The owner of a job is not modelled: any client may be refused.
    if (answer.kind === "refused") return state;
    if (answer.kind === "ok" && answer.reply.isCancelled !== isAlive) return undefined;
    if (status === "pending") return over(state, "cancelled");
    return status === "running" ? { ...state, isCancelled: true } : state;
  }
  const command = commandOf(op, "job.end");
  if (!command) return undefined;
  const answer = told<{ readonly isEnded: boolean }>(op);
  if (answer.kind === "ok" && answer.reply.isEnded !== isAlive) return undefined;
  if (!isAlive) return state;
  return over(state, isCancelled ? "cancelled" : command.ending.status);
}

function submitted(state: JobState, op: Op): JobState | undefined {
  const answer = told<SubmitReply>(op);
  const isNew = state.status === "none";
  switch (answer.kind) {
    case "refused":
      // For want of room, or of what its parent has: what others have is not modelled.
      return isRefused(answer, "ALREADY_EXISTS") && isNew && !hasKey(op) ? undefined : state;
    case "unknown":
      // Whether it found a slot only the log can tell: there it is a fact.
      return state;
    case "ok": {
      const { job, isRepeated } = answer.reply;
      if (isRepeated) return job.status === (state.end || state.status) ? state : undefined;
      return isNew ? begun(state, job) : undefined;
    }
  }
}

/** In a slot, or waiting for one. */
function begun(state: JobState, job: Job): JobState {
  return { ...state, status: job.status === "pending" ? "pending" : "running" };
}

function hasKey(op: Op): boolean {
  return commandOf(op, "job.submit")?.key !== undefined;
}

/** Whether an event of a job is what this question asked for. */
export function isEffectOfJob(event: Event, op: Op): boolean {
  switch (event.type) {
    case "job.submitted":
      return commandOf(op, "job.submit")?.jobId === event.job.id && isToldNew(op, event.job);
    case "job.cancelling": {
      const command = commandOf(op, "job.cancel");
      return command?.jobId === event.job.id && command.reason === event.job.cancelReason;
    }
    case "job.ended":
      return isEndOf(event.job, op);
    default:
      return false;
  }
}

/**
 * A message that the network doubled may be told of the job that its twin made, and may make
 * another once that one is forgotten.
 */
function isToldNew(op: Op, { submittedAtMs }: Job): boolean {
  const answer = told<SubmitReply>(op);
  if (answer.kind !== "ok" || answer.reply.isRepeated) return false;
  return answer.reply.job.submittedAtMs === submittedAtMs;
}

/** A client that was told so ended it; one that was not may have, if the job bears its words. */
function isEndOf({ id, reason = "", startedAtMs }: JobStep, op: Op): boolean {
  const cancel = commandOf(op, "job.cancel");
  // While it waited a cancel was its end; later it was a promise.
  if (cancel) return cancel.jobId === id && cancel.reason === reason && startedAtMs === 0;
  const command = commandOf(op, "job.end");
  if (command?.jobId !== id) return false;
  const answer = told<{ readonly isEnded: boolean }>(op);
  return answer.kind === "ok" ? answer.reply.isEnded : command.ending.reason === reason;
}
