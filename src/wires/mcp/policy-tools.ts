/** Who may do what. */
import { z } from "zod";
import { accessProblem, checkPolicy } from "../../core/policies.ts";
import { check } from "../../operations/parse.ts";
import { shown } from "./data.ts";
import { READS, tool, type Tool } from "./tool.ts";

const checkPolicies = tool({
  name: "check_policy",
  title: "Ask whether somebody may do something",
  description:
    "Ask before doing something that policies may forbid. If allowed is false, do not do it: " +
    "reason says which policy decided. What no policy mentions is not allowed.",
  input: z.strictObject({
    subject: z.string().describe("Who wants to do it, such as an agent's id or name"),
    action: z.string().describe("What, such as write"),
    resource: z.string().describe("With what, such as repo:main"),
  }),
  output: z.object({
    allowed: z.boolean(),
    reason: z.string(),
    policy_id: z.string().nullable().describe("The policy that decided; null when none matched"),
  }),
  hints: READS,
  async run(request, { engine }) {
    check(accessProblem(request));
    const verdict = await engine.read(({ policies }) => checkPolicy(policies, request));
    const { allowed, policy } = verdict;
    const data = {
      allowed,
      reason: shown(verdict.reason),
      policy_id: policy ? shown(policy.id) : null,
    };
    return { summary: allowed ? "It is allowed." : "It is not allowed.", data };
  },
});

export const POLICY_TOOLS: readonly Tool[] = [checkPolicies];
