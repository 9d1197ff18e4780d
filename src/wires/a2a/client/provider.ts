/**
 * Where a registry keeps its agents. Implement `RegistryProvider` to put them elsewhere (Redis, a
 * table): it is a store, and decides nothing. Cards come and go as text, byte for byte, so that a
 * store cannot harm them.
 */
import { RollcallError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import { REGISTRY_DEFAULTS } from "./limits.ts";

export interface RegisteredCard {
  /** The agent's key: the `url` of its card, else that of its first interface. */
  readonly url: string;
  /** JSON: what the agent publishes, once it was fetched; until then what its client says. */
  readonly text: string;
}

export interface RegistryEntry {
  readonly card: RegisteredCard;
  readonly intervalS: number;
  /** Only those that are available are listed. */
  readonly status: "available" | "unverified";
}

export type Awaitable<T> = T | Promise<T>;

export interface RegistryProvider {
  /**
   * Adds the agent, unverified, or replaces its card and interval and leaves its status as it is.
   * Either way it was heard of now.
   */
  upsert(card: RegisteredCard, intervalS: number): Awaitable<void>;
  get(agentUrl: string): Awaitable<RegistryEntry | undefined>;
  /** The agent becomes available; nothing where it is not known. */
  markVerified(agentUrl: string): Awaitable<void>;
  unregister(agentUrl: string): Awaitable<void>;
  /** The cards of the available ones, in an order that does not change. */
  listAvailable(): Awaitable<readonly RegisteredCard[]>;
  /** The URLs of those not heard of for longer than `multiplier` times their interval. */
  getStale(multiplier: number): Awaitable<readonly string[]>;
}

interface EntryRecord {
  readonly entry: RegistryEntry;
  readonly heardMs: number;
}

/**
 * Bounded: when it is full, those that were never verified make room, the oldest first, so that a
 * flood of invented agents cannot keep a real one out.
 */
export class MemoryRegistryProvider implements RegistryProvider {
  readonly #clock: Clock;
  readonly #kept = new Map<string, EntryRecord>();
  #bytes = 0;

  constructor({ clock = systemClock }: { readonly clock?: Clock } = {}) {
    this.#clock = clock;
  }

  upsert(card: RegisteredCard, intervalS: number): void {
    const before = this.#kept.get(card.url)?.entry;
    const moreBytes = card.text.length - (before?.card.text.length ?? 0);
    this.#makeRoom(card.url, before ? 0 : 1, moreBytes);
    this.#bytes += moreBytes;
    const entry = { card, intervalS, status: before?.status ?? "unverified" } as const;
    this.#kept.set(card.url, { entry, heardMs: this.#clock.monotonicMs() });
  }

  get(agentUrl: string): RegistryEntry | undefined {
    return this.#kept.get(agentUrl)?.entry;
  }

  markVerified(agentUrl: string): void {
    const kept = this.#kept.get(agentUrl);
    if (!kept) return;
    this.#kept.set(agentUrl, { ...kept, entry: { ...kept.entry, status: "available" } });
  }

  unregister(agentUrl: string): void {
    this.#bytes -= this.#kept.get(agentUrl)?.entry.card.text.length ?? 0;
    this.#kept.delete(agentUrl);
  }

  listAvailable(): readonly RegisteredCard[] {
    const entries = [...this.#kept.values()].map(({ entry }) => entry);
    return entries.filter(({ status }) => status === "available").map(({ card }) => card);
  }

  getStale(multiplier: number): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#kept]
      .filter(([, { entry, heardMs }]) => nowMs - heardMs > multiplier * entry.intervalS * 1000)
      .map(([url]) => url);
  }

  #makeRoom(url: string, more: number, moreBytes: number): void {
    const isFull = (): boolean =>
      this.#kept.size + more > REGISTRY_DEFAULTS.agents ||
      this.#bytes + moreBytes > REGISTRY_DEFAULTS.bytes;
    if (!isFull()) return;
    for (const [each, { entry }] of this.#kept) {
      if (entry.status === "available" || each === url) continue;
      this.unregister(each);
      if (!isFull()) return;
    }
    throw new RollcallError("LIMIT_EXCEEDED", "the registry is full");
  }
}
