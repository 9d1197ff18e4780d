/** Events as a union that narrows by topic: `if (item.topic === "agent.died") item.agent…`. */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import {
  AgentInfoSchema,
  ElectionStateSchema,
  LeaseSchema,
  PolicySchema,
  TaskSchema,
  type Event as WireEvent,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import {
  agentFrom,
  electionFrom,
  leaseFrom,
  msOf,
  numberFrom,
  policyFrom,
  taskFrom,
} from "./from-wire.ts";
import type { AgentInfo, ElectionState, LeaseInfo, Policy, KeeperTask } from "./types.ts";

interface EventBase<Kind extends string, Topic extends string> {
  readonly kind: Kind;
  readonly topic: Topic;
  readonly sequence: number;
  readonly atMs: number;
}

type AgentTopic = "agent.registered" | "agent.unreachable" | "agent.recovered" | "agent.died";
type LeaseTopic = "lease.acquired" | "lease.renewed" | "lease.expired" | "lease.released";
type TaskTopic =
  | "task.created"
  | "task.claimed"
  | "task.renewed"
  | "task.completed"
  | "task.requeued"
  | "task.died";

export type KeeperEvent =
  | (EventBase<"event", AgentTopic> & { readonly agent: AgentInfo })
  | (EventBase<"event", LeaseTopic> & { readonly lease: LeaseInfo })
  | (EventBase<"event", "leader.changed"> & { readonly election: ElectionState })
  | (EventBase<"event", "policy.set"> & { readonly policy: Policy })
  | (EventBase<"event", "policy.deleted"> & { readonly policyId: string })
  /** Beside its id and status only what changed is filled in; `task.created` has all. */
  | (EventBase<"event", TaskTopic> & { readonly task: KeeperTask });

/** Of a topic that says no more than that it happened, or that this version does not know. */
export type OtherEvent = EventBase<"other", string>;

/** The log no longer has the events between the two: read the state anew, then go on. */
export interface KeeperResync {
  readonly kind: "resync";
  /** The last sequence that was told before. */
  readonly after: number | undefined;
  /** The next event is the first after this sequence. */
  readonly sequence: number;
}

export type KeeperWatchItem = KeeperEvent | OtherEvent | KeeperResync;

export function eventFrom(event: WireEvent): KeeperEvent | OtherEvent {
  const { topic } = event;
  const at = { sequence: numberFrom(event.sequenceNumber), atMs: msOf(event.occurredAt) };
  const payload = <Schema extends DescMessage>(schema: Schema): MessageShape<Schema> | undefined =>
    event.payload && anyUnpack(event.payload, schema);
  switch (topic) {
    case "agent.registered":
    case "agent.unreachable":
    case "agent.recovered":
    case "agent.died":
      return { kind: "event", topic, ...at, agent: agentFrom(payload(AgentInfoSchema)) };
    case "lease.acquired":
    case "lease.renewed":
    case "lease.expired":
    case "lease.released":
      return { kind: "event", topic, ...at, lease: leaseFrom(payload(LeaseSchema)) };
    case "leader.changed":
      return { kind: "event", topic, ...at, election: electionFrom(payload(ElectionStateSchema)) };
    case "policy.set":
      return { kind: "event", topic, ...at, policy: policyFrom(payload(PolicySchema)) };
    case "policy.deleted":
      return { kind: "event", topic, ...at, policyId: payload(PolicySchema)?.id ?? "" };
    case "task.created":
    case "task.claimed":
    case "task.renewed":
    case "task.completed":
    case "task.requeued":
    case "task.died":
      return { kind: "event", topic, ...at, task: taskFrom(payload(TaskSchema)) };
    default:
      return { kind: "other", topic, ...at };
  }
}
