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
 * its name. The heartbeat of an agent that is not listed waits for the fetch it set off and answers
 * with what is known by then; the fetch goes on without it.
 */
import { setMaxListeners } from "node:events";
import { candidateUrls } from "../../../directory/cards/candidates.ts";
import { readCard, speaksFor, type Card } from "../../../directory/cards/card.ts";
import type { Heartbeat } from "../../../directory/cards/heartbeat.ts";
import { digestOf } from "../../../directory/digest.ts";
import { WaitingRoom } from "../../../directory/waiting-room.ts";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import { REGISTRY_DEFAULTS } from "./limits.ts";
import { MemoryRegistryProvider, type RegistryProvider } from "./provider.ts";

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
  /** How often silent agents are looked for. */
  readonly cleanupIntervalS?: number;
  /** How long the fetcher may take for one agent. */
  readonly fetchTimeoutMs: number;
  readonly clock?: Clock;
  /** The store failed behind a heartbeat that was answered already. */
  readonly onFailure?: (error: unknown) => void;
}

export interface HeartbeatOutcome {
  /** Whether the agent is listed. */
  readonly verified: boolean;
  /** How long it may be silent. */
  readonly ttlMs: number;
}

export class Registry implements AsyncDisposable {
  readonly provider: RegistryProvider;
  readonly #options: RegistryOptions;
  readonly #clock: Clock;
  readonly #waiting: WaitingRoom;
  readonly #closing = new AbortController();
  /** By URL, the digest of what a client said when the listed card was fetched. */
  readonly #announced = new Map<string, string>();
  /** One fetch per agent at a time, however many heartbeats name it meanwhile. */
  readonly #verifying = new Map<string, Promise<boolean>>();
  #cancelSweep: (() => void) | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { fetchTimeoutMs } = options;
    this.#waiting = new WaitingRoom({ clock: this.#clock, fetchTimeoutMs });
    // Every fetch listens to it.
    setMaxListeners(0, this.#closing.signal);
    this.provider = options.provider ?? new MemoryRegistryProvider({ clock: this.#clock });
  }

  /**
   * A heartbeat that anybody sends in the name of a listed agent may give it longer to live, but
   * not less; it never waits. Where another card is announced than before (or before this process
   * began), the agent's own is fetched again.
   */
  async hear({ card, intervalS: said }: Heartbeat): Promise<HeartbeatOutcome> {
    this.#sweepLater();
    const known = await this.provider.get(card.key);
    const isListed = known?.status === "available";
    const intervalS = isListed ? Math.max(known.intervalS, said) : said;
    const kept = isListed ? known.card : { url: card.key, text: card.text };
    await this.provider.upsert(kept, intervalS);
    const ttlMs = this.#staleMultiplier * intervalS * 1000;
    if (isListed && this.#announced.get(card.key) === digestOf(card)) {
      return { verified: true, ttlMs };
    }
    const verifying = this.#verify(card, intervalS);
    return { verified: isListed || (await this.#inTime(verifying)), ttlMs };
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

  get #staleMultiplier(): number {
    return this.#options.staleMultiplier ?? REGISTRY_DEFAULTS.staleMultiplier;
  }

  /** The result of the verification, if its heartbeat can wait that long. */
  async #inTime(verifying: Promise<boolean>): Promise<boolean> {
    let verified = false;
    await this.#waiting.wait(verifying.then((is) => (verified = is)));
    return verified;
  }

  /** Never rejects: nobody may be waiting any more. */
  #verify(card: Card, intervalS: number): Promise<boolean> {
    const before = this.#verifying.get(card.key);
    if (before) return before;
    const running = this.#fetchAndKeep(card, intervalS)
      .catch((error: unknown) => {
        this.#options.onFailure?.(error);
        return false;
      })
      .finally(() => this.#verifying.delete(card.key));
    this.#verifying.set(card.key, running);
    return running;
  }

  async #fetchAndKeep(card: Card, intervalS: number): Promise<boolean> {
    const { signal } = this.#closing;
    const read = (text: string): Card | undefined => {
      const found = readCard(text);
      return found.ok && speaksFor(found.card, card.key) ? found.card : undefined;
    };
    const own = await this.#options.fetcher
      .first(candidateUrls(card), read, { signal })
      .catch(() => undefined);
    if (!own || signal.aborted) return false;
    await this.provider.upsert({ url: card.key, text: own.text }, intervalS);
    await this.provider.markVerified(card.key);
    this.#announce(card);
    return true;
  }

  #announce(card: Card): void {
    this.#announced.delete(card.key);
    this.#announced.set(card.key, digestOf(card));
    for (const oldest of this.#announced.keys()) {
      if (this.#announced.size <= REGISTRY_DEFAULTS.agents) return;
      this.#announced.delete(oldest);
    }
  }

  #sweepLater(): void {
    if (this.#closing.signal.aborted) return;
    const sweepMs = 1000 * (this.#options.cleanupIntervalS ?? REGISTRY_DEFAULTS.cleanupIntervalS);
    this.#cancelSweep ??= this.#clock.after(sweepMs, () => {
      this.#cancelSweep = undefined;
      this.#sweep().catch((error: unknown) => this.#options.onFailure?.(error));
      this.#sweepLater();
    });
  }

  async #sweep(): Promise<void> {
    for (const url of await this.provider.getStale(this.#staleMultiplier)) {
      await this.provider.unregister(url);
      this.#announced.delete(url);
    }
  }
}
