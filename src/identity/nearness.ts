/** Whether a call was made on this machine, and by the process at the other end itself. */
import { isLoopback } from "../net/loopback.ts";
import type { Caller } from "./caller.ts";

const FORWARDING = ["forwarded", "via", "x-real-ip"];
const FORWARDED = "x-forwarded-";
const FORWARDED_PARTS = ["for", "host", "proto", "port", "server"];

/** The reason why it is not; nothing where it is. */
export function farReason(caller: Caller): string | undefined {
  const { peer } = caller;
  if (peer.isOwnSocket) return undefined;
  if (!isLoopback(peer.address)) {
    return `only this machine is answered: the call came from ${peer.address ?? "nowhere"}`;
  }
  const forwarded = forwardingHeader(caller);
  if (forwarded === undefined) return undefined;
  return `the call has the header ${forwarded}: call the daemon without a proxy`;
}

function forwardingHeader(caller: Caller): string | undefined {
  const names = [...FORWARDING, ...FORWARDED_PARTS.map((part) => FORWARDED + part)];
  return names.find((name) => caller.header(name) !== undefined);
}
