/**
 * The words of agent-status/v1alpha1: one JSON file for each running agent, named after it. What a
 * reader can work out (`idle`, `stale`) is never written. Fields that are not listed here are
 * allowed everywhere: readers ignore them, and programs that rewrite a file keep them.
 */

export const SCHEMA_VERSION = "agent-status/v1alpha1";

export const LIFECYCLES = ["running", "stopped", "unknown"] as const;

/** In the order of the alphabet, as the peer lists them. */
export const TASK_STATES = [
  "auth-required",
  "canceled",
  "completed",
  "failed",
  "input-required",
  "rejected",
  "submitted",
  "unknown",
  "working",
] as const;

export const GOAL_SOURCES = ["initial-prompt"] as const;

export type Lifecycle = (typeof LIFECYCLES)[number];
export type TaskState = (typeof TASK_STATES)[number];
export type GoalSource = (typeof GOAL_SOURCES)[number];

export interface StatusRuntime {
  readonly lifecycle: Lifecycle;
  /** When the agent last said that it is there. */
  readonly updated_at: string;
  /** When it last did something. */
  readonly last_activity_at?: string;
  readonly pid?: number;
  readonly workspace?: string;
}

/** The goal of the session: its first prompt, kept while the agent is idle. */
export interface StatusGoal {
  readonly summary: string;
  readonly updated_at: string;
  readonly source: GoalSource;
}

/** The current task of the agent. */
export interface StatusTask {
  readonly id?: string;
  readonly context_id?: string;
  readonly state?: TaskState | null;
  readonly summary?: string;
  readonly status_timestamp?: string;
}

export interface StatusA2a {
  readonly agent_card_url?: string;
  readonly service_url?: string;
}

export interface Status {
  readonly schema_version: typeof SCHEMA_VERSION;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly runtime: StatusRuntime;
  readonly goal?: StatusGoal | null;
  readonly task?: StatusTask | null;
  readonly a2a?: StatusA2a | null;
  readonly x_meta?: Readonly<Record<string, unknown>> | null;
}
