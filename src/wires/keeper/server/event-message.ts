/**
 * An event as watchers get it. However many watch, each is encoded once: all of them are shown the
 * same recorded event, and its bytes are kept as long as it is.
 */
import { create, toBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { anyPack, type Any } from "@bufbuild/protobuf/wkt";
import type { Event, RecordedEvent } from "../../../core/events.ts";
import { UNCLAIMED } from "../../../core/task-evolution.ts";
import { framed } from "../../../net/grpc/frames.ts";
import {
  AgentInfoSchema,
  ElectionStateSchema,
  EventSchema,
  LeaseSchema,
  PolicySchema,
  TaskSchema,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import {
  agentInfo,
  electionState,
  leaseMessage,
  policyMessage,
  taskMessage,
  timestamp,
} from "./to-proto.ts";

const encoded = new WeakMap<RecordedEvent, Buffer>();

/** The message of an event, framed. */
export function eventFrame(recorded: RecordedEvent): Buffer {
  const known = encoded.get(recorded);
  if (known) return known;
  const payload = payloadOf(recorded.event);
  const message = create(EventSchema, {
    topic: recorded.event.type,
    sequenceNumber: BigInt(recorded.sequence),
    occurredAt: timestamp(recorded.atMs),
    ...(payload && { payload }),
  });
  const frame = framed(toBinary(EventSchema, message));
  encoded.set(recorded, frame);
  return frame;
}

/** The subject of the event, where the proto has a message for it; of a task, the change. */
function payloadOf(event: Event): Any | undefined {
  switch (event.type) {
    case "agent.registered":
    case "agent.unreachable":
    case "agent.recovered":
    case "agent.died":
      return packed(AgentInfoSchema, agentInfo(event.agent));
    case "lease.acquired":
    case "lease.renewed":
    case "lease.expired":
    case "lease.released":
      return packed(LeaseSchema, leaseMessage(event.lease));
    case "leader.changed":
      return packed(ElectionStateSchema, electionState(event.election));
    case "policy.set":
      return packed(PolicySchema, policyMessage(event.policy));
    case "policy.deleted":
      return packed(PolicySchema, create(PolicySchema, { id: event.id }));
    case "task.created":
      return packed(TaskSchema, taskMessage(event.task));
    case "task.claimed": {
      const { agentId: claimedBy, claimedAtMs } = event.claim;
      return ofTask({ id: event.taskId, status: "claimed", claimedBy, claimedAtMs });
    }
    case "task.renewed":
      return ofTask({ id: event.taskId, status: "claimed" });
    case "task.completed": {
      const { taskId: id, agentId: claimedBy, output, finishedAtMs } = event;
      return ofTask({ id, status: "completed", claimedBy, output, finishedAtMs });
    }
    case "task.requeued":
      return ofTask({ id: event.taskId, status: "pending", failureReason: event.reason });
    case "task.returned":
      return ofTask({ id: event.taskId, status: "pending" });
    case "task.died": {
      const { taskId: id, reason: failureReason, givenUpAtMs: finishedAtMs } = event;
      return ofTask({ id, status: "dead", failureReason, finishedAtMs });
    }
    case "task.cancelled": {
      const { taskId: id, reason: failureReason, cancelledAtMs: finishedAtMs } = event;
      return ofTask({ id, status: "cancelled", failureReason, finishedAtMs });
    }
    case "task.expired": {
      const { taskId: id, expiredAtMs: finishedAtMs } = event;
      return ofTask({ id, status: "dead", failureReason: UNCLAIMED, finishedAtMs });
    }
    // The contract is fixed: events that it does not know are told by their topic alone.
    default:
      return undefined;
  }
}

function ofTask(task: Parameters<typeof taskMessage>[0]): Any {
  return packed(TaskSchema, taskMessage(task));
}

/** Under the type URL that clients look at: type.googleapis.com/agentkeeper.v1.NAME. */
function packed<Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>): Any {
  return anyPack(schema, message);
}
