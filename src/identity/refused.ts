/** An authenticator that tells of the callers it refuses. */
import { NOBODY } from "../core/principals.ts";
import { byOf, type By, type Wire } from "../core/by.ts";
import { isLoopback } from "../net/loopback.ts";
import type { Authenticator, Caller, Peer } from "./caller.ts";
import { NoCredential } from "./chain.ts";

/** A call that may still present its credential is not refused yet. */
export function tellingRefusals(
  authenticator: Authenticator,
  onRefused: (by: By, reason: string) => void,
): Authenticator {
  const refused = (caller: Caller, error: unknown): never => {
    const mayFollow = caller.mayPresentLater === true && error instanceof NoCredential;
    if (error instanceof Error && !mayFollow) {
      const { peer, wire, forwardedFor } = caller;
      onRefused(strangerOn(wire, peer, forwardedFor), error.message);
    }
    throw error;
  };
  return {
    authenticate(caller) {
      try {
        const principal = authenticator.authenticate(caller);
        if (!(principal instanceof Promise)) return principal;
        return principal.catch((error: unknown) => refused(caller, error));
      } catch (error) {
        return refused(caller, error);
      }
    },
  };
}

/** A caller that nobody knows; all of the loopback range is one. */
export function strangerOn(wire: Wire, peer: Peer, forwardedFor?: string): By {
  const { address, isOwnSocket } = peer;
  const from = isLoopback(address) ? "127.0.0.1" : address;
  return byOf(NOBODY, wire, forwardedFor ?? (isOwnSocket ? "socket" : from));
}
