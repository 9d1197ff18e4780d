/**
 * The directory of A2A agents, as far as MCP needs it: little, so that a test brings its own. Cards
 * are in the generation that their agents speak, as the registry that this is a drop-in for has it.
 */
import type { CardText, DirectoryEntry, Tier } from "../../core/directory.ts";
import { RollcallError } from "../../core/errors.ts";
import type { DirectoryService } from "../../directory/directory.ts";
import { shownCardOf } from "../../directory/shown-card.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Watch } from "../../engine/watch.ts";

export interface ListedAgent {
  /** The URL that the agent is registered under. */
  readonly url: string;
  readonly tier: Tier;
  readonly card: Readonly<Record<string, unknown>>;
}

export interface McpDirectory {
  /** The agents that are available. */
  list(): Promise<readonly ListedAgent[]>;
  /** Nothing when it is not available. */
  get(url: string): Promise<ListedAgent | undefined>;
  /** The best matches, best first. */
  search(query: string, limit: number): Promise<readonly ListedAgent[]>;
  /** Calls after something changed, until the returned function is called. */
  watch(changed: () => void): () => void;
}

export function servedDirectory(
  service: Pick<DirectoryService, "list" | "get">,
  engine: Pick<Engine, "watch">,
): McpDirectory {
  return {
    list: async () => (await service.list({})).entries.flatMap(listedOf),
    async get(url) {
      try {
        return listedOf((await service.get(url)).entry)[0];
      } catch (error) {
        if (error instanceof RollcallError && error.code === "NOT_FOUND") return undefined;
        throw error;
      }
    },
    search: async (q, limit) => (await service.list({ q, limit })).entries.flatMap(listedOf),
    watch: (changed) => follow(engine, changed),
  };
}

/** Its card is parsed when it is asked for: there may be thousands, and few are shown. */
function listedOf({ url, tier, card }: DirectoryEntry): readonly ListedAgent[] {
  if (!card) return [];
  const listed = {
    url,
    tier,
    get card() {
      return valueOf(card);
    },
  };
  return [listed];
}

const known = new WeakMap<CardText, ListedAgent["card"]>();

/** Parsed once for each card; a card that is replaced takes it along. */
function valueOf(card: CardText): ListedAgent["card"] {
  const found = known.get(card);
  if (found) return found;
  const value = JSON.parse(shownCardOf(card).bytes.own.toString()) as ListedAgent["card"];
  known.set(card, value);
  return value;
}

function follow(engine: Pick<Engine, "watch">, changed: () => void): () => void {
  let watch: Watch | undefined;
  let isOver = false;
  const run = async () => {
    while (!isOver) {
      watch = engine.watch({ prefixes: ["directory."] });
      try {
        while ((await watch.pull()).length > 0) changed();
        return;
      } catch {
        // Cut, or the log cannot be read: nothing is missed by telling that something changed.
        changed();
      } finally {
        watch.close();
      }
    }
  };
  run().catch(() => undefined);
  return () => {
    isOver = true;
    watch?.close();
  };
}
