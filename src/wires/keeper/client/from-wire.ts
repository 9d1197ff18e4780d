/** Messages of the proto as plain objects. What a daemon leaves out is empty, or 0. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { RollcallError } from "../../../core/errors.ts";
import {
  AgentStatus as WireAgentStatus,
  PolicyEffect,
  TaskStatus as WireTaskStatus,
  type AgentInfo as WireAgentInfo,
  type ElectionState as WireElection,
  type Lease as WireLease,
  type Policy as WirePolicy,
  type Task as WireTask,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import type {
  AgentInfo,
  AgentStatus,
  ElectionState,
  LeaseInfo,
  Policy,
  KeeperTask,
  TaskStatus,
} from "./types.ts";

export function agentFrom(agent: WireAgentInfo | undefined): AgentInfo {
  if (!agent?.card) throw missing("agent");
  const { name, description, version, capabilities, tools, metadata } = agent.card;
  return {
    agentId: agent.agentId,
    card: {
      name,
      description,
      version,
      capabilities: capabilities.map((each) => ({
        name: each.name,
        description: each.description,
      })),
      tools: [...tools],
      metadata: Object.fromEntries(Object.entries(metadata)),
    },
    status: AGENT_STATUS[agent.status] ?? "dead",
    registeredAtMs: msOf(agent.registeredAt),
    lastHeartbeatAtMs: msOf(agent.lastHeartbeatAt),
  };
}

const AGENT_STATUS: Readonly<Record<number, AgentStatus>> = {
  [WireAgentStatus.ALIVE]: "alive",
  [WireAgentStatus.UNREACHABLE]: "unreachable",
  [WireAgentStatus.DEAD]: "dead",
};

export function leaseFrom(lease: WireLease | undefined): LeaseInfo {
  if (!lease) throw missing("lease");
  return {
    taskId: lease.taskId,
    holder: lease.holderAgentId,
    token: numberFrom(lease.token?.value ?? 0n),
    acquiredAtMs: msOf(lease.acquiredAt),
    expiresAtMs: msOf(lease.expiresAt),
  };
}

export function electionFrom(election: WireElection | undefined): ElectionState {
  if (!election) throw missing("state of the election");
  return {
    group: election.group,
    leader: election.leaderAgentId || undefined,
    term: numberFrom(election.term),
    electedAtMs: msOf(election.electedAt),
  };
}

export function policyFrom(policy: WirePolicy | undefined): Policy {
  if (!policy) throw missing("policy");
  const { id, subject, action, resource } = policy;
  // An unknown effect must not allow anything.
  const effect = policy.effect === PolicyEffect.ALLOW ? "allow" : "deny";
  return { id, subject, action, resource, effect };
}

export function taskFrom(task: WireTask | undefined): KeeperTask {
  if (!task) throw missing("task");
  return {
    id: task.id,
    type: task.type,
    input: task.input,
    output: task.output,
    status: TASK_STATUS[task.status] ?? "pending",
    requiredTools: [...task.requiredTools],
    maxRetries: task.maxRetries,
    retryCount: task.retryCount,
    claimedBy: task.claimedByAgentId,
    failureReason: task.failureReason,
    createdAtMs: msOf(task.createdAt),
    claimedAtMs: msOf(task.claimedAt),
    finishedAtMs: msOf(task.completedAt),
  };
}

const TASK_STATUS: Readonly<Record<number, TaskStatus>> = {
  [WireTaskStatus.PENDING]: "pending",
  [WireTaskStatus.CLAIMED]: "claimed",
  [WireTaskStatus.COMPLETED]: "completed",
  // Daemons of others may leave a task in this one: it will not be done.
  [WireTaskStatus.FAILED]: "dead",
  [WireTaskStatus.DEAD]: "dead",
};

export function wireStatus(status: TaskStatus | undefined): WireTaskStatus {
  switch (status) {
    case undefined:
      return WireTaskStatus.UNSPECIFIED;
    case "pending":
      return WireTaskStatus.PENDING;
    case "claimed":
      return WireTaskStatus.CLAIMED;
    case "completed":
      return WireTaskStatus.COMPLETED;
    case "dead":
    case "cancelled":
      return WireTaskStatus.DEAD;
  }
}

/** The wire counts in whole seconds; a little longer harms nobody. */
export function secondsOf(ttlMs: number): number {
  return Math.ceil(ttlMs / 1000);
}

export function msOf(timestamp: Timestamp | undefined): number {
  return timestamp ? timestampMs(timestamp) : 0;
}

export function numberFrom(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new RollcallError("INTERNAL", `the daemon sent ${value.toString()}, a number too large`);
}

function missing(what: string): RollcallError {
  return new RollcallError("INTERNAL", `the daemon sent no ${what}`);
}
