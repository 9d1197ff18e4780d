/** Agents, leases, elections and tasks for users: plain objects, times in milliseconds. */
import type { AgentCard, AgentStatus } from "../../../core/agents.ts";
import type { TaskStatus } from "../../../core/tasks.ts";

export type { AgentCard, AgentStatus, Capability } from "../../../core/agents.ts";
export type { Policy } from "../../../core/policies.ts";
export type { TaskStatus } from "../../../core/tasks.ts";

export interface AgentInfo {
  readonly agentId: string;
  readonly card: AgentCard;
  readonly status: AgentStatus;
  readonly registeredAtMs: number;
  readonly lastHeartbeatAtMs: number;
}

/** A lease and its holder, as the daemon reports it. */
export interface LeaseInfo {
  readonly taskId: string;
  readonly holder: string;
  /** Grows with every grant of anything: who sees an older one than before refuses it. */
  readonly token: number;
  readonly acquiredAtMs: number;
  readonly expiresAtMs: number;
}

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
