/** Groups of agents of which one leads, and the stream of who does. */
import { create } from "@bufbuild/protobuf";
import { accessTo } from "../../../core/access.ts";
import { key } from "../../../core/fields.ts";
import type { Engine } from "../../../engine/engine.ts";
import { check } from "../../../operations/parse.ts";
import { mayStill } from "../../../operations/sight.ts";
import { ELECTIONS } from "./accesses.ts";
import { EventFeed } from "./event-feed.ts";
import {
  CampaignResponseSchema,
  ResignResponseSchema,
  type ElectionService,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { startOfWatch } from "./registry-service.ts";
import type { Handlers } from "../../../net/grpc/service.ts";
import { electionState } from "./to-proto.ts";

export function electionService(engine: Engine): Handlers<typeof ElectionService> {
  return {
    async campaign({ group, agentId }, { by }) {
      const election = await engine.execute({ type: "election.campaign", group, agentId }, by);
      return create(CampaignResponseSchema, { state: electionState(election) });
    },

    async resign({ group, agentId }, { by }) {
      await engine.execute({ type: "election.resign", group, agentId }, by);
      return create(ResignResponseSchema);
    },

    watchElection({ group }, call) {
      check(key("group", group));
      const access = accessTo(ELECTIONS.watchElection, { group });
      const isVisible = mayStill(engine, call.by.principal, access);
      const options = { prefixes: ["leader.changed"], isVisible, ...startOfWatch(engine, call) };
      const watch = engine.watch(options);
      return new EventFeed(
        watch,
        ({ event }) => event.type === "leader.changed" && event.election.group === group,
      );
    },
  };
}
