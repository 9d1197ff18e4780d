/** The lines that a started daemon prints: its addresses, where its state is, whom it answers. */
import { userInfo } from "node:os";
import type { Store } from "../log/store.ts";
import { WAYS_OUT } from "../identity/networks.ts";
import type { KeyPair } from "../net/tls/pair.ts";
import { formatAddress, isWildcard, type Address } from "./address.ts";
import type { Config } from "./config.ts";
import type { Doors } from "./doors.ts";
import { policyWords } from "./uplink.ts";
import type { Cluster } from "./members/cluster.ts";
import { answersOthers, exposureOf, wideDoors } from "./exposure.ts";

export interface AnnouncedDaemon {
  readonly config: Config;
  readonly pair: KeyPair | undefined;
  /** Where the log is shared with other nodes. */
  readonly cluster: Pick<Cluster, "address" | "leader"> | undefined;
  readonly store: Store;
  readonly doors: Doors;
  readonly version: string;
}

export function announce({
  config,
  pair,
  cluster,
  store,
  doors,
  version,
}: AnnouncedDaemon): string[] {
  const { grpcAddress, httpAddress, a2aAddress, arcpAddress } = doors;
  const s = pair ? "s" : "";
  const isMoved = config.httpAddr.port !== 0 && config.httpAddr.port !== httpAddress.port;
  const moved = isMoved ? ` (port ${config.httpAddr.port} is taken): give commands this --url` : "";
  const lines = [
    `rollcall ${version} is up`,
    `  HTTP   http${s}://${formatAddress(reachable(httpAddress))}${moved}`,
    ...(grpcAddress ? [`  gRPC   ${formatAddress(grpcAddress)}`] : []),
    ...(a2aAddress ? [`  A2A    http${s}://${formatAddress(reachable(a2aAddress))}`] : []),
    ...(arcpAddress ? [`  ARCP   ws${s}://${formatAddress(reachable(arcpAddress))}/arcp`] : []),
    ...(doors.socket === undefined ? [] : [`  socket ${doors.socket}`]),
    `  state  ${store.description}${config.log.kind === "memory" ? ", gone when it stops" : ""}`,
  ];
  const { outpost } = config;
  if (outpost) lines.push(`  team   ${outpost.url}: ${policyWords(outpost.policy)}`);
  if (cluster) lines.push(`  member ${config.node} at ${cluster.address}, ${partOf(cluster)}`);
  if (pair) lines.push(`  TLS    ${certificateWords(pair)}`);
  if (!answersOthers(config)) {
    const isWide = wideDoors(config).length > 0;
    lines.push(`  answers only this machine: ${usersOf(config)}`);
    if (isWide) lines.push(`  ${WAYS_OUT}`);
  }
  return [...lines, ...exposureOf(config).map((each) => `  ${each}`)];
}

function partOf({ leader }: Pick<Cluster, "leader">): string {
  return leader === undefined ? "nobody leads yet" : `${leader} leads`;
}

/** For a person to compare, and to renew it in time. */
function certificateWords({ certificate }: KeyPair): string {
  const { validTo, fingerprint256 } = certificate;
  const day = new Date(validTo).toISOString().slice(0, 10);
  return `certificate until ${day}, SHA-256 ${fingerprint256}`;
}

/** The callers on this machine that are let in. */
function usersOf({ localTrust, localTokenFile, allowedUsers }: Config): string {
  if (localTrust === "any") return "every user";
  if (localTrust === "token") return `by the socket, or with the token in ${localTokenFile}`;
  if (localTrust === "none") return "by the socket alone";
  const names = [userInfo().username, ...allowedUsers.map(({ name }) => name), "root"];
  const users = [...new Set(names)];
  return `${users.length > 1 ? "users" : "user"} ${users.join(", ")}`;
}

/** The address for clients: they cannot connect to "every interface". */
function reachable(address: Address): Address {
  return isWildcard(address.host) ? { ...address, host: "127.0.0.1" } : address;
}
