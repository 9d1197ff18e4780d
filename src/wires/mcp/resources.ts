/**
 * Resources for clients: the cards of A2A agents, as the A2A registry's own users know them, and
 * the fleet. The card of an agent is data. The name and the description of a resource, which a
 * client shows as ours, are in our words: what an agent calls itself stands in them as marked data.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { accessTo, type Access } from "../../core/access.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { inSlices, LONG_STEPS } from "../../machine/slices.ts";
import { TABLE } from "../../operations/table.ts";
import { mcpRowOf } from "./agent-shapes.ts";
import { marked, forModel, shownCard } from "./data.ts";
import type { McpDirectory, ListedAgent } from "./directory.ts";
import { MODEL_TEXT, URI } from "./limits.ts";

export const AGENTS_URI = "a2a://agents";
export const FLEET_URI = "rollcall://fleet";

const JSON_TYPE = "application/json";

interface Sources {
  readonly fleet: Fleet;
  readonly directory: McpDirectory;
}

export const TEMPLATES: readonly ResourceTemplateType[] = [
  {
    uriTemplate: `${AGENTS_URI}/{url}`,
    name: "A2A Agent Card",
    description: "The card of one agent of the directory; url is its percent-encoded URL.",
    mimeType: JSON_TYPE,
  },
];

/** The right that the reader of a resource needs. */
export function accessOf(uri: string): Access {
  const { fleet, directory } = TABLE;
  if (uri === FLEET_URI) return fleet.list.access;
  const url = urlIn(uri);
  return url === undefined ? directory.list.access : accessTo(directory.get.access, { url });
}

const FIXED: readonly Resource[] = [
  {
    uri: AGENTS_URI,
    name: "Registered A2A Agents",
    description: "The cards of all agents of the A2A directory that are available.",
    mimeType: JSON_TYPE,
  },
  {
    uri: FLEET_URI,
    name: "The fleet",
    description: "Every agent that is known, what it does, and whether it needs a person.",
    mimeType: JSON_TYPE,
  },
];

export async function listResources(
  { directory }: Sources,
  mayRead: (uri: string) => boolean,
): Promise<Resource[]> {
  const listed = mayRead(AGENTS_URI) ? await directory.list() : [];
  const fixed = FIXED.filter(({ uri }) => mayRead(uri));
  const shown = made(listed.slice(0, MODEL_TEXT.listed), resourceOf);
  return [...fixed, ...(await inSlices(shown, LONG_STEPS))];
}

/** A step for each. */
function* made<T, Out>(items: readonly T[], make: (item: T) => Out): Generator<void, Out[]> {
  const all: Out[] = [];
  for (const item of items) {
    all.push(make(item));
    yield;
  }
  return all;
}

/** The same of what one resource can hold; throws at the first that is too much. */
function rowsOf<T>(uri: string, items: readonly T[], make: (item: T) => unknown) {
  let length = 0;
  const measured = (item: T): unknown => {
    const row = make(item);
    length += JSON.stringify(row).length;
    if (length <= MODEL_TEXT.resourceLength) return row;
    throw tooLong(uri, `more than ${MODEL_TEXT.resourceLength} characters`);
  };
  return inSlices(made(items, measured), LONG_STEPS);
}

function resourceOf({ url, tier, card }: ListedAgent): Resource {
  const uri = `${AGENTS_URI}/${encodeURIComponent(url)}`;
  const { name } = card;
  const ours = `The card of an A2A agent (${tier}).`;
  const called = typeof name === "string" ? ` It calls itself ${marked(forModel(name, 128))}` : "";
  return {
    uri,
    name: `agent at ${hostOf(url)}`,
    description: ours + called,
    mimeType: JSON_TYPE,
  };
}

/** No text of a stranger's choice but the name of its host. */
function hostOf(url: string): string {
  return URL.canParse(url) ? forModel(new URL(url).host) : "an unknown host";
}

export async function readResource(uri: string, sources: Sources): Promise<ReadResourceResult> {
  if (uri.length > URI.length) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `uri is longer than ${URI.length}`);
  }
  const value = await valueAt(uri, sources);
  const text = JSON.stringify(value, undefined, 2);
  if (text.length > MODEL_TEXT.resourceLength) throw tooLong(uri, `${text.length} characters`);
  return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
}

function tooLong(uri: string, size: string): ProtocolError {
  const message = `${uri} has ${size}: find_agents and list_agents give parts`;
  return new ProtocolError(ProtocolErrorCode.InternalError, message);
}

async function valueAt(uri: string, { fleet, directory }: Sources): Promise<unknown> {
  if (uri === FLEET_URI) {
    const { rows, total, counts, atMs } = await fleet.rows(MODEL_TEXT.resourceRows);
    if (total > rows.length) throw tooLong(uri, `${total} agents`);
    const at = new Date(atMs).toISOString();
    return { at, counts, agents: await rowsOf(uri, rows, mcpRowOf) };
  }
  if (uri === AGENTS_URI) {
    return rowsOf(uri, await directory.list(), ({ card }) => shownCard(card));
  }
  const url = urlIn(uri);
  const listed = url === undefined ? undefined : await directory.get(url);
  if (!listed)
    throw new ResourceNotFoundError(uri, `no resource ${forModel(uri)}; see resources/list`);
  return shownCard(listed.card);
}

function urlIn(uri: string): string | undefined {
  if (!uri.startsWith(`${AGENTS_URI}/`)) return undefined;
  try {
    return decodeURIComponent(uri.slice(AGENTS_URI.length + 1));
  } catch {
    return undefined;
  }
}

/** Whether it may ever change, so that a client may ask to be told. */
export function isWatchable(uri: string): boolean {
  if (uri.length > URI.length) return false;
  return uri === FLEET_URI || uri === AGENTS_URI || uri.startsWith(`${AGENTS_URI}/`);
}
