/** One agent at a time may work on a task; whoever holds the lease proves it by its token. */
import { create } from "@bufbuild/protobuf";
import type { Engine } from "../../../engine/engine.ts";
import { msOf, tokenOf } from "./from-proto.ts";
import {
  AcquireLeaseResponseSchema,
  ReleaseLeaseResponseSchema,
  RenewLeaseResponseSchema,
  type LeaseService,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import type { Handlers } from "../../../net/grpc/service.ts";
import { leaseMessage } from "./to-proto.ts";

export function leaseService(engine: Engine): Handlers<typeof LeaseService> {
  return {
    async acquireLease({ taskId, agentId, ttlSeconds }) {
      const ttlMs = msOf(ttlSeconds);
      const reply = await engine.execute({ type: "lease.acquire", taskId, agentId, ttlMs });
      const { acquired, lease } = reply;
      return create(AcquireLeaseResponseSchema, { acquired, lease: leaseMessage(lease) });
    },

    async renewLease({ taskId, agentId, token, ttlSeconds }) {
      const lease = await engine.execute({
        type: "lease.renew",
        taskId,
        agentId,
        token: tokenOf(token),
        ttlMs: msOf(ttlSeconds),
      });
      return create(RenewLeaseResponseSchema, { lease: leaseMessage(lease) });
    },

    async releaseLease({ taskId, agentId, token }) {
      await engine.execute({ type: "lease.release", taskId, agentId, token: tokenOf(token) });
      return create(ReleaseLeaseResponseSchema);
    },
  };
}
