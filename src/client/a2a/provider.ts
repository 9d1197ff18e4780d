/**
 * Where a registry keeps its agents. Implement `RegistryProvider` to put them elsewhere (Redis, a
 * table): it is a store, and decides nothing. Cards come and go as text, byte for byte, so that a
 * store cannot harm them.
 */
import { RollcallError } from "../../core/errors.ts";
import { systemClock, type Clock } from "../../engine/clock.ts";
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

export class MemoryRegistryProvider implements RegistryProvider {
  readonly #clock: Clock;
  readonly #entries = new Map<
    string,
    { readonly entry: RegistryEntry; readonly heardMs: number }
  >();

  constructor({ clock = systemClock }: { readonly clock?: Clock } = {}) {
    this.#clock = clock;
  }

  get(url: string): RegistryEntry | undefined {
    return this.#entries.get(url)?.entry;
  }

  upsert(entry: RegistryEntry): void {
    if (this.#entries.size >= REGISTRY.agents && !this.#entries.has(entry.url)) {
      const message = `the registry holds ${REGISTRY.agents} agents, which is all it can`;
      throw new RollcallError("LIMIT_EXCEEDED", message);
    }
    this.#entries.set(entry.url, { entry, heardMs: this.#clock.monotonicMs() });
  }

  unregister(url: string): void {
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
}
