/**
 * Ways to know a caller, in turn: the first that has an answer gives it.
 *
 *   presented: a certificate, a token ─▶ unix user ─▶ trusted network ─▶ nobody
 *
 * A step that finds a credential decides by it, and throws where it is wrong: the next step is
 * never asked then. Before all of them, a call that others could have read on its way is refused.
 */
import { RollcallError } from "../core/errors.ts";
import type { Principal } from "../core/principals.ts";
import type { Authenticator, Caller } from "./caller.ts";
import type { Origin, Origins } from "./origin.ts";

export interface IdentityStep {
  /** Undefined where the call has no credential of this kind. */
  authenticate(caller: Caller, origin: Origin): Principal | undefined | Promise<Principal>;
}

export interface ChainOptions {
  readonly origins: Origins;
  /** Throws where a call may not come this way, whatever it presents. */
  readonly guard: (origin: Origin) => void;
  readonly steps: readonly IdentityStep[];
}

/** Nothing was presented; on a wire that has a place for credentials of its own one may follow. */
export class NoCredential extends RollcallError {}

export function chain({ origins, guard, steps }: ChainOptions): Authenticator {
  return {
    authenticate(caller) {
      const origin = origins.of(caller);
      if (origin.header !== "" && origin.address !== "") caller.forwardedFor = origin.address;
      guard(origin);
      for (const step of steps) {
        const principal = step.authenticate(caller, origin);
        if (principal) return principal;
      }
      throw noCredential(origin);
    },
  };
}

function noCredential({ kind, address, header }: Origin): NoCredential {
  if (kind === "hidden") {
    const ways = "call the daemon without a proxy, present a token, or see trusted_proxies";
    return new NoCredential("PERMISSION_DENIED", `the call has the header ${header}: ${ways}`);
  }
  const message = `the call came from ${address} and presents no token: see rollcall tokens`;
  return new NoCredential("UNAUTHENTICATED", message);
}
