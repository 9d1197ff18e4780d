/** For tests of who is calling: the chain of a daemon that has neither TLS nor trusted networks. */
import type { Authenticator } from "../../../src/identity/caller.ts";
import { chain, type IdentityStep } from "../../../src/identity/chain.ts";
import { Networks, type NetworksOptions } from "../../../src/identity/networks.ts";
import { Origins } from "../../../src/identity/origin.ts";

export interface TestChainOptions extends Partial<NetworksOptions> {
  readonly trustedProxies?: readonly string[];
}

/** The steps, and trusted networks after them. */
export function chainOf(
  steps: readonly IdentityStep[],
  { trustedProxies = [], ...options }: TestChainOptions = {},
): Authenticator {
  const proxyUsers = { check: () => undefined };
  const bare = { trusted: [], isInsecure: false, hasTls: false, proxyUsers };
  const networks = new Networks({ ...bare, ...options });
  return chain({
    origins: new Origins(trustedProxies),
    guard: networks.guard,
    steps: [...steps, networks],
  });
}
