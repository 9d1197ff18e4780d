/**
 * Callers on this machine, told apart by their unix user. The daemon's own user and root are let
 * in; other users only where the operator named them. A caller behind a proxy on this machine has
 * the proxy's user, so a call that was forwarded does not come from here.
 */
import { DEFAULT_NAMESPACE, LOCAL, type Principal, type Role } from "../core/principals.ts";
import type { Caller, Peer } from "./caller.ts";
import { NoCredential, type IdentityStep } from "./chain.ts";
import type { Origin } from "./origin.ts";
import type { PeerUsers } from "./peer-users.ts";

/**
 * Loopback peers are let in by their unix `user`, or by the `token` that only the daemon's user can
 * read; or `any` is the owner; or `none` is let in.
 */
export const LOCAL_TRUSTS = ["user", "token", "any", "none"] as const;

export type LocalTrust = (typeof LOCAL_TRUSTS)[number];

/** Where a daemon runs. */
export interface LocalPlace {
  readonly platform: NodeJS.Platform;
  /** Whether other machines can reach it: then every user of this one is not its owner. */
  readonly isWide: boolean;
}

/** The system tells the user of a connection on Linux alone: elsewhere a token stands for it. */
export function localTrustOn(place: LocalPlace, set: LocalTrust | undefined): LocalTrust {
  if (place.platform === "linux") return set ?? "user";
  if (set === "user") return "token";
  return set ?? (place.isWide ? "token" : "any");
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

export const ROOT = 0;

const TOKEN_MISSING =
  "callers on this machine present the token of rollcall.token beside the daemon's state " +
  "(local_trust)";

export class LocalUsers implements IdentityStep {
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

  authenticate({ peer }: Caller, { kind }: Origin): Principal | undefined | Promise<Principal> {
    if (kind !== "here") return undefined;
    if (peer.isOwnSocket) return LOCAL;
    const { trust } = this.#options;
    if (trust === "any") return LOCAL;
    if (trust === "token") throw new NoCredential("UNAUTHENTICATED", TOKEN_MISSING);
    if (trust === "none") throw denied("loopback is not trusted here (local_trust is none)");
    return peer.user ?? this.#ask(peer);
  }

  async #ask(peer: Peer): Promise<Principal> {
    const uid = peer.ends && (await this.#options.users.userOf(peer.ends));
    if (uid === undefined)
      throw denied("no process of this machine has the other end of this call");
    const principal = this.#byUid.get(uid);
    if (!principal) {
      const fix = "name it in allowed_users of the daemon, or present a token";
      throw denied(`user ${uid} of this machine is not served here: ${fix}`);
    }
    peer.user = principal;
    return principal;
  }
}

function userNamed(name: string, role: Role): Principal {
  return { name: `user:${name}`, kind: "person", namespace: DEFAULT_NAMESPACE, roles: [role] };
}

function denied(message: string): NoCredential {
  return new NoCredential("PERMISSION_DENIED", message);
}
