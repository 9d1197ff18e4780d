/**
 * Where the daemon is. People write `:9090` or `box:9090` as readily as a URL, and an address to
 * listen on (`0.0.0.0:9090`) is one to call when it is turned into the local one.
 */
import { invalidArgument } from "../../core/errors.ts";

export const DEFAULT_URL = "http://127.0.0.1:9090";

/** Without a slash at the end. `source` names where the text is from when it is wrong. */
export function parseUrl(text: string, source = "the URL"): string {
  if (text.includes("@")) {
    const fix = "give it as http://HOST:PORT, without them";
    throw invalidArgument(`${source} has a user or a password: ${fix}`);
  }
  const complaint = `${source} is "${text}": give it as http://HOST:PORT`;
  const full = text.includes("://")
    ? text
    : `http://${text.startsWith(":") ? "0.0.0.0" : ""}${text}`;
  if (!URL.canParse(full)) throw invalidArgument(complaint);
  const url = new URL(full);
  const isHttp = url.protocol === "http:" || url.protocol === "https:";
  if (!isHttp || url.search || url.hash) throw invalidArgument(complaint);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url.href.replace(/\/+$/, "");
}

/** None where it is no http URL, or holds a user name or password. */
export function httpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return undefined;
  return url.username === "" && url.password === "" ? url : undefined;
}
