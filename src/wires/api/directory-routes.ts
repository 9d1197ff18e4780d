/**
 * The directory over our own API: all entries with what is known of them, also those that are not
 * served; and what an operator may do. Prose is cleaned; the cards themselves are as their authors
 * wrote them, character by character.
 */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono, type Context } from "hono";
import { z } from "zod";
import { TIERS, type DirectoryEntry } from "../../core/directory.ts";
import type { DirectoryService } from "../../directory/directory.ts";
import { QUERY } from "../../directory/limits.ts";
import { shown } from "../../directory/shown-card.ts";
import type { Engine } from "../../engine/engine.ts";
import { SEARCH } from "../../search/limits.ts";
import type { DirectoryDetail, DirectoryRow } from "./answers.ts";
import { bodyOf, LIST_QUERY, queryOf } from "./parse.ts";
import { placeFrame } from "./event-frames.ts";
import { placeOf } from "./event-query.ts";
import { framesOf } from "./event-stream.ts";
import type { Streams } from "./sse.ts";

export interface DirectoryRoutesOptions {
  readonly engine: Engine;
  readonly directory: DirectoryService;
  readonly streams: Streams;
}

type Bindings = { Bindings: HttpBindings & { readonly principal?: { readonly name: string } } };

const word = z.string().max(QUERY.wordLength).optional();

const LIST = z.strictObject({
  ...LIST_QUERY,
  q: z.string().max(SEARCH.queryLength).optional(),
  skill: word,
  tag: word,
  /** At least; all of them where nothing is said. */
  tier: z.enum(TIERS).default("unverified"),
});

const NOTHING = z.strictObject({});
const FROM = z.strictObject({ from: z.string().optional() });
const ENTRY = z.strictObject({ url: z.string().min(1) });

export function directoryRoutes(options: DirectoryRoutesOptions): Hono<Bindings> {
  const { directory } = options;
  const routes = new Hono<Bindings>();
  routes.get("/directory", async (c) => {
    const { entries, ...facts } = await directory.list(queryOf(c, LIST));
    return c.json({ ...facts, entries: entries.map(rowOf) });
  });
  routes.get("/directory/events", (c) => follow(c, options));
  routes.get("/directory/:url", async (c) => {
    queryOf(c, NOTHING);
    return sendDetail(c, directory, c.req.param("url"));
  });
  routes.post("/directory/add", async (c) => {
    const { url } = await bodyOf(c, ENTRY);
    const entry = await directory.add(url, c.env.principal?.name ?? "local");
    return sendDetail(c, directory, entry.url);
  });
  routes.post("/directory/verify", async (c) => {
    const { url } = await directory.verify((await bodyOf(c, ENTRY)).url);
    return sendDetail(c, directory, url);
  });
  routes.post("/directory/remove", async (c) => {
    await directory.remove((await bodyOf(c, ENTRY)).url);
    return c.json({});
  });
  return routes;
}

function rowOf(entry: DirectoryEntry): DirectoryRow {
  const { card, waiting, proof, heard: _, ...rest } = entry;
  const prose = card ? shown(card).prose : undefined;
  const said = waiting ? shown(waiting).prose : undefined;
  return {
    ...rest,
    // Of one that was never fetched it is hearsay, as its tier tells.
    name: (prose ?? said)?.name ?? "",
    description: prose?.description ?? "",
    skills: prose?.skills.map(({ id, name, tags }) => ({ id, name, tags })) ?? [],
    signature: proof.signature,
    isServed: card !== null,
    isChanging: card !== null && waiting !== null,
  };
}

/** The cards are put in as text, so that not a character of them changes. */
async function sendDetail(c: Context, directory: DirectoryService, url: string): Promise<Response> {
  const { entry, prose, diff, sequence } = await directory.get(url);
  const { card, waiting } = entry;
  const { name, description } = prose;
  const facts: Omit<DirectoryDetail, "card" | "waiting"> = {
    sequence,
    entry: { ...rowOf(entry), name, description },
    diff,
  };
  const head = JSON.stringify(facts).slice(0, -1);
  const text = `${head},"card":${card?.text ?? "null"},"waiting":${waiting?.text ?? "null"}}`;
  return c.body(text, 200, { "Content-Type": "application/json" });
}

/** The events of the directory alone, from where the client stood. */
async function follow(c: Context<Bindings>, options: DirectoryRoutesOptions): Promise<Response> {
  const { engine, streams } = options;
  const from = placeOf(queryOf(c, FROM).from, c.req.header("last-event-id"));
  await streams.send(c.env.outgoing, () => {
    const first = from === undefined ? [placeFrame("bookmark", engine.head)] : [];
    const watch = engine.watch({ prefixes: ["directory."], ...(from !== undefined && { from }) });
    return { frames: framesOf(watch, first), cut: watch.cut, close: () => watch.close() };
  });
  return RESPONSE_ALREADY_SENT;
}
