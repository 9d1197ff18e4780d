/** The lines that a started daemon prints: its addresses, where its state is, whom it answers. */
import { userInfo } from "node:os";
import type { Store } from "../log/store.ts";
import { formatAddress, isWide, isWildcard, type Address } from "./address.ts";
import type { Config } from "./config.ts";
import type { Doors } from "./doors.ts";

export interface AnnouncedDaemon {
  readonly config: Config;
  readonly store: Store;
  readonly doors: Doors;
  readonly version: string;
}

export function announce({ config, store, doors, version }: AnnouncedDaemon): string[] {
  const { grpcAddress, httpAddress, a2aAddress, arcpAddress } = doors;
  const isMoved = config.httpAddr.port !== 0 && config.httpAddr.port !== httpAddress.port;
  const moved = isMoved ? ` (port ${config.httpAddr.port} is taken): give commands this --url` : "";
  const lines = [
    `rollcall ${version} is up`,
    `  HTTP   http://${formatAddress(reachable(httpAddress))}${moved}`,
    ...(grpcAddress ? [`  gRPC   ${formatAddress(grpcAddress)}`] : []),
    ...(a2aAddress ? [`  A2A    http://${formatAddress(reachable(a2aAddress))}`] : []),
    ...(arcpAddress ? [`  ARCP   ws://${formatAddress(reachable(arcpAddress))}/arcp`] : []),
    ...(doors.socket === undefined ? [] : [`  socket ${doors.socket}`]),
    `  state  ${store.description}${config.dataDir === undefined ? ", gone when it stops" : ""}`,
  ];
  if (doors.isLoopbackOnly) {
    const wide = [grpcAddress, httpAddress, a2aAddress, arcpAddress].some(
      (address) => address && isWide(address),
    )
      ? ", whatever it is bound to"
      : "";
    lines.push(`  only this machine is answered${wide}, ${usersOf(config)}`);
  }
  return lines;
}

/** The users of this machine that are let in. */
function usersOf({ localTrust, localTokenFile, allowedUsers }: Config): string {
  if (localTrust === "any") return "whichever user calls";
  if (localTrust === "token") return `and on it the socket, or with the token in ${localTokenFile}`;
  if (localTrust === "none") return "and on it only the socket";
  const names = [userInfo().username, ...allowedUsers.map(({ name }) => name)];
  return `and of its users ${names.join(", ")} and root`.replace("root and root", "root");
}

/** The address for clients: they cannot connect to "every interface". */
function reachable(address: Address): Address {
  return isWildcard(address.host) ? { ...address, host: "127.0.0.1" } : address;
}
