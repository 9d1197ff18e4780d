/**
 * Tells subscribers that a resource has changed. They read it again, so a hundred changes in a
 * second are one notice. Watching costs something, so it is done while there are subscribers:
 *
 *   nobody ──first listens──▶ looking ──last leaves──▶ nobody
 *
 * A subscriber hears of the fleet that it sees: when something changes that is not for it, that is
 * not for it either. Subscribers that see the same fleet share one feed.
 */
import type { ServerEvent } from "@modelcontextprotocol/server";
import type { Clock } from "../../core/clock.ts";
import { ANY } from "../../fleet/filters.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { McpDirectory } from "./directory.ts";
import { MCP } from "./limits.ts";
import { AGENTS_URI, FLEET_URI } from "./resources.ts";

export interface ChangeFeedOptions {
  readonly directory: McpDirectory;
  readonly clock: Clock;
  readonly onTrouble: (what: string, error: unknown) => void;
}

type ServerEventListener = (event: ServerEvent) => void;

/** Agents that come and go also change which resources there are. */
const NEWS: Readonly<Record<string, readonly ServerEvent[]>> = {
  fleet: [{ kind: "resource_updated", uri: FLEET_URI }],
  directory: [{ kind: "resource_updated", uri: AGENTS_URI }, { kind: "resources_list_changed" }],
};

export class ResourceChanges {
  readonly #options: ChangeFeedOptions;
  readonly #feeds = new Map<Fleet, ChangeFeed>();

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /** How many listen. */
  get size(): number {
    let size = 0;
    for (const feed of this.#feeds.values()) size += feed.size;
    return size;
  }

  /** Listens to the changes of a fleet, as its caller sees it. Idempotent to leave. */
  subscribe(fleet: Fleet, listener: ServerEventListener): () => void {
    const feed = this.#feeds.get(fleet) ?? new ChangeFeed(this.#options, fleet);
    this.#feeds.set(fleet, feed);
    const leave = feed.subscribe(listener);
    return () => {
      leave();
      if (feed.size === 0) this.#feeds.delete(fleet);
    };
  }

  /** Idempotent; listeners hear nothing more. */
  close(): void {
    for (const feed of this.#feeds.values()) feed.close();
    this.#feeds.clear();
  }
}

class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #fleet: Fleet;
  readonly #listeners = new Set<ServerEventListener>();
  readonly #pending = new Map<string, () => void>();
  #stopLooking: (() => void) | undefined;

  constructor(options: ChangeFeedOptions, fleet: Fleet) {
    this.#options = options;
    this.#fleet = fleet;
  }

  get size(): number {
    return this.#listeners.size;
  }

  subscribe(listener: ServerEventListener): () => void {
    this.#listeners.add(listener);
    this.#stopLooking ??= this.#look();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.#stopLooking?.();
    this.#stopLooking = undefined;
    for (const cancel of this.#pending.values()) cancel();
    this.#pending.clear();
    this.#listeners.clear();
  }

  #look(): () => void {
    const abort = new AbortController();
    void this.#follow(abort.signal);
    const stopWatching = this.#options.directory.watch(() => this.#tellSoon("directory"));
    return () => {
      stopWatching();
      abort.abort();
    };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    // That something is new is enough: how it was when we began to look is not.
    const first = { ...ANY, needs: "me" } as const;
    try {
      for await (const { kind } of this.#fleet.changes({ signal, first })) {
        if (kind === "change") this.#tellSoon("fleet");
      }
    } catch (error) {
      if (!signal.aborted) this.#options.onTrouble("cannot follow the fleet", error);
    }
  }

  #tellSoon(what: keyof typeof NEWS): void {
    if (this.#pending.has(what)) return;
    const cancel = this.#options.clock.after(MCP.changeMs, () => {
      this.#pending.delete(what);
      for (const event of NEWS[what] ?? []) {
        for (const listener of this.#listeners) listener(event);
      }
    });
    this.#pending.set(what, cancel);
  }
}
