/** The tool that checks policies. */
import { z } from "zod";
import { policies } from "../../operations/policies.ts";
import type { AnswerOf } from "../../operations/table.ts";
import { forModel } from "./data.ts";
import { toolOf } from "./operation-tool.ts";
import type { Tool } from "./tool.ts";

const NEAR_MISS = z.object({
  policy_id: z.string(),
  effect: z.enum(["allow", "deny"]),
  failed: z.enum(["subject", "action", "resource"]).describe("The one field that did not match"),
  value: z.string().describe("What the policy has in that field"),
});

type NearMisses = NonNullable<AnswerOf<"policies.check">["nearMisses"]>;

function nearMissOf({ policy, failed }: NearMisses[number]): z.input<typeof NEAR_MISS> {
  const { id, effect } = policy;
  return { policy_id: forModel(id), effect, failed, value: forModel(policy[failed]) };
}

const checkPolicies = toolOf(policies.check, {
  name: "check_policy",
  description:
    "Ask before doing something that policies may forbid. If allowed is false, do not do it: " +
    "reason says which policy decided. What no policy mentions is not allowed. With explain, " +
    "near_misses says which policies would have counted, had one field been another.",
  output: z.object({
    allowed: z.boolean(),
    reason: z.string(),
    policy_id: z.string().nullable().describe("The policy that decided; null when none matched"),
    near_misses: z.array(NEAR_MISS).optional(),
  }),
  tell: ({ allowed, reason, policy, nearMisses }) => ({
    summary: allowed ? "It is allowed." : "It is not allowed.",
    data: {
      allowed,
      reason: forModel(reason),
      policy_id: policy && forModel(policy.id),
      ...(nearMisses && { near_misses: nearMisses.map(nearMissOf) }),
    },
  }),
});

export const POLICY_TOOLS: readonly Tool[] = [checkPolicies];
