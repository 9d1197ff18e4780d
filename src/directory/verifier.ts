/**
 * Fetches the cards that entries are said to have, from where they are said to be. It runs beside
 * the heartbeats: however many come for one URL while its fetch is under way, they wait for that
 * one; what fails is tried again with the next heartbeat.
 *
 * Only operators learn why it failed (by the fetcher's log, and who adds an agent by the refusal):
 * or the sender of a heartbeat could scan our network through us.
 */
import { setMaxListeners } from "node:events";
import { candidateUrls } from "./cards/candidates.ts";
import { readCard, speaksFor, type Card } from "./cards/card.ts";
import { ownBy } from "../core/by.ts";
import type { ConfirmCommand } from "../core/directory-rules.ts";
import type { Proof } from "../core/directory.ts";
import { codeOf } from "../core/errors.ts";
import { asLine } from "../core/fields.ts";
import { DIRECTORY } from "../core/limits.ts";
import type { Engine } from "../engine/engine.ts";
import type { Fetcher } from "../net/fetch/fetcher.ts";
import { digestOf } from "./digest.ts";
import { SERVICE } from "./limits.ts";
import { verifySignatures, type SignatureTrust, type SignatureVerdict } from "./signatures.ts";

export const NO_CARD = "no card of this agent was found at its URL";

export interface VerifierOptions {
  readonly engine: Engine;
  readonly fetcher: Pick<Fetcher, "first" | "text">;
  /** The trusted signers, beside a card's own site. */
  readonly trust: SignatureTrust;
  /** A card was confirmed that was not served before. */
  readonly onVerified: (url: string) => void;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export interface FetchedCard {
  readonly card: Card;
  readonly from: string;
}

export class CardVerifier {
  readonly #options: VerifierOptions;
  readonly #running = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: VerifierOptions) {
    this.#options = options;
    // Every fetch listens to it, and there may be thousands.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Resolves when what was found is recorded; never rejects. */
  verify(url: string): Promise<void> {
    const running = this.#running.get(url);
    if (running) return running;
    // There will be another heartbeat.
    if (this.#running.size >= SERVICE.verifications) return Promise.resolve();
    const work = this.#verify(url)
      .catch((error: unknown) => this.#failed(error))
      .finally(() => this.#running.delete(url));
    this.#running.set(url, work);
    return work;
  }

  /**
   * The card that is published for a URL: one that names it, else the first of any agent there,
   * since several may share a host. Rejects with UNAVAILABLE, whatever went wrong.
   */
  async find(
    said: Pick<Card, "key" | "version">,
    { tellsWhy = false }: { readonly tellsWhy?: boolean } = {},
  ): Promise<FetchedCard> {
    let other: FetchedCard | undefined;
    const read = (text: string, from: string): FetchedCard | undefined => {
      const reading = readCard(text);
      if (!reading.ok || reading.card.isAmbiguous) return undefined;
      const found = { card: reading.card, from };
      if (speaksFor(found.card, said.key)) return found;
      other ??= found;
      return undefined;
    };
    const { signal } = this.#closing;
    try {
      return await this.#options.fetcher.first(candidateUrls(said), read, { signal, tellsWhy });
    } catch (error) {
      if (other && !signal.aborted) return other;
      throw error;
    }
  }

  /** The fetched card, as a command. */
  async confirmation(
    url: string,
    heard: string,
    { card, from }: FetchedCard,
  ): Promise<ConfirmCommand> {
    return {
      type: "directory.confirm",
      url,
      heard,
      card: { text: card.text, digest: digestOf(card) },
      from,
      proof: await this.#proofOf(url, card),
    };
  }

  async #proofOf(url: string, card: Card): Promise<Proof> {
    const { trust, fetcher } = this.#options;
    const { signal } = this.#closing;
    const verdict = await verifySignatures(card, { fetcher, ...trust }, { signal });
    return {
      isItsOwn: speaksFor(card, url),
      isSigned: verdict.kind === "valid",
      signature: asLine(wordsOf(verdict), DIRECTORY.reasonLength),
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running.values());
  }

  async #verify(url: string): Promise<void> {
    const { engine, onVerified } = this.#options;
    const entry = await engine.read(({ directory }) => directory.byUrl.get(url)?.entry);
    const said = entry?.waiting ?? entry?.card;
    if (!entry || !said) return;
    const reading = readCard(said.text);
    const version = reading.ok ? reading.card.version : "1.0";
    const heard = entry.waiting?.digest ?? entry.heard;
    let found: FetchedCard;
    try {
      found = await this.find({ key: url, version });
    } catch {
      if (this.#closing.signal.aborted) return;
      await engine.execute({ type: "directory.doubt", url, reason: NO_CARD }, ownBy("directory"));
      return;
    }
    const { isNew } = await engine.execute(
      await this.confirmation(url, heard, found),
      ownBy("directory"),
    );
    if (isNew) onVerified(url);
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    // It was evicted or removed meanwhile.
    if (codeOf(error) === "NOT_FOUND") return;
    this.#options.onTrouble("could not record a verification", error);
  }
}

function wordsOf(verdict: SignatureVerdict): string {
  switch (verdict.kind) {
    case "unsigned":
      return "";
    case "valid":
      return `${verdict.algorithm} by ${verdict.keyId} (${verdict.source} key)`;
    case "invalid":
      return `not valid: ${verdict.reason}`;
  }
}
