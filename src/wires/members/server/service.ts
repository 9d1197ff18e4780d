/**
 * The end of the wire between members that is asked: it decides as the leader or refuses, and never
 * asks a third. Whoever calls here was let in as a member (the door of the daemon sees to that), so
 * the caller that it names is believed.
 */
import { create } from "@bufbuild/protobuf";
import type { By } from "../../../core/by.ts";
import type { ForwardTarget } from "../../../engine/forward.ts";
import type { Handlers, ServiceLimits } from "../../../net/grpc/service.ts";
import {
  BarrierResponseSchema,
  BeatResponseSchema,
  ExecuteResponseSchema,
  GreetResponseSchema,
  StepDownResponseSchema,
  type MemberService,
} from "../gen/rollcall/members/v1/members_pb.ts";
import { MEMBER_WIRE } from "../limits.ts";
import { callerOf, commandOf } from "../messages.ts";
import { serveRelay, type RelayHost } from "./relay.ts";

/** A node, as it introduces itself to another. */
export interface Greeting {
  readonly node: string;
  readonly instance: string;
  readonly logId: string;
  readonly mode: string;
  readonly head: number;
  readonly version: string;
}

export interface MemberServiceOptions {
  readonly target: ForwardTarget;
  readonly greeting: () => Greeting;
  /** Gives up leading; throws where this node does not lead. */
  readonly stepDown: (by: By) => Promise<void>;
  readonly relays: RelayHost;
}

export function memberService(options: MemberServiceOptions): Handlers<typeof MemberService> {
  const { target } = options;
  return {
    async execute({ commandJson, byJson }) {
      const command = commandOf(commandJson);
      const { reply, head } = await target.executeHere(command, callerOf(byJson));
      const replyJson = JSON.stringify(reply);
      return create(ExecuteResponseSchema, { replyJson, head: BigInt(head) });
    },
    async barrier() {
      return create(BarrierResponseSchema, { head: BigInt(await target.barrierHere()) });
    },
    async beat({ node, instance, agentIds, unboundAgentIds }) {
      const refused = await target.beatHere({ node, instance, agentIds, unboundAgentIds });
      return create(BeatResponseSchema, { refusedAgentIds: [...refused] });
    },
    async greet() {
      const { head, ...greeting } = options.greeting();
      return create(GreetResponseSchema, { ...greeting, head: BigInt(head) });
    },
    async stepDown({ byJson }) {
      await options.stepDown(callerOf(byJson));
      return create(StepDownResponseSchema);
    },
    relay: (requests, { signal }) => serveRelay(requests, options.relays, signal),
  };
}

export const MEMBER_SERVICE_LIMITS: ServiceLimits<typeof MemberService> = {
  bytes: {
    execute: MEMBER_WIRE.commandBytes,
    beat: MEMBER_WIRE.beatBytes,
    relay: MEMBER_WIRE.relayBytes,
  },
};
