/**
 * Protection from web pages. A page can make a browser on this machine send requests here, so a
 * loopback peer is no proof of a friend:
 *
 * - A page whose own name was made to point at 127.0.0.1 (DNS rebinding) shows in Host: only names
 *   that are ours are answered.
 * - A page of another origin shows in Origin, or in Sec-Fetch-Site where a browser sends no Origin
 *   (images, scripts). Following a link to us is fine.
 * - There is no CORS: a preflight is refused, and no answer carries a header that would open it.
 * - Even a page of ours may only look: a command needs proof that a person on this machine wanted
 *   it, and there is no session yet that could prove that.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { RollcallError } from "../core/errors.ts";
import { unmapped } from "../net/ip.ts";
import { bracketed, isWildcard, type Address } from "./address.ts";

/** Every value of Host that names this door; extra ones may leave the port out. */
export function hostsOf(bound: Address, extra: readonly string[]): ReadonlySet<string> {
  const names = ["localhost", "127.0.0.1", "[::1]"];
  if (!isWildcard(bound.host)) names.push(bracketed(bound.host));
  const hosts = new Set(names.map((name) => `${name}:${bound.port}`));
  for (const host of extra) {
    hosts.add(host);
    if (!/:\d+$/.test(host)) hosts.add(`${host}:${bound.port}`);
  }
  return hosts;
}

/** Every answer carries these; a page of ours sets its own Content-Security-Policy. */
export const SECURITY_HEADERS: readonly (readonly [string, string])[] = [
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "no-referrer"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Cache-Control", "no-store"],
];

export function checkBrowser(request: IncomingMessage, hosts: ReadonlySet<string>): void {
  const { headers, method } = request;
  const host = headers.host?.toLowerCase() ?? "";
  if (!hosts.has(host) && host !== ownAddress(request)) {
    const known = [...hosts].join(", ");
    throw denied(`host ${quoted(host)} is not a name of this daemon (${known}); see allowed_hosts`);
  }
  if (method === "OPTIONS") throw denied("there is no access from other origins");
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, host)) {
    throw denied(`origin ${quoted(headers.origin)} is not this daemon`);
  }
  if (isFromElsewhere(headers) && !isNavigation(request)) {
    throw denied("a page of another origin may only link here");
  }
  if (isCommand(request) && isFromBrowser(headers)) {
    throw denied(
      "a browser may only look: use the rollcall command, or a program, to change things",
    );
  }
}

/** The address that was called is no name that could have been made to point here. */
function ownAddress({ socket: { localAddress = "", localPort } }: IncomingMessage): string {
  return `${bracketed(unmapped(localAddress))}:${localPort ?? 0}`;
}

/** A proxy may have taken TLS away, so the scheme says nothing. */
function isOwnOrigin(origin: string, host: string): boolean {
  return /^https?:\/\/(.*)$/.exec(origin.toLowerCase())?.[1] === host;
}

function isFromElsewhere(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return site === "cross-site" || site === "same-site";
}

function isCommand({ method }: IncomingMessage): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** Every browser sends one of these with what is not a plain GET; programs send neither. */
function isFromBrowser(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

function isNavigation({ headers, method }: IncomingMessage): boolean {
  return method === "GET" && headers["sec-fetch-mode"] === "navigate";
}

/** Theirs to choose, so shown as data and not at length. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

function denied(message: string): RollcallError {
  return new RollcallError("PERMISSION_DENIED", message);
}
