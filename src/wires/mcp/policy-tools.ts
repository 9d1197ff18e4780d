/** The tool that checks policies. */
import { z } from "zod";
import { policies } from "../../operations/policies.ts";
import { shown } from "./data.ts";
import { toolOf } from "./operation-tool.ts";
import type { Tool } from "./tool.ts";

const checkPolicies = toolOf(policies.check, {
  name: "check_policy",
  description:
    "Ask before doing something that policies may forbid. If allowed is false, do not do it: " +
    "reason says which policy decided. What no policy mentions is not allowed.",
  output: z.object({
    allowed: z.boolean(),
    reason: z.string(),
    policy_id: z.string().nullable().describe("The policy that decided; null when none matched"),
  }),
  tell: ({ allowed, reason, policy }) => ({
    summary: allowed ? "It is allowed." : "It is not allowed.",
    data: { allowed, reason: shown(reason), policy_id: policy && shown(policy.id) },
  }),
});

export const POLICY_TOOLS: readonly Tool[] = [checkPolicies];
