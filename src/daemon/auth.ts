/**
 * Authentication: every door asks an authenticator who the caller is before anything else happens.
 *
 * There are no tokens yet, so the only authenticator answers callers on this machine, whatever the
 * doors are bound to. Behind a proxy on this machine every caller would look local, so a call with
 * a forwarding header is refused as well.
 */
import { RollcallError } from "../core/errors.ts";
import { isLoopback } from "./address.ts";

/** The facts that a door has about a caller. */
export interface Caller {
  /** The remote address of the connection, from the kernel. */
  readonly peer: string | undefined;
  /** A header, or gRPC metadata, by its lower-case name. */
  header(name: string): string | undefined;
}

export interface Principal {
  readonly name: string;
}

export interface Authenticator {
  /** Whether callers from other machines can be answered at all. */
  readonly isLoopbackOnly: boolean;
  /** Throws PERMISSION_DENIED or UNAUTHENTICATED; the message never repeats a secret. */
  authenticate(caller: Caller): Principal | Promise<Principal>;
}

/** The one principal for all callers on this machine. */
export const LOCAL: Principal = { name: "local" };

export function loopbackOnly(): Authenticator {
  return {
    isLoopbackOnly: true,
    authenticate(caller) {
      if (!isLoopback(caller.peer)) {
        const peer = caller.peer ?? "an unknown address";
        const message = `only this machine is answered: the call came from ${peer}`;
        throw new RollcallError("PERMISSION_DENIED", message);
      }
      const forwarded = ["forwarded", "x-forwarded-for"].find(
        (name) => caller.header(name) !== undefined,
      );
      if (forwarded !== undefined) {
        const message = `the call has the header ${forwarded}: call the daemon without a proxy`;
        throw new RollcallError("PERMISSION_DENIED", message);
      }
      return LOCAL;
    },
  };
}
