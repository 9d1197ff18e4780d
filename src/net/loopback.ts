/** Whether an address, or the host of a URL, is one of this machine alone. */
import { isIP } from "node:net";

/** IPv4 may come mapped into IPv6. */
export function isLoopback(address: string | undefined): boolean {
  // Most calls; looking closer costs a regular expression or two.
  if (address === "127.0.0.1") return true;
  if (address === undefined) return false;
  const plain = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  return plain === "::1" || (isIP(plain) === 4 && plain.startsWith("127."));
}

export function isLoopbackHost({ hostname }: Pick<URL, "hostname">): boolean {
  return hostname === "localhost" || isLoopback(hostname.replaceAll(/[[\]]/g, ""));
}
