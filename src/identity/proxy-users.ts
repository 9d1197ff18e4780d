/**
 * Proxies on this machine, told apart by their unix user. Any process here can open a connection to
 * loopback and write X-Forwarded-For, so an address of this machine alone proves no proxy: only the
 * daemon's own user, root, and the users that the operator named count as one.
 */
import { RollcallError } from "../core/errors.ts";
import type { Peer } from "./caller.ts";
import { ROOT, type LocalTrust } from "./local-users.ts";
import type { PeerUsers } from "./peer-users.ts";

export interface ProxyUsersOptions {
  readonly trust: LocalTrust;
  readonly allowed: readonly { readonly uid: number }[];
  readonly users: Pick<PeerUsers, "userOf">;
  /** That of this process. */
  readonly uid: number | undefined;
}

export class ProxyUsers {
  readonly #options: ProxyUsersOptions;
  readonly #uids: ReadonlySet<number | undefined>;
  readonly #known = new WeakSet<Peer>();

  constructor(options: ProxyUsersOptions) {
    this.#options = options;
    this.#uids = new Set([ROOT, options.uid, ...options.allowed.map(({ uid }) => uid)]);
  }

  /** Undefined where the proxy is known; else resolves when it is, or rejects. */
  check(peer: Peer): Promise<void> | undefined {
    const isKnown = this.#options.trust === "any" || this.#known.has(peer);
    return isKnown ? undefined : this.#ask(peer);
  }

  async #ask(peer: Peer): Promise<void> {
    const uid = peer.ends && (await this.#options.users.userOf(peer.ends));
    if (uid === undefined || !this.#uids.has(uid)) throw unknownProxy(uid);
    this.#known.add(peer);
  }
}

function unknownProxy(uid: number | undefined): RollcallError {
  const whose = uid === undefined ? "of no user that can be told" : `of user ${uid}`;
  const message =
    `the call was forwarded by a process of this machine ${whose}, which is no proxy: name ` +
    "the proxy's user in proxy_users, or present a token";
  return new RollcallError("PERMISSION_DENIED", message);
}
