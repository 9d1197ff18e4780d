/**
 * The directory as a service: heartbeats in, cards out. The engine keeps the entries; what is here
 * is the work around them: fetching, the bytes of the listing, search.
 *
 *   heartbeat ──▶ the same bytes as before? ──▶ engine.refresh: no parsing, no trace
 *                        │ no
 *                        ▼
 *                 parsed, executed ──▶ to be verified? ──▶ fetched beside it; of a new agent, the
 *                                                           sender waits to learn what was found
 */
import { httpUrl } from "../net/http/url.ts";
import { readCard, speaksFor, type Card } from "./cards/card.ts";
import { diffCards, type CardDiff } from "./cards/diff.ts";
import { readHeartbeat } from "./cards/heartbeat.ts";
import type { HeartbeatAnswer, Sender } from "./heartbeat.ts";
import type { CardProblem } from "./cards/problems.ts";
import { proseOf, type CardProse } from "./cards/prose.ts";
import { cardAs, type ListedVersion } from "./cards/versions.ts";
import {
  entryAsSeen,
  type Beat,
  type CardText,
  type Directory,
  type DirectoryEntry,
} from "../core/directory.ts";
import {
  retryAfterS,
  unknownEntry,
  type HeartbeatCommand,
  type HeartbeatReply,
} from "../core/directory-rules.ts";
import { HEARTBEAT } from "../core/card-limits.ts";
import { ownBy, type By } from "../core/by.ts";
import { codeOf, invalidArgument, refusalError, RollcallError } from "../core/errors.ts";
import type { Clock } from "../core/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { inSlices, LONG_STEPS } from "../machine/slices.ts";
import type { Fetcher } from "../net/fetch/fetcher.ts";
import { FETCH } from "../net/fetch/limits.ts";
import { SEARCH } from "../search/limits.ts";
import { SearchThread } from "../search/thread.ts";
import { digestOf } from "./digest.ts";
import { CardFinder } from "./finder.ts";
import { KnownBeats } from "./known-beats.ts";
import { SERVICE } from "./limits.ts";
import { arrayOf, Listing, ListingBytes } from "./listing.ts";
import {
  cardsRead,
  countOf,
  entriesOf,
  entryPage,
  firstOf,
  tierPage,
  type DirectoryFilters,
  type DirectoryPage,
  type DirectoryPageBounds,
} from "./query.ts";
import type { SignatureTrust } from "./signatures.ts";
import { hashOf, newToken } from "./tokens.ts";
import { Turnstile } from "./turnstile.ts";
import { NO_CARD, CardVerifier, type FetchedCard } from "./verifier.ts";
import { WaitingRoom } from "./waiting-room.ts";

export interface DirectoryOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly fetcher: Pick<Fetcher, "first" | "text">;
  /** Where cards are ranked. */
  readonly thread?: SearchThread;
  /** How often agents are asked to send heartbeats. */
  readonly intervalS?: number;
  /** After how many intervals of silence an entry goes, and how much later. */
  readonly staleMultiplier?: number;
  readonly cleanupMs?: number;
  /** How long the fetcher may take for one agent: its first heartbeat waits for that. */
  readonly fetchTimeoutMs?: number;
  /** The trusted signers, beside a card's own site. */
  readonly trust?: SignatureTrust;
  readonly onTrouble?: (what: string, error: unknown) => void;
}

export interface DirectoryQuery extends DirectoryFilters, DirectoryPageBounds {
  /** In plain words; then the best come first, and there are no pages. */
  readonly q?: string | undefined;
}

export interface EntryDetail {
  readonly entry: DirectoryEntry;
  readonly prose: CardProse;
  /** The difference that the waiting card would make. */
  readonly diff: CardDiff | null;
}

const DEFAULT_STALE_MULTIPLIER = 3;

