/** Binding a port, and saying what to do when that does not work. */
import type { Server } from "node:net";
import { errorText, RollcallError } from "../core/errors.ts";
import { formatAddress, type Address } from "./address.ts";

/** Resolves to the address with the port it really got. */
export async function listen(server: Server, { host, port }: Address): Promise<Address> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = server.address();
  return { host, port: typeof bound === "object" && bound ? bound.port : port };
}

export function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}

/** Why a door could not open, with the fix. */
export function bindError(flag: string, address: Address, cause: unknown): RollcallError {
  const at = formatAddress(address);
  const reason = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const why = BIND_PROBLEMS[reason] ?? errorText(cause);
  const message = `cannot listen on ${at}: ${why}; choose another with --${flag} HOST:PORT`;
  return new RollcallError("UNAVAILABLE", message, { cause });
}

const BIND_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program has this port (is rollcall running already?)",
  EACCES: "this user may not use this port",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "no such host",
};
