/**
 * How far a daemon can be reached, and in which words the operator and every viewer are told. A
 * port beyond this machine needs TLS, or networks that are trusted; to do without is said aloud.
 */
import { invalidArgument } from "../core/errors.ts";
import { WAYS_OUT } from "../identity/networks.ts";
import { formatAddress, isWide, type Address } from "./address.ts";
import type { Config } from "./config.ts";

/** The ports that other machines can reach, by their settings. */
export function wideDoors({ addr, httpAddr, arcpAddr, a2a }: Config): readonly [string, Address][] {
  const doors: readonly [string, Address | undefined][] = [
    ["addr", addr],
    ["http_addr", httpAddr],
    ["arcp_addr", arcpAddr],
    ["a2a_addr", a2a.addr],
  ];
  return doors.flatMap(([setting, door]) => (door && isWide(door) ? [[setting, door]] : []));
}

/** Whether callers on other machines can be answered at all, by a port or through a proxy. */
export function answersOthers(config: Config): boolean {
  const { tls, trust, trustedProxies, insecure } = config;
  const isOpen = tls !== undefined || trust.length > 0 || insecure;
  return trustedProxies.length > 0 || (isOpen && wideDoors(config).length > 0);
}

/** Throws where a port reaches other machines and none of them could be answered safely. */
export function checkExposure(config: Config): void {
  const [wide] = wideDoors(config);
  if (!wide || config.insecure || answersOthers(config)) return;
  const [setting, address] = wide;
  const message =
    `${setting} ${formatAddress(address)} reaches beyond this machine, without TLS: ${WAYS_OUT}; ` +
    "--insecure starts it all the same, and tokens can then be read on their way";
  throw invalidArgument(message);
}

/** The insecure and trusted ways in, a sentence each; empty where only credentials let in. */
export function exposureOf(config: Config): readonly string[] {
  const { trust, trustedProxies, proxyUsers, insecure, localTrust } = config;
  // With TLS, too: a caller may do without it then.
  const isWideOpen = insecure && wideDoors(config).length > 0;
  return [
    ...(isWideOpen
      ? ["insecure: other machines are answered without TLS, tokens can be read on their way"]
      : []),
    ...trust.map(({ name, role }) => `trusted: callers from ${name} need no token, role ${role}`),
    ...trustedProxies.map((range) => `trusted: proxies at ${range} say where a call comes from`),
    ...proxyUsers.map(({ name }) => `trusted: processes of user ${name} are such proxies`),
    ...(localTrust === "any" ? ["trusted: every user of this machine is the owner"] : []),
  ];
}
