/** One policy: there with the resource it was last set to, or not there. */
import type { Op } from "./history.ts";
import type { Model } from "./linearizable.ts";
import { commandOf, isRefused, told, type Input } from "./model.ts";

/** Its resource; null when there is none. */
type PolicyState = string | null;

export const policyModel: Model<PolicyState, Input> = {
  initial: null,
  step: (state, input) => (input.kind === "asked" ? asked(state, input.op) : undefined),
  key: (state) => JSON.stringify(state),
};

function asked(state: PolicyState, op: Op): PolicyState | undefined {
  const answer = told<string>(op);
  if (op.ask.kind === "read") {
    return answer.kind === "ok" && answer.reply === JSON.stringify(state) ? state : undefined;
  }
  const set = commandOf(op, "policy.set");
  if (set) return answer.kind === "refused" ? undefined : set.policy.resource;
  if (!commandOf(op, "policy.delete")) return undefined;
  if (isRefused(answer, "NOT_FOUND")) return state === null ? state : undefined;
  if (answer.kind === "refused") return undefined;
  return state !== null || answer.kind === "unknown" ? null : undefined;
}