export class DirectoryService {
  readonly #options: DirectoryOptions;
  readonly #engine: Engine;
  readonly #verifier: CardVerifier;
  readonly #turnstile = new Turnstile();
  readonly #waiting: WaitingRoom;
  readonly #finder: CardFinder;
  readonly #listing = new Listing();
  readonly #known = new KnownBeats(SERVICE.knownBytes);
  /** The directory all of whose cards were read, and its revision. */
  #read: { readonly directory: Directory; readonly revision: number } | undefined;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#engine = options.engine;
    const { clock, fetchTimeoutMs = FETCH.budgetMs } = options;
    this.#waiting = new WaitingRoom({ clock, fetchTimeoutMs });
    const onTrouble = options.onTrouble ?? (() => undefined);
    this.#finder = new CardFinder(options.thread ?? new SearchThread({ onTrouble }));
    this.#verifier = new CardVerifier({
      engine: options.engine,
      fetcher: options.fetcher,
      trust: options.trust ?? {},
      onVerified: (url) => {
        const record = this.#engine.peek(({ directory }) => directory.byUrl.get(url));
        if (record) this.#finder.put(record.entry);
      },
      onTrouble,
    });
  }

  /**
   * Takes a heartbeat whose very bytes are known and change nothing, and tells in how many seconds
   * the next one is due. Undefined for any other: it must be heard.
   */
  again(body: Buffer, { token, check }: Pick<Sender, "token" | "check">): number | undefined {
    const beat = this.#known.get(body);
    if (!beat) return undefined;
    check?.(beat.url);
    if (token !== undefined && this.#mayChange(beat)) return undefined;
    return this.#engine.refresh(beat) ? this.#retryAfterS(beat.url) : undefined;
  }

  async hear(body: Buffer, sender: Sender): Promise<HeartbeatAnswer> {
    await this.#turnstile.pass();
    const reading = readHeartbeat(body.toString("utf8"));
    if (!reading.ok) return reading;
    const { card, intervalS } = reading.heartbeat;
    const url = httpUrl(card.key);
    if (!url) return { ok: false, problems: [notHttp(card)] };
    sender.check?.(card.key);
    const token = newToken();
    const command = this.#heartbeat(card, url.origin, {
      source: sender.source ?? sender.by.principal.name,
      intervalMs: intervalS * 1000,
      newTokenHash: hashOf(token),
      tokenHash: sender.token === undefined ? "" : hashOf(sender.token),
    });
    const reply = await this.#engine.execute(command, sender.by);
    const { intervalMs } = command;
    if (!reply.mustVerify) {
      this.#known.set(body, { url: command.url, digest: command.card.digest, intervalMs });
    }
    // Not awaited here: a heartbeat that waits shall not keep its body and its parsed card.
    return this.#answer(card.key, reply, token);
  }

  /** Every card that is served, as bytes. */
  async listing(version: ListedVersion): Promise<ListingBytes> {
    await this.readCards();
    return this.#engine.read((state) => this.#listing.of(state, version));
  }

  /** Reading a card takes milliseconds: those that nobody asked for yet, in short turns. */
  async readCards(): Promise<void> {
    const directory = this.#engine.peek((state) => state.directory);
    const { revision } = directory;
    if (this.#read?.directory === directory && this.#read.revision === revision) return;
    const entries = Array.from(directory.byUrl.values(), ({ entry }) => entry);
    await inSlices(cardsRead(entries), LONG_STEPS);
    this.#read = { directory, revision };
  }

  /** The requested cards, in the same form. */
  async cards(
    version: ListedVersion,
    asked: DirectoryQuery,
  ): Promise<DirectoryPage & { readonly bytes: ListingBytes }> {
    const page = await this.list(asked);
    const cards = page.entries.flatMap(({ card }) => card ?? []);
    return { ...page, bytes: new ListingBytes(arrayOf(cards, version)) };
  }

  /** The entries, whose cards were read. */
  async list(query: DirectoryQuery): Promise<DirectoryPage & { sequence: number }> {
    if (query.skill !== undefined || query.tag !== undefined) await this.readCards();
    const page = await this.#list(query);
    await inSlices(cardsRead(page.entries), LONG_STEPS);
    return page;
  }

  async #list({
    q = "",
    limit,
    cursor,
    ...filters
  }: DirectoryQuery): Promise<DirectoryPage & { sequence: number }> {
    if (q.trim() !== "") return this.#search(q, { ...filters, limit, cursor });
    const { skill, tag, tier } = filters;
    if (skill === undefined && tag === undefined && limit !== undefined) {
      return this.#engine.read(({ directory }, sequence) => ({
        ...tierPage(directory, { tier, limit, cursor }),
        sequence,
      }));
    }
    for (;;) {
      const { from, making, sequence } = await this.#engine.read((state, at) => ({
        from: state,
        making: entriesOf(state.directory, filters),
        sequence: at,
      }));
      const page = entryPage(await inSlices(making), { limit, cursor });
      // They are durable once this is; of a state that was replaced they may never have been.
      if (await this.#engine.read((state) => state === from)) return { ...page, sequence };
    }
  }

  async get(url: string): Promise<EntryDetail & { readonly sequence: number }> {
    const { entry, sequence } = await this.#engine.read(({ directory }, at) => {
      const record = directory.byUrl.get(url);
      return { entry: record && entryAsSeen(record), sequence: at };
    });
    if (!entry) throw refusalError(unknownEntry(url));
    const [served, waiting] = [entry.card, entry.waiting].map(parsed);
    const said = served ?? waiting;
    if (!said) throw new RollcallError("INTERNAL", `the card of ${url} cannot be read`);
    const diff = served && waiting ? diffCards(inFull(served), inFull(waiting)) : null;
    return { entry, prose: proseOf(said), diff, sequence };
  }

  /**
   * Fetches what is at a URL and keeps it until it is removed; rejects when there is nothing.
   * `check` throws where the caller may not add the agent at a URL.
   */
  async add(given: string, by: By, check: (url: string) => void): Promise<DirectoryEntry> {
    const place = httpUrl(given);
    if (!place) throw invalidArgument("url is not an http or https URL");
    const there = await this.#find(given, by);
    const { key } = there.card;
    // An agent's site, or the file of its card, is as good a name for it as the agent's own URL.
    const isOtherName = key !== given && httpUrl(key)?.origin === place.origin;
    if (isOtherName) check(key);
    const own = isOtherName ? await this.#findOwn(there.card) : undefined;
    const found = own ?? there;
    const url = own ? key : given;
    const command = this.#heartbeat({ ...found.card, key: url }, place.origin, {
      source: by.principal.name,
      intervalMs: 0,
      newTokenHash: hashOf(newToken()),
      tokenHash: "",
    });
    await this.#engine.execute(command, by);
    const confirmation = await this.#verifier.confirmation(url, command.card.digest, found);
    await this.#engine.execute(confirmation, ownBy("directory"));
    return (await this.get(url)).entry;
  }

  /** The card at a URL. Only an operator learns why none was found. */
  #find(url: string, { isOperator }: By): Promise<FetchedCard> {
    const said = { key: url, version: "1.0" } as const;
    return this.#verifier.find(said, { tellsWhy: isOperator }).catch((error: unknown) => {
      const cause = error instanceof Error ? error.cause : undefined;
      const why = cause instanceof Error ? `: ${cause.message}` : "";
      throw new RollcallError("UNAVAILABLE", `${url}: ${NO_CARD}${why}`, { cause: error });
    });
  }

  /** The card at the places of its agent, if one there names it: anybody may name any agent. */
  async #findOwn({ key, version }: Card): Promise<FetchedCard | undefined> {
    try {
      const found = await this.#verifier.find({ key, version });
      return speaksFor(found.card, key) ? found : undefined;
    } catch (error) {
      if (codeOf(error) !== "UNAVAILABLE") throw error;
      return undefined;
    }
  }

  async remove(url: string, by: By): Promise<void> {
    await this.#engine.execute({ type: "directory.remove", url }, by);
  }

  /** Fetches its card anew, now; resolves with what it is then. */
  async verify(url: string): Promise<DirectoryEntry> {
    await this.get(url);
    await this.#verifier.verify(url);
    return (await this.get(url)).entry;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await this.#finder.close();
    await this.#verifier.close();
  }

  #heartbeat(
    card: Card,
    origin: string,
    rest: Pick<HeartbeatCommand, "source" | "intervalMs" | "newTokenHash" | "tokenHash">,
  ): HeartbeatCommand {
    const { staleMultiplier = DEFAULT_STALE_MULTIPLIER, cleanupMs = 0 } = this.#options;
    return {
      type: "directory.heartbeat",
      url: card.key,
      origin,
      card: { text: card.text, digest: digestOf(card) },
      staleMultiplier,
      cleanupMs,
      ...rest,
    };
  }

  async #search(q: string, { limit, cursor, ...filters }: DirectoryFilters & DirectoryPageBounds) {
    if (cursor !== undefined) {
      throw invalidArgument("cursor and q exclude each other: q has one page");
    }
    const { directory, sequence } = await this.#engine.read((state, at) => ({
      directory: state.directory,
      sequence: at,
    }));
    await this.#finder.update(directory);
    const total = await inSlices(countOf(directory, filters));
    const wanted = Math.min(limit ?? total, total);
    let entries: DirectoryEntry[] = [];
    // The filters may let none of the best matches through: then all are ranked.
    for (const most of [Math.max(wanted, SEARCH.maxLimit), directory.byUrl.size]) {
      const urls = await this.#finder.rank(q, most);
      entries = await inSlices(firstOf(directory, urls, { filters, wanted }));
      if (entries.length >= wanted || urls.length < most) break;
    }
    return { entries, total, sequence };
  }

  /** Whether it would be another entry if the right token came with this. */
  #mayChange({ url, intervalMs }: Beat): boolean {
    const entry = this.#engine.peek(({ directory }) => directory.byUrl.get(url)?.entry);
    return entry?.isOwned !== true || entry.intervalMs !== intervalMs;
  }

  /** An agent that is served never waits: its answer is the same whatever its new card is. */
  async #answer(url: string, reply: HeartbeatReply, token: string): Promise<HeartbeatAnswer> {
    const { isNew, isServed, mustVerify } = reply;
    const verifying = mustVerify ? this.#verifier.verify(url) : undefined;
    if (verifying && !isServed) await this.#waiting.wait(verifying);
    const verified = isServed || (await this.#isServed(url));
    return { ok: true, verified, retryAfterS: this.#retryAfterS(url), ...(isNew && { token }) };
  }

  async #isServed(url: string): Promise<boolean> {
    return this.#engine.read(({ directory }) => Boolean(directory.byUrl.get(url)?.entry.card));
  }

  #retryAfterS(url: string): number {
    const ttlMs = this.#engine.peek(({ directory }) => directory.byUrl.get(url)?.entry.ttlMs ?? 0);
    return retryAfterS(ttlMs, this.#options.intervalS ?? HEARTBEAT.defaultIntervalS);
  }
}

function parsed(card: CardText | null): Card | undefined {
  const reading = card ? readCard(card.text) : undefined;
  return reading?.ok ? reading.card : undefined;
}

/** As it would be served: what one of two leaves out and the other writes is no difference. */
function inFull(card: Card): Card {
  const reading = readCard(cardAs(card, "1.0"));
  return reading.ok ? reading.card : card;
}

function notHttp({ key }: Card): CardProblem {
  const msg = "Value error, the agent's URL should be http or https, without a user or a password";
  const loc = ["body", "agent_card", "url"];
  return { type: "value_error", loc, msg, input: key.slice(0, 100), ctx: { error: {} } };
}
