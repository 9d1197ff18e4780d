/** The lines that a started daemon prints: its addresses, where its state is, whom it answers. */
import type { Store } from "../log/store.ts";
import { formatAddress, isWide, isWildcard, type Address } from "./address.ts";
import type { Config } from "./config.ts";
import type { Doors } from "./doors.ts";

export interface Announced {
  readonly config: Config;
  readonly store: Store;
  readonly doors: Doors;
  readonly version: string;
}

export function announce({ config, store, doors, version }: Announced): string[] {
  const { grpcAddress, httpAddress, a2aAddress, arcpAddress } = doors;
  const isMoved = config.httpAddr.port !== 0 && config.httpAddr.port !== httpAddress.port;
  const moved = isMoved ? ` (port ${config.httpAddr.port} is taken): give commands this --url` : "";
  const lines = [
    `rollcall ${version} is up`,
    `  HTTP   http://${formatAddress(reachable(httpAddress))}${moved}`,
    `  gRPC   ${formatAddress(grpcAddress)}`,
    ...(a2aAddress ? [`  A2A    http://${formatAddress(reachable(a2aAddress))}`] : []),
    ...(arcpAddress ? [`  ARCP   ws://${formatAddress(reachable(arcpAddress))}/arcp`] : []),
    `  state  ${store.description}${config.dataDir === undefined ? ", gone when it stops" : ""}`,
  ];
  if (doors.isLoopbackOnly) {
    const wide = [grpcAddress, httpAddress, a2aAddress, arcpAddress].some(
      (address) => address && isWide(address),
    )
      ? ", whatever it is bound to"
      : "";
    lines.push(`  only this machine is answered${wide}: calls from other machines are refused`);
  }
  return lines;
}

/** The address for clients: they cannot connect to "every interface". */
function reachable(address: Address): Address {
  return isWildcard(address.host) ? { ...address, host: "127.0.0.1" } : address;
}
