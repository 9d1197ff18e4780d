/**
 * Tells subscribers that a resource has changed. They read it again, so a hundred changes in a
 * second are one notice. Watching costs something, so it is done while there are subscribers:
 *
 *   nobody ──first listens──▶ looking ──last leaves──▶ nobody
 */
import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";
import type { Clock } from "../../core/clock.ts";
import { ANY } from "../../fleet/filters.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { Directory } from "./directory.ts";
import { MCP } from "./limits.ts";
import { AGENTS_URI, FLEET_URI } from "./resources.ts";

export interface ChangesOptions {
  readonly fleet: Pick<Fleet, "changes">;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly onTrouble: (what: string, error: unknown) => void;
}

type Listener = (event: ServerEvent) => void;

/** Agents that come and go also change which resources there are. */
const NEWS: Readonly<Record<string, readonly ServerEvent[]>> = {
  fleet: [{ kind: "resource_updated", uri: FLEET_URI }],
  directory: [{ kind: "resource_updated", uri: AGENTS_URI }, { kind: "resources_list_changed" }],
};

export class Changes implements ServerEventBus {
  readonly #options: ChangesOptions;
  readonly #listeners = new Set<Listener>();
  readonly #pending = new Map<string, () => void>();
  #stopLooking: (() => void) | undefined;

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** How many listen. */
  get size(): number {
    return this.#listeners.size;
  }

  /** Idempotent to leave. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#stopLooking ??= this.#look();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  publish(event: ServerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Idempotent; whoever listens hears nothing more. */
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
      for await (const { kind } of this.#options.fleet.changes({ signal, first })) {
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
      for (const event of NEWS[what] ?? []) this.publish(event);
    });
    this.#pending.set(what, cancel);
  }
}
