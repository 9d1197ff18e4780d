/**
 * The page at `/`: a few files, sent as they are. What is on it is read by its script, from the
 * same API that everybody has.
 *
 * The policy is the second lock: what an agent calls itself is only ever set as text, and if that
 * were forgotten somewhere the browser would still run and load nothing but the files below.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ADMITTED, type HttpContext, type Route } from "../wires/route.ts";

/** Two levels up from src/daemon/, dist/daemon/ and dist/bin/ alike. */
const FOLDER = new URL("../../assets/page/", import.meta.url);

const FILES = {
  "/": { name: "index.html", type: "text/html; charset=utf-8" },
  "/page/page.css": { name: "page.css", type: "text/css; charset=utf-8" },
  "/page/elements.mjs": { name: "elements.mjs", type: "text/javascript; charset=utf-8" },
  "/page/page.mjs": { name: "page.mjs", type: "text/javascript; charset=utf-8" },
  "/page/icon.svg": { name: "icon.svg", type: "image/svg+xml" },
} as const;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

export function pageRoutes(folder: URL = FOLDER): readonly Route[] {
  return Object.entries(FILES).map(([path, { name, type }]) => {
    // Read when first asked for: most daemons are never looked at.
    let loading: Promise<Asset> | undefined;
    const handle = async (c: HttpContext) =>
      send(c, type, await (loading ??= load(new URL(name, folder))));
    return { method: "GET", path, access: ADMITTED, handle };
  });
}

async function load(url: URL): Promise<Asset> {
  const bytes = new Uint8Array(await readFile(url));
  const digest = createHash("sha256").update(bytes).digest("base64url");
  return { bytes, etag: `"${digest.slice(0, 27)}"` };
}

function send(c: HttpContext, type: string, { bytes, etag }: Asset): Response {
  const headers = {
    "Content-Security-Policy": POLICY,
    // Asked for again each time, and sent again only after an upgrade.
    "Cache-Control": "no-cache",
    ETag: etag,
  };
  if (c.req.header("If-None-Match") === etag) return c.body(null, 304, headers);
  return c.body(bytes, 200, { ...headers, "Content-Type": type });
}
