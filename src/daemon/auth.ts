/**
 * Who is calling. Every door asks an authenticator before anything else happens.
 *
 * Without tokens nobody can be told apart, so only this machine is answered, whatever the doors are
 * bound to. A proxy on this machine would pass the whole world off as local: what says that it was
 * forwarded is refused as well.
 */
import { RollcallError } from "../core/errors.ts";
import { isLoopback } from "./address.ts";

/** What a door knows of a caller. */
export interface Caller {
  /** The other end of the connection, as the kernel says. */
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

/** Everybody on this machine, while no tokens tell them apart. */
export const LOCAL: Principal = { name: "local" };

export function loopbackOnly(): Authenticator {
  return {
    isLoopbackOnly: true,
    authenticate(caller) {
      if (!isLoopback(caller.peer)) {
        const message = "only this machine is answered while no tokens are configured";
        throw new RollcallError("PERMISSION_DENIED", message);
      }
      if (
        caller.header("forwarded") !== undefined ||
        caller.header("x-forwarded-for") !== undefined
      ) {
        const message = "forwarded calls are not answered while no tokens are configured";
        throw new RollcallError("PERMISSION_DENIED", message);
      }
      return LOCAL;
    },
  };
}
