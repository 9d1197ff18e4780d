/**
 * The directory as a registry of Agentic Resource Discovery (ARD, draft 0.9): the catalog under its
 * old name and its new one, `POST /search`, and one entry by its name. It knows no other registry
 * and refers to none; `federation` is taken and changes nothing. Entries are made, named and
 * written in short turns: there may be thousands, and reading a card takes milliseconds.
 */
import { z } from "zod";
import { invalidArgument, RollcallError } from "../../../core/errors.ts";
import type { DirectoryEntry } from "../../../core/directory.ts";
import type { DirectoryService } from "../../../directory/directory.ts";
import { inSlices, LONG_STEPS } from "../../../machine/slices.ts";
import type { Permit } from "../../../operations/access.ts";
import { TABLE } from "../../../operations/table.ts";
import type { HttpContext, Route } from "../../route.ts";
import { catalogEntry, identifierOf, type CatalogEntry } from "./catalog-entry.ts";
import { CATALOG } from "./limits.ts";

export interface CatalogOptions {
  readonly directory: Pick<DirectoryService, "list">;
  readonly permit: Permit;
}

const REGISTRY_TYPE = "application/ai-registry+json";

const values = z.union([
  z.string().transform((value) => [value]),
  z.array(z.string()).max(CATALOG.values),
]);

const SEARCH = z.strictObject({
  query: z.strictObject({
    "@context": z.unknown().optional(),
    text: z.string().min(1).max(CATALOG.textLength),
    filter: z
      .record(z.string(), values)
      .refine((filter) => Object.keys(filter).length <= CATALOG.filters)
      .default({}),
  }),
  federation: z.enum(["auto", "referrals", "none"]).optional(),
  pageSize: z.int().min(1).max(CATALOG.pageMost).default(CATALOG.pageDefault),
  pageToken: z
    .string()
    .regex(/^\d{1,6}$/)
    .transform(Number)
    .default(0),
});

type Filter = Readonly<Record<string, readonly string[]>>;

const { access } = TABLE.directory.list;

export function catalogRoutes(options: CatalogOptions): readonly Route[] {
  const { directory } = options;
  const manifest = async (c: HttpContext) => {
    const { origin, host } = new URL(c.req.url);
    const { entries } = await directory.list({});
    const registry = {
      identifier: identifierOf(`${origin}/search`),
      displayName: "Rollcall",
      type: REGISTRY_TYPE,
      url: `${origin}/`,
      description: "Finds the agents of this directory by what they are good at",
    };
    const about = { specVersion: "1.0", host: { displayName: "Rollcall", identifier: host } };
    const texts = await inSlices(writtenOf(entries), LONG_STEPS);
    const listed = [JSON.stringify(registry), ...texts].join(",");
    const body = `${JSON.stringify(about).slice(0, -1)},"entries":[${listed}]}`;
    return c.body(body, 200, { "Content-Type": "application/json" });
  };
  return [
    { method: "GET", path: "/.well-known/ai-catalog.json", access, handle: manifest },
    { method: "GET", path: "/.well-known/ard.json", access, handle: manifest },
    { method: "POST", path: "/search", access, handle: (c) => search(c, directory) },
    { method: "GET", path: "/agents/:identifier", access, handle: (c) => entryOf(c, options) },
    { method: "POST", path: "/explore", access, handle: explore },
  ];
}

async function entryOf(c: HttpContext, { directory, permit }: CatalogOptions): Promise<Response> {
  const wanted = c.req.param("identifier") ?? "";
  const { entries } = await directory.list({});
  const entry = await inSlices(seek(entries, wanted));
  if (entry) permit(c.env.by, TABLE.directory.get.access, { url: entry.url });
  const found = entry && catalogEntry(entry);
  if (!found) throw new RollcallError("NOT_FOUND", `no entry ${wanted.slice(0, 256)}`);
  return c.json(found);
}

function* writtenOf(entries: readonly DirectoryEntry[]): Generator<void, readonly string[]> {
  const texts: string[] = [];
  for (const entry of entries) {
    const made = catalogEntry(entry);
    if (made) texts.push(JSON.stringify(made));
    yield;
  }
  return texts;
}

function* sift(
  entries: readonly DirectoryEntry[],
  filter: Filter,
): Generator<void, readonly CatalogEntry[]> {
  const found: CatalogEntry[] = [];
  for (const entry of entries) {
    const made = catalogEntry(entry);
    if (made && fits(made, filter)) found.push(made);
    yield;
  }
  return found;
}

/** The one of this name, which is made anew for each. */
function* seek(
  entries: readonly DirectoryEntry[],
  wanted: string,
): Generator<void, DirectoryEntry | undefined> {
  for (const entry of entries) {
    if (identifierOf(entry.url) === wanted) return entry;
    yield;
  }
  return undefined;
}

function explore(): never {
  throw new RollcallError("UNIMPLEMENTED", "explore is not implemented: use search");
}

async function search(c: HttpContext, directory: CatalogOptions["directory"]): Promise<Response> {
  const { query, pageSize, pageToken } = await bodyOf(c);
  const { entries } = await directory.list({ q: query.text });
  const found = await inSlices(sift(entries, query.filter), LONG_STEPS);
  const page = found.slice(pageToken, pageToken + pageSize);
  const end = pageToken + page.length;
  const source = `${new URL(c.req.url).origin}/`;
  return c.json({
    // By their place alone: how alike a text and a query are is no number that means anything.
    results: page.map((entry, i) => ({
      ...entry,
      // They are for an index, and have done their work.
      representativeQueries: undefined,
      score: Math.max(0, 100 - pageToken - i),
      source,
    })),
    referrals: [],
    ...(end < found.length && { pageToken: String(end) }),
  });
}

/** Any of the values of each key; a key that we know nothing of is refused, as the draft allows. */
function fits(entry: CatalogEntry, filter: Filter): boolean {
  return Object.entries(filter).every(([key, wanted]) => {
    const own = valuesOf(entry, key);
    return wanted.some((each) => own.includes(each));
  });
}

function valuesOf(entry: CatalogEntry, key: string): readonly string[] {
  switch (key) {
    case "type":
      return [entry.type];
    case "tags":
      return entry.tags ?? [];
    case "capabilities":
      return entry.capabilities ?? [];
    case "version":
      return entry.version === undefined ? [] : [entry.version];
    case "publisher":
      return [entry.identifier.split(":")[2] ?? ""];
    case "metadata.tier":
      return [entry.metadata?.["tier"] ?? ""];
    default: {
      const known = "type, tags, capabilities, version, publisher, metadata.tier";
      throw invalidArgument(
        `filter ${JSON.stringify(key.slice(0, 60))} is unknown; there are ${known}`,
      );
    }
  }
}

async function bodyOf(c: HttpContext): Promise<z.output<typeof SEARCH>> {
  let body: unknown;
  try {
    body = JSON.parse(await c.req.text());
  } catch {
    throw invalidArgument("the body is not JSON");
  }
  const parsed = SEARCH.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidArgument(`${issue?.path.join(".") || "the body"}: ${issue?.message ?? "is wrong"}`);
}
