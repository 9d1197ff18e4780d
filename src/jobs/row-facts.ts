/** A job and an agent as the fleet is told of them: facts, and nothing that is done with them. */
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Facts, Liveness, Ruled } from "../core/reports.ts";
import { activityOf, outcomeOf, questionOf, type Pulse } from "./activity.ts";
import type { Job } from "./job.ts";
import { ROWS } from "./limits.ts";

/** What was told of a row last. */
export interface Told {
  text: string;
  lastAtMs: number;
}

export interface JobRow {
  readonly told: Told;
  readonly job: Job;
  readonly pulse: Pulse;
  readonly agent: AgentRow;
  isShown: boolean;
  /** Not told before this moment of the monotonic clock. */
  nextMs: number;
  outcome: Outcome | undefined;
}

export interface AgentRow {
  readonly told: Told;
  readonly name: string;
  liveness: Ruled<Liveness>;
  readonly running: Set<JobRow>;
  outcome: Facts["outcome"];
  lastAtMs: number;
  nextMs: number;
}

/** What a person reads of a row that is gone. */
export function overBecause({ value, text }: NonNullable<Facts["outcome"]>): Ruled<Liveness> {
  const how = value === "success" ? "the job is done" : `the job ${HOW[value]}`;
  return { value: "exited", rule: text === undefined ? how : `${how}: ${text}` };
}

const HOW = { failed: "failed", rejected: "was rejected", cancelled: "was cancelled" } as const;

/** Of an agent: why somebody cancelled its job says nothing without that word. */
export function lastOutcome(outcome: NonNullable<Facts["outcome"]>): Facts["outcome"] {
  const { value, text } = outcome;
  return value === "cancelled" && text !== undefined
    ? { ...outcome, text: `cancelled: ${text}` }
    : outcome;
}

export function nothing(): Told {
  return { text: "", lastAtMs: 0 };
}

/** That it did the same a moment later is not worth an event. */
export function withMoment(told: Told, facts: Facts, lastAtMs: number): Facts {
  const text = JSON.stringify(facts);
  const isSame = text === told.text && lastAtMs - told.lastAtMs < ROWS.momentMs;
  if (!isSame) Object.assign(told, { text, lastAtMs });
  return { ...facts, lastActivityAtMs: told.lastAtMs };
}

export function lastOf({ running, lastAtMs }: AgentRow): number {
  let last = lastAtMs;
  for (const { pulse } of running) last = Math.max(last, pulse.lastAtMs);
  return last;
}

export function agentFacts({ name, liveness, running, outcome }: AgentRow): Facts {
  const [only] = running;
  const rule = "its jobs";
  const idle = { value: "idle", rule } as const;
  const busy = { value: "working", rule, message: `${running.size} jobs` } as const;
  const one = only && running.size === 1 ? activityOf(only.job, only.pulse) : busy;
  return {
    name,
    liveness,
    activity: only ? one : idle,
    ...(outcome && { outcome }),
  };
}

export function jobFacts({ job, pulse, outcome }: JobRow): Facts {
  const name = job.agent;
  if (outcome) {
    const told = outcomeOf(outcome, job.endedAtMs);
    return { name, liveness: overBecause(told), outcome: told };
  }
  const question = questionOf(job, pulse);
  return {
    name,
    liveness: { value: "alive", rule: "the job runs here" },
    activity: activityOf(job, pulse),
    ...(question && { question }),
  };
}
