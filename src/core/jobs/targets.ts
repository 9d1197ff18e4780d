/**
 * One thing has many names: `/a/./b/` and `/a/b`, `HTTPS://Example.com:443/x` and
 * `https://example.com/x`. A lease speaks of things, so names are made canonical before they are
 * compared, and patterns when they are granted. What could mean something else behind our back
 * (a way out of a root, credentials in a URL) has no canonical name, and is not allowed.
 *
 * A path is compared as text. Where a real file system is behind it, the caller resolves symbolic
 * links first.
 */
export type TargetForm = "path" | "url" | "name";

/** The canonical name; undefined for what may not be named at all. */
export function canonicalTarget(form: TargetForm, target: string): string | undefined {
  if (target === "" || CONTROL.test(target)) return undefined;
  switch (form) {
    case "path":
      return canonicalPath(target);
    case "url":
      return canonicalUrl(target);
    case "name":
      return target;
  }
}

/** A pattern in the form its targets will have; undefined for one that is no pattern. */
export function canonicalPattern(form: TargetForm, pattern: string): string | undefined {
  if (pattern === "" || CONTROL.test(pattern) || hasWayUp(pattern)) return undefined;
  switch (form) {
    case "path":
      return canonicalPath(pattern);
    case "url":
      return canonicalUrlPattern(pattern);
    case "name":
      return pattern;
  }
}

// oxlint-disable-next-line no-control-regex -- finding them is the point
const CONTROL = /[\u0000-\u001f\u007f]/;

function hasWayUp(pattern: string): boolean {
  return pattern.split(/[/\\?#]/).some((segment) => /^(?:\.|%2e){2}$/i.test(segment));
}

/** Resolves `.` and `..`, collapses slashes. At the root of an absolute path `..` stays there. */
function canonicalPath(path: string): string | undefined {
  const isAbsolute = path.startsWith("/");
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined && !isAbsolute) return undefined;
  }
  const resolved = segments.join("/");
  if (isAbsolute) return `/${resolved}`;
  return resolved === "" ? "." : resolved;
}

function canonicalUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return undefined;
  if (!url.href.startsWith(`${url.protocol}//`)) return undefined;
  const path = sameEncoding(url.pathname + url.search);
  return `${url.protocol}//${url.host.toLowerCase()}${path}`;
}

/** Characters that need no encoding are plain, others have upper-case digits (RFC 3986, 6.2.2). */
function sameEncoding(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const char = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(char) ? char : encoded.toUpperCase();
  });
}

const URL_PATTERN = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^#]*)/i;
const WEB = new Set(["http", "https", "ws", "wss", "ftp"]);

/** Wildcards make a URL that no parser takes, so its parts are treated one by one. */
function canonicalUrlPattern(pattern: string): string | undefined {
  const found = URL_PATTERN.exec(pattern);
  // Without a scheme only a wildcard can begin a match.
  if (!found) return pattern.startsWith("*") ? pattern : undefined;
  const [, scheme = "", authority = "", rest = ""] = found;
  const protocol = scheme.toLowerCase();
  const host = hostOf(protocol, authority);
  if (host === undefined) return undefined;
  // A web address without a path has the path "/"; "**" stands for the path as well.
  const needsPath = WEB.has(protocol) && !host.endsWith("**") && !rest.startsWith("/");
  const [path = "", ...query] = `${needsPath ? "/" : ""}${rest}`.split("?");
  const segments = path.split("/").filter((segment) => !/^(?:\.|%2e)$/i.test(segment));
  return `${protocol}://${host}${sameEncoding([segments.join("/"), ...query].join("?"))}`;
}

function hostOf(protocol: string, authority: string): string | undefined {
  if (authority.includes("@")) return undefined;
  if (!authority.includes("*")) {
    const address = `${protocol}://${authority}/`;
    return URL.canParse(address) ? new URL(address).host.toLowerCase() : undefined;
  }
  const isPlain = /^[\w.:*[\]-]+$/.test(authority);
  return isPlain ? withoutPort(protocol, authority.toLowerCase()) : undefined;
}

const PORTS = new Map(Object.entries({ http: 80, ws: 80, https: 443, wss: 443, ftp: 21 }));

function withoutPort(protocol: string, authority: string): string {
  const port = `:${PORTS.get(protocol) ?? ""}`;
  return port !== ":" && authority.endsWith(port) ? authority.slice(0, -port.length) : authority;
}
