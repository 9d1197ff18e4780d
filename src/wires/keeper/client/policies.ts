/** Policies. Denial wins, and where nothing matches the answer is no. */
import type { AccessRequest } from "../../../core/policies.ts";
import { EntitlementsService, PolicyEffect } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { policyFrom } from "./from-wire.ts";
import type { Policy, PolicyVerdict } from "./types.ts";
import type { KeeperCallOptions, KeeperWire } from "./wire.ts";

const { method } = EntitlementsService;

export class KeeperPolicies {
  readonly #wire: KeeperWire;

  constructor(wire: KeeperWire) {
    this.#wire = wire;
  }

  /** Under its id; one that was there is replaced. Each part may hold wildcards: `tool:*`. */
  async set(policy: Policy, options: KeeperCallOptions = {}): Promise<Policy> {
    const effect = policy.effect === "allow" ? PolicyEffect.ALLOW : PolicyEffect.DENY;
    const request = { policy: { ...policy, effect } };
    return policyFrom((await this.#wire.call(method.setPolicy, request, options)).policy);
  }

  /** The policies with this prefix of the subject; all without one. */
  async list(
    options: KeeperCallOptions & { readonly subjectPrefix?: string } = {},
  ): Promise<readonly Policy[]> {
    const { subjectPrefix = "", ...rest } = options;
    const { policies } = await this.#wire.call(method.listPolicies, { subjectPrefix }, rest);
    return policies.map(policyFrom);
  }

  async delete(id: string, options: KeeperCallOptions = {}): Promise<void> {
    await this.#wire.call(method.deletePolicy, { id }, options);
  }

  async check(
    { subject, action, resource }: AccessRequest,
    options: KeeperCallOptions = {},
  ): Promise<PolicyVerdict> {
    const request = { subject, action, resource };
    const { allowed, reason } = await this.#wire.call(method.checkPolicy, request, options);
    return { allowed, reason };
  }
}
