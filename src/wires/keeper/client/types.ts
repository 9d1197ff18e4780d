/** Agents, leases, elections and tasks for users: plain objects, times in milliseconds. */
import type { Lease } from "../../../core/leases.ts";
import type { Agent } from "../../../core/agents.ts";
import type { TaskStatus } from "../../../core/tasks.ts";

export type { AgentCard, AgentStatus, Capability } from "../../../core/agents.ts";
export type { Policy } from "../../../core/policies.ts";
export type { TaskStatus } from "../../../core/tasks.ts";

export type AgentInfo = Pick<
  Agent,
  "agentId" | "card" | "status" | "registeredAtMs" | "lastHeartbeatAtMs"
>;

/** A lease and its holder, as the daemon reports it. */
export type LeaseInfo = Omit<Lease, "owner" | "ttlMs">;

export interface ElectionState {
  readonly group: string;
  /** Absent while nobody leads. */
  readonly leader: string | undefined;
  /** Grows with every change of leader and never falls. */
  readonly term: number;
  readonly electedAtMs: number;
}

export interface KeeperTask {
  readonly id: string;
  readonly type: string;
  readonly input: Uint8Array;
  readonly output: Uint8Array;
  readonly status: TaskStatus;
  readonly requiredTools: readonly string[];
  readonly maxRetries: number;
  readonly retryCount: number;
  /** Empty while nobody has it. A finished task keeps its last claimer. */
  readonly claimedBy: string;
  readonly failureReason: string;
  readonly createdAtMs: number;
  /** 0 until it happens, as are all times. */
  readonly claimedAtMs: number;
  readonly finishedAtMs: number;
}

export interface PolicyVerdict {
  readonly allowed: boolean;
  /** Which policy decided, or that none matched. */
  readonly reason: string;
}
