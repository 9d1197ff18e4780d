/**
 * The life of an agent in a small registry, on whatever store.
 *
 *              fetched its own card               said another card, and
 *   unverified ─────────────────────▶ available ◀── its own was fetched again ──┐
 *       │ ▲  retried with every heartbeat  │  └─────────────────────────────────┘
 *       └─┘                                │
 *       └──────────── silence ─────────────┴──▶ gone
 *
 * Only the card that the agent itself publishes at its URL is listed, never one that was sent in
 * its name. A heartbeat waits a moment for the fetch it set off and answers with what is
 * known by then; the fetch goes on without it.
 */
import { setMaxListeners } from "node:events";
import { candidateUrls } from "../../../directory/cards/candidates.ts";
import { readCard, speaksFor, type Card } from "../../../directory/cards/card.ts";
import type { Heartbeat } from "../../../directory/cards/heartbeat.ts";
import { digestOf } from "../../../directory/digest.ts";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import { REGISTRY } from "./limits.ts";
import { MemoryRegistryProvider, type RegistryEntry, type RegistryProvider } from "./provider.ts";

/** The part of the safe fetcher that is needed here. */
export interface CardFetcher {
  first<T>(
    urls: readonly string[],
    read: (text: string) => T | undefined,
    options: { readonly signal: AbortSignal },
  ): Promise<T>;
}

export interface RegistryOptions {
  readonly fetcher: CardFetcher;
  readonly provider?: RegistryProvider;
  /** An agent is gone after so many of its intervals without a word. */
  readonly staleMultiplier?: number;
  readonly clock?: Clock;
  /** The store failed behind a heartbeat that was answered already. */
  readonly onFailure?: (error: unknown) => void;
}

export class Registry implements AsyncDisposable {
  readonly provider: RegistryProvider;
  readonly #options: RegistryOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  /** One fetch per agent at a time, whoever else speaks in its name meanwhile. */
  readonly #verifying = new Map<string, Promise<boolean>>();
  #cancelSweep: (() => void) | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    // Every fetch listens to it.
    setMaxListeners(0, this.#closing.signal);
    this.provider = options.provider ?? new MemoryRegistryProvider({ clock: this.#clock });
  }

  /**
   * Whether the agent is listed. Whoever sends a heartbeat in the name of one that is may give it
   * longer to live, but not less.
   */
  async hear({ card, intervalS }: Heartbeat): Promise<boolean> {
    this.#sweepLater();
    const announced = digestOf(card);
    const known = await this.provider.get(card.key);
    const isAvailable = known?.status === "available";
    const entry: RegistryEntry = isAvailable
      ? { ...known, intervalS: Math.max(known.intervalS, intervalS) }
      : { url: card.key, card: card.text, announced, intervalS, status: "unverified" };
    await this.provider.upsert(entry);
    if (isAvailable && known.announced === announced) return true;
    const verified = await this.#verifyInTime(card, { ...entry, announced });
    return isAvailable || verified;
  }

  /** No more fetches, no more sweeps. */
  async close(): Promise<void> {
    this.#cancelSweep?.();
    this.#closing.abort();
    await Promise.allSettled(this.#verifying.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #verifyInTime(card: Card, entry: RegistryEntry): Promise<boolean> {
    const running = this.#verifying.get(card.key) ?? this.#verify(card, entry);
    return new Promise((resolve) => {
      const cancel = this.#clock.after(REGISTRY.answerMs, () => resolve(false));
      void running.then(resolve).finally(cancel);
    });
  }

  /** Never rejects: nobody may be waiting any more. */
  async #verify(card: Card, entry: RegistryEntry): Promise<boolean> {
    const running = this.#fetchAndKeep(card, entry)
      .catch((error: unknown) => {
        this.#options.onFailure?.(error);
        return false;
      })
      .finally(() => this.#verifying.delete(card.key));
    this.#verifying.set(card.key, running);
    return running;
  }

  async #fetchAndKeep(card: Card, entry: RegistryEntry): Promise<boolean> {
    const { signal } = this.#closing;
    const read = (text: string): Card | undefined => {
      const found = readCard(text);
      return found.ok && speaksFor(found.card, card.key) ? found.card : undefined;
    };
    const own = await this.#options.fetcher
      .first(candidateUrls(card), read, { signal })
      .catch(() => undefined);
    if (!own || signal.aborted) return false;
    await this.provider.upsert({ ...entry, card: own.text, status: "available" });
    return true;
  }

  #sweepLater(): void {
    if (this.#closing.signal.aborted) return;
    this.#cancelSweep ??= this.#clock.after(REGISTRY.sweepMs, () => {
      this.#cancelSweep = undefined;
      this.#sweep().catch((error: unknown) => this.#options.onFailure?.(error));
      this.#sweepLater();
    });
  }

  async #sweep(): Promise<void> {
    const multiplier = this.#options.staleMultiplier ?? REGISTRY.staleMultiplier;
    const stale = await this.provider.listStale(multiplier);
    for (const url of stale) await this.provider.unregister(url);
  }
}
