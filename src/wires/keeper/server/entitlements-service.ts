/** Policies, and checks against them. */
import { create } from "@bufbuild/protobuf";
import { byText } from "../../../core/text.ts";
import { check } from "../../../operations/parse.ts";
import { tooLong } from "../../../core/fields.ts";
import { FIELD } from "../../../core/limits.ts";
import { accessProblem, checkPolicy, type Policy } from "../../../core/policies.ts";
import type { Engine } from "../../../engine/engine.ts";
import { answered, bounded, jsonBytes } from "./answer.ts";
import { policyOf } from "./from-proto.ts";
import {
  CheckPolicyResponseSchema,
  DeletePolicyResponseSchema,
  ListPoliciesResponseSchema,
  SetPolicyResponseSchema,
  type EntitlementsService,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import type { Handlers } from "../../../net/grpc/service.ts";
import { policyMessage } from "./to-proto.ts";

export function entitlementsService(engine: Engine): Handlers<typeof EntitlementsService> {
  return {
    async setPolicy({ policy }, { by }) {
      const set = await engine.execute({ type: "policy.set", policy: policyOf(policy) }, by);
      return create(SetPolicyResponseSchema, { policy: policyMessage(set) });
    },

    async deletePolicy({ id }, { by }) {
      await engine.execute({ type: "policy.delete", id }, by);
      return create(DeletePolicyResponseSchema);
    },

    async listPolicies({ subjectPrefix }) {
      check(tooLong("subjectPrefix", subjectPrefix, FIELD.keyLength));
      const list = await answered(engine, ({ policies }) =>
        bounded("policies", policies.byId.values(), {
          isWanted: ({ subject }) => subject.startsWith(subjectPrefix),
          weigh: jsonBytes,
        }),
      );
      const sorted = list.toSorted(byId);
      return create(ListPoliciesResponseSchema, { policies: sorted.map(policyMessage) });
    },

    async checkPolicy({ subject, action, resource }) {
      const request = { subject, action, resource };
      check(accessProblem(request));
      const verdict = await engine.readPart("policies", (all) => checkPolicy(all, request));
      const { allowed, reason } = verdict;
      return create(CheckPolicyResponseSchema, { allowed, reason });
    },
  };
}

function byId(a: Policy, b: Policy): number {
  return byText(a.id, b.id);
}
