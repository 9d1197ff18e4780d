/**
 * Which addresses a stranger may send us to. A registry fetches whatever URL it is told, from
 * inside somebody's network: without a check it is a tool to reach what only that network can reach
 * (metadata services with credentials, routers, databases).
 *
 *   open       an address of the internet
 *   inside     loopback, private, link-local, shared: only where the operator allows it
 *   forbidden  multicast, unspecified, or a metadata service: never, unless it is allowed by name
 *
 * IPv6 can carry an IPv4 address inside it (mapped, NAT64); then that one counts. Tunnels
 * through a relay (6to4, Teredo) are refused: their real end cannot be seen.
 */
import { isIP } from "node:net";
import { isIn, ranges, wordsOf } from "../ip.ts";

export interface Reach {
  /** This machine itself. */
  readonly allowsLoopback?: boolean;
  /** Ranges such as `10.0.0.0/8`, or single addresses. */
  readonly allowed?: readonly string[];
}

/** Undefined where the address may be dialled, else why not. */
export type JudgeAddress = (address: string) => string | undefined;

const FORBIDDEN = ranges(["0.0.0.0/8", "224.0.0.0/4", "255.255.255.255/32", "::/128", "ff00::/8"]);

/** Of the large clouds: some lie in ranges that an operator might well allow. */
const METADATA = ranges([
  "169.254.169.254/32",
  "169.254.170.2/32",
  "169.254.170.23/32",
  "100.100.100.200/32",
  "192.0.0.192/32",
  "fd00:ec2::254/128",
  "fd00:ec2::23/128",
  "fd20:ce::254/128",
]);

const LOOPBACK = ranges(["127.0.0.0/8", "::1/128"]);

const INSIDE = ranges([
  "10.0.0.0/8",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "240.0.0.0/4",
  "100::/64",
  "64:ff9b:1::/48",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "5f00::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
]);

/** Everything that is given out for the internet lies in here. */
const GLOBAL_V6 = ranges(["2000::/3"]);

/** Throws where a range of the operator cannot be read. */
export function judgeFor({ allowsLoopback = false, allowed = [] }: Reach): JudgeAddress {
  const open = ranges(allowed);
  const byName = new Set(allowed.filter((range) => !range.includes("/")).map(unwrap));
  return (written) => {
    if (isIP(written) === 0 || written.includes("%")) return "not a plain IP address";
    const address = unwrap(written);
    if (isIn(FORBIDDEN, address)) return "a multicast, broadcast or unspecified address";
    if (isIn(METADATA, address)) return byName.has(address) ? undefined : "a metadata service";
    if (isIn(LOOPBACK, address) && allowsLoopback) return undefined;
    if (isIn(open, address)) return undefined;
    const isInside = isIn(LOOPBACK, address) || isIn(INSIDE, address);
    const isGlobal = isIP(address) === 4 || isIn(GLOBAL_V6, address);
    return isInside || !isGlobal ? "not a public address" : undefined;
  };
}

/** The IPv4 address inside an IPv6 one, if there is one; all else in its shortest form. */
function unwrap(address: string): string {
  if (isIP(address) !== 6) return address;
  const words = wordsOf(address);
  const [high, low] = words.slice(6);
  const prefix = words.slice(0, 6).join(":");
  const carriesV4 = prefix === "0:0:0:0:0:65535" || prefix === "100:65435:0:0:0:0";
  const isCompatible = prefix === "0:0:0:0:0:0" && (high ?? 0) > 0;
  if (high === undefined || low === undefined || !(carriesV4 || isCompatible)) {
    return words.map((word) => word.toString(16)).join(":");
  }
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
