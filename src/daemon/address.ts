/** Where a door listens: HOST:PORT, [IPV6]:PORT, or :PORT for this machine only. */
import { isIP, isIPv6 } from "node:net";
import { invalidArgument } from "../core/errors.ts";
import { isLoopback } from "../net/loopback.ts";

export interface Address {
  /** A name or an IP address, IPv6 without its brackets. */
  readonly host: string;
  /** 0 asks the system for a free one. */
  readonly port: number;
}

export const ADDRESS_SYNTAX = "HOST:PORT, [IPV6]:PORT or :PORT, with a port from 0 to 65535";

/** The host of :PORT; an operator who wants callers from other machines names another. */
const DEFAULT_HOST = "127.0.0.1";

const SHAPE = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:[\]]*)):(?<port>\d{1,5})$/;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*$/i;

export function parseAddress(text: string): Address {
  const { v6, name = "", port = "" } = SHAPE.exec(text)?.groups ?? {};
  const host = v6 ?? (name === "" ? DEFAULT_HOST : name);
  const isHost = v6 === undefined ? isIP(host) === 4 || HOST_NAME.test(host) : isIPv6(host);
  if (port === "" || Number(port) > 65_535 || !isHost) {
    throw invalidArgument(`expected ${ADDRESS_SYNTAX}`);
  }
  return { host: host.toLowerCase(), port: Number(port) };
}

export function formatAddress({ host, port }: Address): string {
  return `${bracketed(host)}:${port}`;
}

/** A host as it stands in a URL. */
export function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** Whether a door bound here can be reached from other machines. */
export function isWide({ host }: Address): boolean {
  return host !== "localhost" && !isLoopback(host);
}

/** An address that stands for every interface is no name to connect to. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
