/**
 * The directory: agents that others can call, each under its URL with the card that tells what it
 * does. Anybody may say that there is an agent somewhere, so nothing is shown before the card was
 * fetched from that very place; and what was shown stays until another was.
 *
 *   heartbeat                confirm                heartbeat with another card
 *  ───────────▶ unverified ───────────▶ served ─────────────────────────────────▶ served,
 *                 │    ▲                 │  ▲                                      a change waits
 *                 └────┘ doubt           │  └────────────── confirm ─────────────────┘
 *                                        ▼
 *                 silence, or removed: gone, whatever it was
 *
 * Heartbeats that say nothing new are soft, as those of agents are (see agents.ts). The rules for
 * changes are in directory-rules.ts.
 */
import { ownerOf } from "./by.ts";
import { Heap, type Slot } from "./heap.ts";
import { IndexBy } from "./index-by.ts";
import { Holdings } from "./shares.ts";
import { SortedList } from "./sorted-list.ts";
import type { State } from "./state.ts";
import { byText } from "./text.ts";

/** How far an entry can be trusted, the least first. */
export const TIERS = ["unverified", "reachable", "owner", "signed"] as const;

export type Tier = (typeof TIERS)[number];

/** A card as it was sent or fetched, character by character. */
export interface CardText {
  readonly text: string;
  /** Equal for cards that mean the same. */
  readonly digest: string;
}

export interface Verification {
  readonly isConfirmed: boolean;
  readonly atMs: number;
  /** Where the card was fetched from; empty when none was. */
  readonly from: string;
  /** Why not; empty when it was confirmed. */
  readonly reason: string;
}

/** The findings of the verifier about the served card. */
export interface Proof {
  /** It names the URL of the entry as its own: the owner of the site means this entry. */
  readonly isItsOwn: boolean;
  readonly isSigned: boolean;
  /** By which key, or why not; empty for a card without signatures. */
  readonly signature: string;
}

export interface DirectoryEntry {
  readonly url: string;
  /** Scheme, host and port of the URL. */
  readonly origin: string;
  /** The sender of its first heartbeat: the entry counts against the sender's limits. */
  readonly source: string;
  /** The principal of that sender; absent for `local`. */
  readonly owner?: string | undefined;
  readonly tier: Tier;
  /** The served card; null until the first was confirmed. */
  readonly card: CardText | null;
  /** The card of a heartbeat that is not confirmed yet. */
  readonly waiting: CardText | null;
  /** The digest of what heartbeats said when the served card was confirmed. */
  readonly heard: string;
  readonly proof: Proof;
  /** A heartbeat came with the token that was issued to the first sender. */
  readonly isOwned: boolean;
  readonly verification: Verification | null;
  /** 0 for one that stays until it is removed. */
  readonly intervalMs: number;
  /** How long it may be silent. */
  readonly ttlMs: number;
  readonly registeredAtMs: number;
  /** When a heartbeat last said something else than before. */
  readonly changedAtMs: number;
  /** As of the last recorded transition; `seenAtMs` of the record is the true one. */
  readonly lastHeartbeatAtMs: number;
}

export interface DirectoryRecord {
  entry: DirectoryEntry;
  /** Of the token that was issued at first sight; the token itself is nowhere. */
  readonly tokenHash: string;
  /** Soft: moved by heartbeats, not recorded. */
  seenAtMs: number;
  readonly timer: Slot<string>;
}

/** An entry keeps its place while it is here. */
export function byRegistration(a: DirectoryRecord, b: DirectoryRecord): number {
  return a.entry.registeredAtMs - b.entry.registeredAtMs || byText(a.entry.url, b.entry.url);
}

export class Directory {
  readonly byUrl = new Map<string, DirectoryRecord>();
  /** Those of each tier, the first to come first. */
  readonly byTier: Readonly<Record<Tier, SortedList<DirectoryRecord>>> = {
    unverified: new SortedList(byRegistration),
    reachable: new SortedList(byRegistration),
    owner: new SortedList(byRegistration),
    signed: new SortedList(byRegistration),
  };
  readonly bySource = new IndexBy();
  readonly byOrigin = new IndexBy();
  readonly deadlines = new Heap<string>();
  /** The entries of each owner, and the size of their cards. */
  readonly holdings = new Holdings();
  readonly lengths = new Holdings();
  /** The size of the cards of each source. */
  readonly lengthBySource = new Map<string, number>();
  /** Soft: grows whenever another card is served, so that who keeps a listing can tell. */
  revision = 0;
}

export type DirectoryEvent =
  | {
      readonly type: "directory.registered";
      readonly entry: DirectoryEntry;
      readonly tokenHash: string;
    }
  | {
      readonly type:
        | "directory.changed"
        | "directory.refreshed"
        | "directory.verified"
        | "directory.doubted";
      readonly entry: DirectoryEntry;
    }
  | {
      readonly type: "directory.evicted";
      readonly url: string;
      readonly lastHeartbeatAtMs: number;
    }
  | { readonly type: "directory.removed"; readonly url: string };

/** A heartbeat, of any sender, with a card that is known already. */
export interface Beat {
  readonly url: string;
  readonly digest: string;
  readonly intervalMs: number;
}

