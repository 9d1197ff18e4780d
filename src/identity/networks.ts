/**
 * Callers on other machines. Over TLS they are known by what they present. Without TLS others could
 * read a token on its way, so such a call is refused, unless its network is one that the operator
 * trusts: there, old clients that can present nothing are let in, too. Where a process of this
 * machine names that network, it must be a proxy by its unix user.
 */
import type { BlockList } from "node:net";
import { RollcallError } from "../core/errors.ts";
import { networkNamed, type InRole, type Principal } from "../core/principals.ts";
import { isIn, ranges } from "../net/ip.ts";
import type { Caller } from "./caller.ts";
import type { IdentityStep } from "./chain.ts";
import type { Origin } from "./origin.ts";
import type { ProxyUsers } from "./proxy-users.ts";

export interface NetworksOptions {
  /** By their ranges; the first that a caller is in counts. */
  readonly trusted: readonly InRole[];
  /** Whether tokens may come without TLS from anywhere. */
  readonly isInsecure: boolean;
  /** Whether there is TLS to call by. */
  readonly hasTls: boolean;
  readonly proxyUsers: Pick<ProxyUsers, "check">;
}

interface Network {
  readonly addresses: BlockList;
  readonly principal: Principal;
}

export class Networks implements IdentityStep {
  readonly #options: NetworksOptions;
  readonly #trusted: readonly Network[];

  /** Throws where a range cannot be read. */
  constructor(options: NetworksOptions) {
    this.#options = options;
    this.#trusted = options.trusted.map(({ name, role }) => ({
      addresses: ranges([name]),
      principal: networkNamed(name, role),
    }));
  }

  /** Throws where others could have read the call on its way. */
  readonly guard = ({ peerAddress, isPrivate }: Origin): void => {
    if (isPrivate || this.#options.isInsecure || this.#find(peerAddress)) return;
    const from = `the call came from ${peerAddress || "nowhere"}`;
    const message = this.#options.hasTls
      ? `${from} without TLS: call the https address, or name its network in trust`
      : `only this machine is answered: ${from}; ${WAYS_OUT}`;
    throw new RollcallError("PERMISSION_DENIED", message);
  };

  authenticate(
    { peer }: Caller,
    { kind, address, isForwardedHere }: Origin,
  ): Principal | undefined | Promise<Principal> {
    const principal = kind === "elsewhere" ? this.#find(address)?.principal : undefined;
    const checking = principal && isForwardedHere && this.#options.proxyUsers.check(peer);
    return principal && checking ? checking.then(() => principal) : principal;
  }

  #find(address: string): Network | undefined {
    if (this.#trusted.length === 0 || address === "") return undefined;
    return this.#trusted.find(({ addresses }) => isIn(addresses, address));
  }
}

/** How callers on other machines can be answered. */
export const WAYS_OUT =
  "to answer other machines set tls_cert and tls_key and give them tokens, or name their network " +
  "in trust";
