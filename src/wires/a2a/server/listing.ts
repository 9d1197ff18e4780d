/**
 * `GET /.well-known/agents`: the cards of all agents that were verified, as an array, in the
 * generation that the header `A2A-Version` asks for; without it each in its own, unless the
 * operator set one. Asked again with the ETag of last time, it is 304 while nothing changed.
 * Filters and pages are in the query; the next page is in `Link`.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { versionAsked, type ListedVersion } from "../../../directory/cards/versions.ts";
import { TIERS } from "../../../core/directory.ts";
import { invalidArgument, RollcallError } from "../../../core/errors.ts";
import type { DirectoryQuery, DirectoryService } from "../../../directory/directory.ts";
import { QUERY } from "../../../directory/limits.ts";
import type { ListingBytes } from "../../../directory/listing.ts";
import { SEARCH } from "../../../search/limits.ts";

export const AGENTS_PATH = "/.well-known/agents";

export interface ListingOptions {
  readonly directory: Pick<DirectoryService, "listing" | "cards">;
  /** For readers that send no header. */
  readonly version: ListedVersion;
}

export function listingHandler({ directory, version: usual }: ListingOptions) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "", headers } = request;
    if (method !== "GET" && method !== "HEAD") {
      throw new RollcallError("NOT_FOUND", `no ${method} ${AGENTS_PATH}`);
    }
    const header = headers["a2a-version"];
    const version = typeof header === "string" && header !== "" ? versionAsked(header) : usual;
    const query = url.indexOf("?");
    if (query === -1) return send(request, response, await directory.listing(version));
    const params = new URLSearchParams(url.slice(query + 1));
    const { bytes, cursor } = await directory.cards(version, askedIn(params));
    if (cursor !== undefined) {
      params.set("cursor", cursor);
      response.setHeader("Link", `<${AGENTS_PATH}?${params.toString()}>; rel="next"`);
    }
    return send(request, response, bytes);
  };
}

async function send(
  { headers, method }: IncomingMessage,
  response: ServerResponse,
  bytes: ListingBytes,
): Promise<void> {
  const isPacked = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(
    headers["accept-encoding"]?.toString() ?? "",
  );
  const etag = isPacked ? bytes.etag.replace(/"$/, '-gzip"') : bytes.etag;
  response.setHeader("ETag", etag);
  response.setHeader("Vary", "A2A-Version, Accept-Encoding");
  response.setHeader("Cache-Control", "no-cache");
  if (isKnown(headers["if-none-match"], etag)) {
    response.writeHead(304).end();
    return;
  }
  const body = isPacked ? await bytes.packed : bytes.body;
  if (isPacked) response.setHeader("Content-Encoding", "gzip");
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(method === "HEAD" ? undefined : body);
}

function isKnown(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  return given === "*" || given.split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
}

const KNOWN = ["q", "skill", "tag", "tier", "limit", "cursor"];

function askedIn(params: URLSearchParams): DirectoryQuery {
  for (const name of params.keys()) {
    if (!KNOWN.includes(name))
      throw invalidArgument(`${name} is unknown; there are ${KNOWN.join(", ")}`);
    if (params.getAll(name).length > 1) throw invalidArgument(`${name} is given more than once`);
  }
  const text = (name: string, most: number) => {
    const value = params.get(name) ?? undefined;
    if (value !== undefined && value.length > most) {
      throw invalidArgument(`${name} has ${value.length} characters, at most ${most} are allowed`);
    }
    return value;
  };
  return {
    q: text("q", SEARCH.queryLength),
    skill: text("skill", QUERY.wordLength),
    tag: text("tag", QUERY.wordLength),
    tier: tierIn(params),
    limit: limitIn(params),
    cursor: text("cursor", QUERY.cursorLength),
  };
}

function tierIn(params: URLSearchParams): DirectoryQuery["tier"] {
  const given = params.get("tier");
  if (given === null) return undefined;
  const tiers = TIERS.filter((tier) => tier !== "unverified");
  const tier = tiers.find((each) => each === given);
  if (tier) return tier;
  throw invalidArgument(
    `tier must be one of ${tiers.join(", ")}: unverified agents are not listed`,
  );
}

function limitIn(params: URLSearchParams): number | undefined {
  const given = params.get("limit");
  if (given === null) return undefined;
  const limit = Number(given);
  if (/^\d{1,6}$/.test(given) && limit >= 1 && limit <= QUERY.limitMost) return limit;
  throw invalidArgument(`limit is not a whole number from 1 to ${QUERY.limitMost}`);
}