/** Takes it if that changes nothing but when the entry was last heard of; else it is a command. */
export function refreshEntry({ directory }: State, beat: Beat, nowMs: number): boolean {
  const record = directory.byUrl.get(beat.url);
  if (!record) return false;
  const { card, waiting, heard, intervalMs } = record.entry;
  if (!card || waiting || heard !== beat.digest) return false;
  // A shorter interval is only its owner's to set (see directory-rules.ts), and 0 is nobody's.
  if (beat.intervalMs > intervalMs && intervalMs > 0) return false;
  record.seenAtMs = nowMs;
  return true;
}

/** It was heard of now, whatever it said. */
export function seeEntry({ directory }: State, url: string, nowMs: number): void {
  const record = directory.byUrl.get(url);
  if (record) record.seenAtMs = Math.max(record.seenAtMs, nowMs);
}

/** The entry as it is now, its last heartbeat included. */
export function entryAsSeen({ entry, seenAtMs }: DirectoryRecord): DirectoryEntry {
  return { ...entry, lastHeartbeatAtMs: seenAtMs };
}

/** The size of its cards. */
export function lengthOf({ card, waiting }: Pick<DirectoryEntry, "card" | "waiting">): number {
  return (card?.text.length ?? 0) + (waiting?.text.length ?? 0);
}

export function evolveDirectory(state: State, event: DirectoryEvent): void {
  const { directory } = state;
  switch (event.type) {
    case "directory.registered":
      restoreEntry(state, event);
      return;
    case "directory.changed":
    case "directory.refreshed":
    case "directory.verified":
    case "directory.doubted": {
      const record = known(directory, event.entry.url);
      weigh(directory, event.entry, lengthOf(event.entry) - lengthOf(record.entry));
      if (record.entry.card !== event.entry.card) directory.revision += 1;
      const isMoved = record.entry.tier !== event.entry.tier;
      if (isMoved) directory.byTier[record.entry.tier].delete(record);
      record.entry = event.entry;
      if (isMoved) directory.byTier[record.entry.tier].add(record);
      record.seenAtMs = Math.max(record.seenAtMs, event.entry.lastHeartbeatAtMs);
      if (event.entry.intervalMs === 0) directory.deadlines.remove(record.timer);
      else directory.deadlines.move(record.timer, deadlineOf(state, record));
      return;
    }
    case "directory.evicted":
    case "directory.removed": {
      const record = known(directory, event.url);
      const { entry, timer } = record;
      directory.byTier[entry.tier].delete(record);
      if (entry.card) directory.revision += 1;
      directory.deadlines.remove(timer);
      directory.byUrl.delete(entry.url);
      directory.bySource.delete(entry.source, entry.url);
      directory.byOrigin.delete(entry.origin, entry.url);
      directory.holdings.remove(ownerOf(entry));
      weigh(directory, entry, -lengthOf(entry));
      return;
    }
  }
}

/** An entry with its token's hash: what a snapshot keeps of it. */
export type KeptEntry = Pick<DirectoryRecord, "entry" | "tokenHash">;

export function restoreEntry({ directory }: State, { entry, tokenHash }: KeptEntry): void {
  const { url, source, origin, lastHeartbeatAtMs: seenAtMs } = entry;
  const timer = directory.deadlines.add(seenAtMs + entry.ttlMs, url);
  if (entry.intervalMs === 0) directory.deadlines.remove(timer);
  const record = { entry, tokenHash, seenAtMs, timer };
  directory.byUrl.set(url, record);
  directory.byTier[entry.tier].add(record);
  if (entry.card) directory.revision += 1;
  directory.bySource.add(source, url);
  directory.byOrigin.add(origin, url);
  directory.holdings.add(ownerOf(entry));
  weigh(directory, entry, lengthOf(entry));
}

function weigh({ lengths, lengthBySource }: Directory, entry: DirectoryEntry, by: number): void {
  const { source } = entry;
  lengths.add(ownerOf(entry), by);
  const length = (lengthBySource.get(source) ?? 0) + by;
  if (length === 0) lengthBySource.delete(source);
  else lengthBySource.set(source, length);
}

function known(directory: Directory, url: string): DirectoryRecord {
  const record = directory.byUrl.get(url);
  if (!record) throw new Error(`the log speaks of entry ${url} before it was registered`);
  return record;
}

function deadlineOf({ graceFromMs }: State, { entry, seenAtMs }: DirectoryRecord): number {
  return Math.max(seenAtMs, graceFromMs) + entry.ttlMs;
}

export function dueEntry({ deadlines }: Directory): number | undefined {
  return deadlines.nextAt();
}

/** The eviction of one that was silent for too long; nothing when its timer rang early. */
export function expireEntry(state: State, nowMs: number): readonly DirectoryEvent[] {
  const { directory } = state;
  const timer = directory.deadlines.takeDue(nowMs);
  const record = timer && directory.byUrl.get(timer.value);
  if (!record) return [];
  const deadlineMs = deadlineOf(state, record);
  if (deadlineMs > nowMs) {
    directory.deadlines.move(record.timer, deadlineMs);
    return [];
  }
  const { entry, seenAtMs } = record;
  return [{ type: "directory.evicted", url: entry.url, lastHeartbeatAtMs: seenAtMs }];
}
