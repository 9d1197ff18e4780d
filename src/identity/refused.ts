/** An authenticator that tells of the callers it refuses. */
import { NOBODY } from "../core/principals.ts";
import { byOf, type By } from "../core/by.ts";
import type { Authenticator, Caller } from "./caller.ts";
import { NoCredential } from "./chain.ts";

/** A call that presents nothing at all is not told of: on some wires its credential may follow. */
export function tellingRefusals(
  authenticator: Authenticator,
  onRefused: (by: By, reason: string) => void,
): Authenticator {
  const refused = (caller: Caller, error: unknown): never => {
    if (error instanceof Error && !(error instanceof NoCredential)) {
      onRefused(byOf(NOBODY, "daemon", caller.peer.address), error.message);
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
