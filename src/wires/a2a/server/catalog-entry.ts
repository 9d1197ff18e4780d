/**
 * An agent as Agentic Resource Discovery describes it (ARD, draft 0.9): a name that stays, what
 * kind of thing it is, where its card lies, and what one might ask of it.
 *
 * The name is made of the host and the URL, so that it is the same on every registry of ours that
 * knows the agent. All prose is cleaned: a model reads it.
 */
import { createHash } from "node:crypto";
import type { DirectoryEntry } from "../../../core/directory.ts";
import { shownCardOf } from "../../../directory/shown-card.ts";

const CARD_TYPE = "application/a2a-agent-card+json";

export interface CatalogEntry {
  readonly identifier: string;
  readonly displayName: string;
  readonly type: string;
  readonly url: string;
  readonly description?: string;
  readonly version?: string;
  readonly tags?: readonly string[];
  readonly capabilities?: readonly string[];
  readonly representativeQueries?: readonly string[];
  readonly updatedAt?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Nothing for one that is not served. */
export function catalogEntry(entry: DirectoryEntry): CatalogEntry | undefined {
  const { card, url, verification, tier } = entry;
  if (!card) return undefined;
  const { prose, examples } = shownCardOf(card);
  const { name, description, version, skills } = prose;
  return {
    identifier: identifierOf(url),
    displayName: name,
    type: CARD_TYPE,
    url: verification?.from || url,
    ...(description !== "" && { description }),
    version,
    tags: [...new Set(skills.flatMap(({ tags }) => tags))],
    capabilities: skills.map(({ id }) => id),
    ...(examples.length > 0 && { representativeQueries: examples }),
    ...(verification && { updatedAt: new Date(verification.atMs).toISOString() }),
    metadata: { agentUrl: url, tier },
  };
}

export function identifierOf(agentUrl: string): string {
  const { hostname, pathname } = new URL(agentUrl);
  const host = hostname.replaceAll(/[[\]:]/g, "-");
  const path = pathname.replaceAll(/[^A-Za-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
  const own = createHash("sha256").update(agentUrl).digest("hex").slice(0, 8);
  return `urn:air:${host}:a2a:${[path.slice(0, 64), own].filter(Boolean).join("-")}`;
}
