/** Values of core as messages of the proto. A moment that has not come is left out. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { Agent, AgentStatus } from "../../../core/agents.ts";
import type { Election } from "../../../core/elections.ts";
import type { Lease } from "../../../core/leases.ts";
import type { Policy } from "../../../core/policies.ts";
import type { Task, TaskStatus } from "../../../core/tasks.ts";
import {
  AgentCardSchema,
  AgentInfoSchema,
  AgentStatus as ProtoAgentStatus,
  CapabilitySchema,
  ElectionStateSchema,
  FencingTokenSchema,
  LeaseSchema,
  PolicyEffect,
  PolicySchema,
  TaskSchema,
  TaskStatus as ProtoTaskStatus,
  type AgentInfo,
  type ElectionState,
  type Lease as ProtoLease,
  type Policy as ProtoPolicy,
  type Task as ProtoTask,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";

const AGENT_STATUS: Readonly<Record<AgentStatus, ProtoAgentStatus>> = {
  alive: ProtoAgentStatus.ALIVE,
  unreachable: ProtoAgentStatus.UNREACHABLE,
  dead: ProtoAgentStatus.DEAD,
};

/** The protocol knows no cancelled task: like a dead one, nobody will do it any more. */
export const TASK_STATUS: Readonly<Record<TaskStatus, ProtoTaskStatus>> = {
  pending: ProtoTaskStatus.PENDING,
  claimed: ProtoTaskStatus.CLAIMED,
  completed: ProtoTaskStatus.COMPLETED,
  dead: ProtoTaskStatus.DEAD,
  cancelled: ProtoTaskStatus.DEAD,
};

export function agentInfo(agent: Agent): AgentInfo {
  const { name, description, version, capabilities, tools, metadata } = agent.card;
  return create(AgentInfoSchema, {
    agentId: agent.agentId,
    card: create(AgentCardSchema, {
      name,
      description,
      version,
      capabilities: capabilities.map((each) => create(CapabilitySchema, each)),
      tools: [...tools],
      metadata,
    }),
    status: AGENT_STATUS[agent.status],
    ...when("registeredAt", agent.registeredAtMs),
    ...when("lastHeartbeatAt", agent.lastHeartbeatAtMs),
  });
}

export function leaseMessage(lease: Lease): ProtoLease {
  return create(LeaseSchema, {
    taskId: lease.taskId,
    holderAgentId: lease.holder,
    token: create(FencingTokenSchema, { value: BigInt(lease.token) }),
    ...when("acquiredAt", lease.acquiredAtMs),
    ...when("expiresAt", lease.expiresAtMs),
  });
}

export function electionState(election: Election): ElectionState {
  return create(ElectionStateSchema, {
    group: election.group,
    leaderAgentId: election.leader,
    term: BigInt(election.term),
    ...when("electedAt", election.electedAtMs),
  });
}

export function policyMessage({ id, subject, action, resource, effect }: Policy): ProtoPolicy {
  return create(PolicySchema, {
    id,
    subject,
    action,
    resource,
    effect: effect === "allow" ? PolicyEffect.ALLOW : PolicyEffect.DENY,
  });
}

/** A task, or what is known of one. */
export function taskMessage(task: Partial<Task> & Pick<Task, "id" | "status">): ProtoTask {
  return create(TaskSchema, {
    id: task.id,
    type: task.type ?? "",
    input: Buffer.from(task.input ?? "", "base64"),
    output: Buffer.from(task.output ?? "", "base64"),
    status: TASK_STATUS[task.status],
    requiredTools: [...(task.requiredTools ?? [])],
    maxRetries: task.maxRetries ?? 0,
    retryCount: task.retryCount ?? 0,
    claimedByAgentId: task.claimedBy ?? "",
    failureReason: task.failureReason ?? "",
    ...when("createdAt", task.createdAtMs),
    ...when("claimedAt", task.claimedAtMs),
    ...when("completedAt", task.finishedAtMs),
  });
}

export function timestamp(atMs: number): Timestamp {
  return timestampFromMs(Math.floor(atMs));
}

function when<Name extends string>(
  name: Name,
  atMs: number | undefined,
): { readonly [Key in Name]?: Timestamp } {
  if (atMs === undefined || atMs === 0) return {};
  return { [name]: timestamp(atMs) } as { readonly [Key in Name]?: Timestamp };
}
