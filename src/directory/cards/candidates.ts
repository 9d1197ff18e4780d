/**
 * Where an agent's own card may be found: at the origin, where the first generation of registries
 * looks, then at every base from the full path of its URL upwards, where the second does. At each,
 * the file name of the card's generation comes first, then the other's.
 *
 *   http://host/a/b → /.well-known/…, /a/b/.well-known/…, /a/.well-known/…
 *
 * A URL that names a JSON file is where the card itself is said to be; beside it, only the origin
 * is tried.
 *
 * The list is short on purpose: the sender of a URL makes us ask that host as many times. Of a
 * deep path only the most specific bases are tried.
 */
import { httpUrl } from "../../net/http/url.ts";
import type { Card } from "./card.ts";
import { CANDIDATES } from "../../core/card-limits.ts";

const FILES = {
  "1.0": ["/.well-known/agent-card.json", "/.well-known/agent.json"],
  "0.3": ["/.well-known/agent.json", "/.well-known/agent-card.json"],
} as const;

/** None where the key is no http URL, or holds a user name or password. */
export function candidateUrls(card: Pick<Card, "key" | "version">): readonly string[] {
  const url = httpUrl(card.key);
  if (!url) return [];
  const files = FILES[card.version];
  if (url.pathname.endsWith(".json")) {
    return [url.origin + url.pathname + url.search, ...files.map((file) => url.origin + file)];
  }
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  const most = CANDIDATES.urls / files.length - 1;
  const fewest = Math.max(1, segments.length - most + 1);
  const bases: string[] = [];
  for (let length = segments.length; length >= fewest; length -= 1) {
    bases.push(`${url.origin}/${segments.slice(0, length).join("/")}`);
  }
  return [url.origin, ...bases].flatMap((base) => files.map((file) => base + file));
}
