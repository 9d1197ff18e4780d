/** One agent at a time may work on a task; the holder of the lease proves it by its token. */
import { create } from "@bufbuild/protobuf";
import type { Engine } from "../../../engine/engine.ts";
import { ttlMsOf, tokenOf } from "./from-proto.ts";
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
    async acquireLease({ taskId, agentId, ttlSeconds }, { by }) {
      const ttlMs = ttlMsOf(ttlSeconds);
      const command = { type: "lease.acquire", taskId, agentId, ttlMs } as const;
      const { acquired, lease } = await engine.execute(command, by);
      return create(AcquireLeaseResponseSchema, { acquired, lease: leaseMessage(lease) });
    },

    async renewLease({ taskId, agentId, token: given, ttlSeconds }, { by }) {
      const [token, ttlMs] = [tokenOf(given), ttlMsOf(ttlSeconds)];
      const command = { type: "lease.renew", taskId, agentId, token, ttlMs } as const;
      const lease = await engine.execute(command, by);
      return create(RenewLeaseResponseSchema, { lease: leaseMessage(lease) });
    },

    async releaseLease({ taskId, agentId, token: given }, { by }) {
      const token = tokenOf(given);
      await engine.execute({ type: "lease.release", taskId, agentId, token }, by);
      return create(ReleaseLeaseResponseSchema);
    },
  };
}
