/**
 * Where a call comes from, as far as that is known.
 *
 *   here       from a process of this machine, without a proxy between
 *   elsewhere  from an address: that of the other end, or the one that a trusted proxy named
 *   hidden     from behind a proxy whose word does not count: it may come from anywhere
 *
 * A proxy adds each address that it was called from to the end of X-Forwarded-For, so what a
 * trusted one says is read from the end: the last address that is no trusted proxy is the caller's.
 * All before it may be made up. The other headers of proxies show that there is one, and no more:
 * nothing tells whether the proxy wrote them or let them through.
 */
import { isIP, type BlockList } from "node:net";
import { isIn, ranges, unmapped } from "../net/ip.ts";
import { isLoopback } from "../net/loopback.ts";
import type { Caller, Peer } from "./caller.ts";

export interface Origin {
  readonly kind: "here" | "elsewhere" | "hidden";
  /** The caller's, where it is elsewhere. */
  readonly address: string;
  /** Of the other end of the connection. */
  readonly peerAddress: string;
  /** Whether nobody could read the call on its way to us: it is TLS, or never left the machine. */
  readonly isPrivate: boolean;
  /** The header that shows a proxy; empty without one. */
  readonly header: string;
  /** Whether a process of this machine forwarded the call. */
  readonly isForwardedHere: boolean;
}

const HERE: Origin = {
  kind: "here",
  address: "",
  peerAddress: "",
  isPrivate: true,
  header: "",
  isForwardedHere: false,
};

const FORWARDING = ["forwarded", "via", "x-real-ip"];
const FORWARDED = "x-forwarded-";

export class Origins {
  readonly #proxies: BlockList;

  /** Throws where a range of a proxy cannot be read. */
  constructor(trustedProxies: readonly string[] = []) {
    this.#proxies = ranges(trustedProxies);
  }

  of(caller: Caller): Origin {
    const { peer } = caller;
    const header = forwardingIn(caller);
    const isNear = peer.isOwnSocket || isNeighbour(peer);
    if (header === "" && isNear) return HERE;
    const peerAddress = unmapped(peer.address ?? "");
    const isProxy = this.#isProxy(peerAddress);
    const isPrivate = isNear || peer.tls !== undefined || (isProxy && header !== "");
    const way = { peerAddress, isPrivate, header, isForwardedHere: isNear && header !== "" };
    if (header === "") return { ...way, kind: "elsewhere", address: peerAddress };
    const address = isProxy ? this.#clientOf(caller.header("x-forwarded-for") ?? "") : undefined;
    return { ...way, kind: address === undefined ? "hidden" : "elsewhere", address: address ?? "" };
  }

  /** Undefined where the list says nothing that can be read. */
  #clientOf(list: string): string | undefined {
    const hops = list.split(",").map((hop) => unmapped(hop.trim()));
    const client = hops.findLast((hop) => !this.#isProxy(hop)) ?? hops[0];
    return client !== undefined && isIP(client) !== 0 ? client : undefined;
  }

  #isProxy(address: string): boolean {
    return isIP(address) !== 0 && isIn(this.#proxies, address);
  }
}

/** The header that shows a proxy; empty without one. */
function forwardingIn(caller: Caller): string {
  const found = FORWARDING.find((name) => caller.header(name) !== undefined);
  if (found !== undefined) return found;
  for (const name of caller.headerNames()) if (name.startsWith(FORWARDED)) return name;
  return "";
}

/** A connection whose two ends have one address never left the machine. */
function isNeighbour({ address, ends }: Peer): boolean {
  return isLoopback(address) || (address !== undefined && address === ends?.localAddress);
}
