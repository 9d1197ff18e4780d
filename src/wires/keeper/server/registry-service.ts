/** The registry: agents register, stay by heartbeats, and are found. Also the bus of all events. */
import { create } from "@bufbuild/protobuf";
import { check } from "../../../operations/parse.ts";
import { asSeen, unknownAgent, type Agent } from "../../../core/agents.ts";
import { AGENT_KEY } from "../../../core/by.ts";
import { atMost, count, tooLong } from "../../../core/fields.ts";
import { FIELD } from "../../../core/limits.ts";
import { inSlices } from "../../../machine/slices.ts";
import { newAgentKey, secretHash } from "../../../machine/secrets.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { WatchOptions } from "../../../engine/watch.ts";
import type { Permit } from "../../../operations/access.ts";
import { shownTo } from "../../../operations/sight.ts";
import { TABLE } from "../../../operations/table.ts";
import { bounded, jsonBytes } from "./answer.ts";
import { EventFeed } from "./event-feed.ts";
import type { AgentFinder } from "./finder.ts";
import { cardOf, claimTokenOf, granted, ttlMsOf, numberInHeader } from "./from-proto.ts";
import {
  DeregisterResponseSchema,
  FindResponseSchema,
  GetAgentResponseSchema,
  HeartbeatResponseSchema,
  RegisterResponseSchema,
  type RegistryService,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { KEEPER } from "./limits.ts";
import { CLAIM_TTL_MS, FROM_SEQUENCE, RENEW_TASK, SEQUENCE_HEADER } from "./metadata.ts";
import type { GrpcCall, Handlers } from "../../../net/grpc/service.ts";
import { agentInfo } from "./to-proto.ts";

export function registryService(
  engine: Engine,
  finder: AgentFinder,
  permit: Permit,
): Handlers<typeof RegistryService> {
  return {
    async register({ card, ttlSeconds }, call) {
      const ttlMs = ttlMsOf(ttlSeconds);
      const key = newAgentKey();
      const facts = { card: cardOf(card), ttlMs, keyHash: secretHash(key) };
      const agent = await engine.execute({ type: "agent.register", ...facts }, call.by);
      call.tell(AGENT_KEY, key);
      return create(RegisterResponseSchema, { agentId: agent.agentId });
    },

    async heartbeat({ agentId }, call) {
      await engine.heartbeat(agentId, call.by);
      const taskId = call.header(RENEW_TASK);
      if (taskId === undefined) return HEARD;
      permit(call.by, TABLE.tasks.renew.access, { taskId });
      const command = { type: "task.renew", taskId, agentId, ...claimTokenOf(call) } as const;
      const task = await engine.execute(command, call.by);
      call.tell(CLAIM_TTL_MS, String(task.ttlMs));
      return HEARD;
    },

    async deregister({ agentId }, { by }) {
      await engine.execute({ type: "agent.deregister", agentId }, by);
      return create(DeregisterResponseSchema);
    },

    async getAgent({ agentId }) {
      const found = await engine.readPart("agents", ({ byId }) => {
        const entry = byId.get(agentId);
        return entry ? asSeen(entry) : unknownAgent(agentId);
      });
      return create(GetAgentResponseSchema, { agent: agentInfo(granted(found)) });
    },

    async find({ query, tools, limit }) {
      check(
        tooLong("query", query, FIELD.descriptionLength),
        atMost("tools", tools.length, FIELD.tools),
        count("limit", limit, KEEPER.findMost),
      );
      const most = limit === 0 ? KEEPER.findDefault : limit;
      const found = await finder.find({ query, tools, limit: most });
      const weigh = ({ card }: Agent) => jsonBytes(card);
      const agents = await inSlices(bounded("agents", found, { weigh }));
      return create(FindResponseSchema, { agents: agents.map(agentInfo) });
    },

    watch({ topics }, call) {
      const { by } = call;
      const isVisible = shownTo(engine, by.principal);
      const options = { prefixes: topics, isVisible, ...startOfWatch(engine, call) };
      return new EventFeed(engine.watch(options));
    },
  };
}

const HEARD = create(HeartbeatResponseSchema);

/** A new subscriber gets its cursor first, so it can resume even before the first event. */
export function startOfWatch(engine: Engine, call: GrpcCall): Pick<WatchOptions, "from" | "by"> {
  const { by } = call;
  const from = numberInHeader(call, FROM_SEQUENCE);
  if (from !== undefined) return { from, by };
  call.tell(SEQUENCE_HEADER, String(engine.head));
  return { by };
}
