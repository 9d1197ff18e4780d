/** The headers of a request, if they are those of one (RFC 9113, 8.2 and 8.3). */
import type { Field } from "./hpack.ts";

const PSEUDO = new Set([":method", ":scheme", ":path", ":authority"]);
/** They speak of the connection, which is no longer theirs. */
const FORBIDDEN = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);
// oxlint-disable-next-line no-control-regex -- finding them is the point
const BAD_VALUE = /[\u0000\r\n]/;

/** Nothing when they are malformed. */
export function requestHeaders(fields: readonly Field[]): Map<string, string> | undefined {
  const headers = new Map<string, string>();
  let isBehindPseudo = false;
  for (const [name, value] of fields) {
    const isPseudo = name.startsWith(":");
    if (isPseudo && (isBehindPseudo || !PSEUDO.has(name) || headers.has(name))) return undefined;
    if (!isPseudo) isBehindPseudo = true;
    if (!isField(name, value)) return undefined;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  const isWhole = headers.get(":method") && headers.get(":scheme") && headers.get(":path");
  return isWhole ? headers : undefined;
}

/** Headers behind a request's body: no pseudo headers among them. */
export function areTrailers(fields: readonly Field[]): boolean {
  return fields.every(([name, value]) => !name.startsWith(":") && isField(name, value));
}

function isField(name: string, value: string): boolean {
  if (name === "" || name !== name.toLowerCase() || FORBIDDEN.has(name)) return false;
  if (name === "te" && value !== "trailers") return false;
  return !BAD_VALUE.test(value);
}
