/**
 * Where a registry keeps its agents. Implement `RegistryProvider` to put them elsewhere (Redis, a
 * table): it is a store, and decides nothing. Cards come and go as text, byte for byte, so that a
 * store cannot harm them.
 */
import { RollcallError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import { REGISTRY } from "./limits.ts";

export interface RegistryEntry {
  /** The agent's key. */
  readonly url: string;
  /** JSON: what the agent publishes, once it was fetched; until then what its client says. */
  readonly card: string;
  /** Digest of what its client said last: when that changes, the card is fetched again. */
  readonly announced: string;
  readonly intervalS: number;
  /** Only those that are available are listed. */
  readonly status: "available" | "unverified";
}

export type Awaitable<T> = T | Promise<T>;

export interface RegistryProvider {
  get(url: string): Awaitable<RegistryEntry | undefined>;
  /** Adds or replaces the entry, and notes that its agent was heard of now. */
  upsert(entry: RegistryEntry): Awaitable<void>;
  unregister(url: string): Awaitable<void>;
  /** The available ones, in an order that does not change. */
  listAvailable(): Awaitable<readonly RegistryEntry[]>;
  /** The URLs of those not heard of for longer than `multiplier` times their interval. */
  listStale(multiplier: number): Awaitable<readonly string[]>;
}

interface Kept {
  readonly entry: RegistryEntry;
  readonly heardMs: number;
}

/**
 * Bounded: when it is full, those that were never verified make room, the oldest first, so that a
 * flood of invented agents cannot keep a real one out.
 */
export class MemoryRegistryProvider implements RegistryProvider {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Kept>();
  #bytes = 0;

  constructor({ clock = systemClock }: { readonly clock?: Clock } = {}) {
    this.#clock = clock;
  }

  get(url: string): RegistryEntry | undefined {
    return this.#entries.get(url)?.entry;
  }

  upsert(entry: RegistryEntry): void {
    const before = this.#entries.get(entry.url)?.entry;
    const moreBytes = entry.card.length - (before?.card.length ?? 0);
    this.#makeRoom(entry.url, before ? 0 : 1, moreBytes);
    this.#bytes += moreBytes;
    this.#entries.set(entry.url, { entry, heardMs: this.#clock.monotonicMs() });
  }

  unregister(url: string): void {
    this.#bytes -= this.#entries.get(url)?.entry.card.length ?? 0;
    this.#entries.delete(url);
  }

  listAvailable(): readonly RegistryEntry[] {
    const entries = [...this.#entries.values()].map(({ entry }) => entry);
    return entries.filter(({ status }) => status === "available");
  }

  listStale(multiplier: number): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#entries.values()]
      .filter(({ entry, heardMs }) => nowMs - heardMs > multiplier * entry.intervalS * 1000)
      .map(({ entry }) => entry.url);
  }

  #makeRoom(url: string, more: number, moreBytes: number): void {
    const isFull = (): boolean =>
      this.#entries.size + more > REGISTRY.agents || this.#bytes + moreBytes > REGISTRY.bytes;
    if (!isFull()) return;
    for (const { entry } of this.#entries.values()) {
      if (entry.status === "available" || entry.url === url) continue;
      this.unregister(entry.url);
      if (!isFull()) return;
    }
    throw new RollcallError("LIMIT_EXCEEDED", "the registry is full");
  }
}
