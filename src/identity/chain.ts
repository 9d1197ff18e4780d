/**
 * Ways to know a caller, in turn: the first that has an answer gives it. A step that finds a
 * credential decides by it, and throws where it is wrong: the next step is never asked then.
 */
import type { Principal } from "../core/principals.ts";
import type { Authenticator, Caller } from "./caller.ts";

export interface IdentityStep {
  /** Undefined where the call has no credential of this kind. */
  authenticate(caller: Caller): Principal | Promise<Principal> | undefined;
}

export function chain(steps: readonly IdentityStep[], last: Authenticator): Authenticator {
  return {
    isLoopbackOnly: last.isLoopbackOnly,
    authenticate(caller) {
      for (const step of steps) {
        const principal = step.authenticate(caller);
        if (principal) return principal;
      }
      return last.authenticate(caller);
    },
  };
}
