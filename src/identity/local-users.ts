/**
 * Callers on this machine, told apart by their unix user. The daemon's own user and root are let
 * in; other users only where the operator named them. A caller behind a proxy on this machine has
 * the proxy's user, so a call that was forwarded is refused.
 */
import { RollcallError } from "../core/errors.ts";
import { DEFAULT_NAMESPACE, LOCAL, type Principal, type Role } from "../core/principals.ts";
import type { Authenticator, Caller, Peer } from "./caller.ts";
import { farReason } from "./nearness.ts";
import type { PeerUsers } from "./peer-users.ts";

/**
 * Loopback peers are let in by their unix `user`, or by the `token` that only the daemon's user can
 * read; or `any` is the owner; or `none` is let in.
 */
export const LOCAL_TRUSTS = ["user", "token", "any", "none"] as const;

export type LocalTrust = (typeof LOCAL_TRUSTS)[number];

/** The system tells the user of a connection on Linux alone: elsewhere a token stands for it. */
export function localTrustOn(platform: NodeJS.Platform, set: LocalTrust | undefined): LocalTrust {
  if (platform === "linux") return set ?? "user";
  return set === "user" ? "token" : (set ?? "any");
}

export interface AllowedUser {
  readonly name: string;
  readonly uid: number;
  readonly role: Role;
}

export interface LocalUsersOptions {
  readonly trust: LocalTrust;
  readonly allowed: readonly AllowedUser[];
  readonly users: Pick<PeerUsers, "userOf">;
  /** That of this process. */
  readonly uid: number | undefined;
}

const ROOT = 0;

export class LocalUsers implements Authenticator {
  readonly isLoopbackOnly = true;
  readonly #options: LocalUsersOptions;
  readonly #byUid: ReadonlyMap<number, Principal>;

  constructor(options: LocalUsersOptions) {
    this.#options = options;
    const allowed = options.allowed.map(
      ({ uid, name, role }) => [uid, userNamed(name, role)] as const,
    );
    this.#byUid = new Map<number, Principal>([
      ...allowed,
      [ROOT, LOCAL],
      ...(options.uid === undefined ? [] : ([[options.uid, LOCAL]] as const)),
    ]);
  }

  authenticate(caller: Caller): Principal | Promise<Principal> {
    const { peer } = caller;
    if (peer.isOwnSocket) return LOCAL;
    const far = farReason(caller);
    if (far !== undefined) throw denied(far);
    const { trust } = this.#options;
    if (trust === "any") return LOCAL;
    if (trust === "token") {
      const where = "of rollcall.token beside the daemon's state (local_trust)";
      throw new RollcallError(
        "UNAUTHENTICATED",
        `callers on this machine present the token ${where}`,
      );
    }
    if (trust === "none") throw denied("loopback is not trusted here (local_trust is none)");
    return peer.user ?? this.#ask(peer);
  }

  async #ask(peer: Peer): Promise<Principal> {
    const uid = peer.ends && (await this.#options.users.userOf(peer.ends));
    if (uid === undefined)
      throw denied("no process of this machine has the other end of this call");
    const principal = this.#byUid.get(uid);
    if (!principal) {
      throw denied(`user ${uid} of this machine is not served here; see allowed_users`);
    }
    peer.user = principal;
    return principal;
  }
}

function userNamed(name: string, role: Role): Principal {
  return { name: `user:${name}`, kind: "person", namespace: DEFAULT_NAMESPACE, roles: [role] };
}

function denied(message: string): RollcallError {
  return new RollcallError("PERMISSION_DENIED", message);
}
