/**
 * The list of all cards as the bytes that are sent. A registry is read far more often than it
 * changes, so the bytes are kept, packed and unpacked, until another card is served; what is made
 * anew then is the list, and not its cards.
 */
import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ListedVersion } from "./cards/versions.ts";
import type { CardText, Directory } from "../core/directory.ts";
import type { State } from "../core/state.ts";
import { shownCardOf } from "./shown-card.ts";

const pack = promisify(gzip);

export class ListingBytes {
  readonly body: Buffer;
  /** Equal for equal bytes, whenever and wherever they were made. */
  readonly etag: string;
  #packed: Promise<Buffer> | undefined;

  constructor(body: Buffer) {
    this.body = body;
    this.etag = `"${hash("sha256", body, "base64url").slice(0, 27)}"`;
  }

  /** Once, away from the loop, however many wait for it. */
  get packed(): Promise<Buffer> {
    this.#packed ??= pack(this.body, { level: 6 });
    return this.#packed;
  }
}

interface CachedListing {
  readonly directory: Directory;
  readonly revision: number;
  readonly listing: ListingBytes;
}

export class Listing {
  readonly #kept = new Map<ListedVersion, CachedListing>();

  /** All that is served. */
  of({ directory }: State, version: ListedVersion): ListingBytes {
    const kept = this.#kept.get(version);
    const { revision } = directory;
    if (kept?.directory === directory && kept.revision === revision) return kept.listing;
    const listing = new ListingBytes(arrayOf(servedCards(directory), version));
    // Another revision of the same cards: keep the bytes, packed or not.
    const isSame = kept?.listing.etag === listing.etag;
    const next = isSame ? kept.listing : listing;
    this.#kept.set(version, { directory, revision, listing: next });
    return next;
  }
}

function* servedCards(directory: Directory): Generator<CardText> {
  for (const { entry } of directory.byUrl.values()) if (entry.card) yield entry.card;
}

/** A JSON array of these cards. */
export function arrayOf(cards: Iterable<CardText>, version: ListedVersion): Buffer {
  const parts: Buffer[] = [];
  for (const card of cards)
    parts.push(parts.length === 0 ? OPEN : COMMA, shownCardOf(card).bytes[version]);
  return Buffer.concat(parts.length === 0 ? [OPEN, CLOSE] : [...parts, CLOSE]);
}

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");
