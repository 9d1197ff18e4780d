/**
 * The rules for changes of the directory (see directory.ts for the life of an entry).
 *
 * - Anybody may send a heartbeat for any URL: it says that something is there, and what it is said
 *   to be. It never changes what is served.
 * - What is served comes from the place itself: only a card that was fetched there is confirmed.
 *   Not even the token helps: anybody may be the first to name a URL, so the token proves who
 *   registered the entry, not who owns the site.
 * - The token raises a reachable entry to `owner`, and lets the interval and the waiting card
 *   change at any time. Without it a change waits for a while after the last, or a stranger could
 *   make us fetch without end; and the interval only grows, for the source that registered the
 *   entry and until somebody shows the token: a stranger who gave it a very short one would have
 *   it evicted. (All programs of a machine are one source.)
 */
import { newOwner, ownerOf } from "./by.ts";
import { decided, refuse, type Decision, type Moment, type Refusal } from "./decide.ts";
import {
  lengthOf,
  type CardText,
  type DirectoryEntry,
  type DirectoryEvent,
  type DirectoryRecord,
  type Proof,
  type Tier,
} from "./directory.ts";
import { CARD, HEARTBEAT } from "./card-limits.ts";
import { count, invalid, key, line, tooLong, type Problem } from "./fields.ts";
import { COUNT, DIRECTORY } from "./limits.ts";
import { beyondShare, isCrowded, SHARED, wishOf } from "./shares.ts";
import type { State } from "./state.ts";

export interface HeartbeatCommand {
  readonly type: "directory.heartbeat";
  readonly url: string;
  readonly origin: string;
  readonly source: string;
  readonly card: CardText;
  /** 0 for an entry that stays until it is removed. */
  readonly intervalMs: number;
  /** After how many intervals of silence it goes. */
  readonly staleMultiplier: number;
  /** How much longer it stays then; without it, not at all. */
  readonly cleanupMs?: number;
  /** Of the token that is issued if this is its first sight. */
  readonly newTokenHash: string;
  /** Of the token that came with it; empty without one. */
  readonly tokenHash: string;
}

export interface ConfirmCommand {
  readonly type: "directory.confirm";
  readonly url: string;
  /** The digest of what heartbeats said when the fetch began. */
  readonly heard: string;
  readonly card: CardText;
  readonly from: string;
  readonly proof: Proof;
}

export type DirectoryCommand =
  | HeartbeatCommand
  | ConfirmCommand
  | { readonly type: "directory.doubt"; readonly url: string; readonly reason: string }
  | { readonly type: "directory.remove"; readonly url: string };

export interface HeartbeatReply {
  /** Whether the new token was issued. */
  readonly isNew: boolean;
  readonly tier: Tier;
  readonly isServed: boolean;
  /** There is a card that nobody has confirmed. */
  readonly mustVerify: boolean;
}

export interface DirectoryReplies {
  "directory.heartbeat": HeartbeatReply;
  /** Whether anything is another than before. */
  "directory.confirm": { readonly isNew: boolean };
  "directory.doubt": { readonly isNew: boolean };
  "directory.remove": null;
}

type DirectoryReply = DirectoryReplies[keyof DirectoryReplies];

export function decideDirectory(
  state: State,
  command: DirectoryCommand,
  moment: Moment,
): Decision<DirectoryEvent, DirectoryReply> {
  const { nowMs } = moment;
  if (command.type === "directory.heartbeat") return hear(state, command, moment);
  const record = state.directory.byUrl.get(command.url);
  if (!record) return unknownEntry(command.url);
  switch (command.type) {
    case "directory.confirm":
      return confirm(state, record, confirmed(record, command, nowMs));
    case "directory.doubt":
      return doubt(record, command.reason, nowMs);
    case "directory.remove":
      return decided([{ type: "directory.removed", url: command.url }], null);
  }
}

export function unknownEntry(url: string): Refusal {
  return (
    invalid(key("url", url, DIRECTORY.urlLength)) ??
    refuse("NOT_FOUND", `no agent in the directory has the URL ${url}`)
  );
}

function hear(
  state: State,
  command: HeartbeatCommand,
  moment: Moment,
): Decision<DirectoryEvent, HeartbeatReply> {
  const refusal = invalid(...problemsOf(command));
  if (refusal) return refusal;
  const record = state.directory.byUrl.get(command.url);
  if (!record) return register(state, command, moment);
  const { nowMs } = moment;
  const before = record.entry;
  const isOwner = command.tokenHash !== "" && command.tokenHash === record.tokenHash;
  const waiting = waitingAfter(before, command.card, { isOwner, nowMs });
  const isOwned = before.isOwned || isOwner;
  const entry: DirectoryEntry = {
    ...before,
    waiting,
    isOwned,
    tier: tierOf({ ...before, isOwned }),
    ...timesAfter(before, command, isOwner),
    ...(waiting !== before.waiting && { changedAtMs: nowMs }),
    lastHeartbeatAtMs: nowMs,
  };
  const full = tooHeavy(state, entry, lengthOf(entry) - lengthOf(before));
  if (full) return full;
  const isRefreshed =
    entry.intervalMs !== before.intervalMs ||
    entry.ttlMs !== before.ttlMs ||
    isOwned !== before.isOwned;
  const reply = replyFor(entry, false);
  if (waiting !== before.waiting) return decided([{ type: "directory.changed", entry }], reply);
  return decided(isRefreshed ? [{ type: "directory.refreshed", entry }] : [], reply);
}

/** The card that waits to be confirmed, after a heartbeat with this one. */
function waitingAfter(
  { card, waiting, heard, changedAtMs }: DirectoryEntry,
  said: CardText,
  { isOwner, nowMs }: { readonly isOwner: boolean; readonly nowMs: number },
): CardText | null {
  if (card && said.digest === heard) return null;
  if (waiting?.digest === said.digest) return waiting;
  const isSoon = nowMs - changedAtMs < DIRECTORY.changeMs;
  return isSoon && !isOwner ? waiting : said;
}

function register(
  state: State,
  command: HeartbeatCommand,
  { nowMs, by }: Moment,
): Decision<DirectoryEvent, HeartbeatReply> {
  const { url, origin, source, card, newTokenHash: tokenHash } = command;
  const entry: DirectoryEntry = {
    url,
    origin,
    source,
    owner: newOwner(by),
    tier: "unverified",
    card: null,
    waiting: card,
    heard: "",
    proof: { isItsOwn: false, isSigned: false, signature: "" },
    isOwned: false,
    verification: null,
    ...timesOf(command),
    registeredAtMs: nowMs,
    changedAtMs: nowMs,
    lastHeartbeatAtMs: nowMs,
  };
  const full = noRoomFor(state, entry);
  if (full) return full;
  return decided([{ type: "directory.registered", entry, tokenHash }], replyFor(entry, true));
}

function noRoomFor(state: State, entry: DirectoryEntry): Refusal | undefined {
  const { source } = entry;
  const { holdings, bySource } = state.directory;
  const full = beyondShare(SHARED.entries, wishOf(holdings, ownerOf(entry)));
  if (full) return full;
  if (bySource.of(source).size >= COUNT.entriesPerSource) {
    const many = `${COUNT.entriesPerSource} agents in the directory`;
    return refuse("LIMIT_EXCEEDED", `source ${source} already has ${many}`);
  }
  return crowdedOrigin(state, entry) ?? tooHeavy(state, entry, lengthOf(entry));
}

function crowdedOrigin({ directory }: State, entry: DirectoryEntry): Refusal | undefined {
  const urls = directory.byOrigin.of(entry.origin);
  if (!isCrowded(SHARED.entriesPerOrigin, urls.size)) return undefined;
  const owner = ownerOf(entry);
  let own = 0;
  for (const url of urls) {
    const other = directory.byUrl.get(url)?.entry;
    if (other && ownerOf(other) === owner) own += 1;
  }
  return beyondShare(SHARED.entriesPerOrigin, { owner, own, total: urls.size });
}

/** The entry with the card that was fetched for it. */
function confirmed(
  { entry: before, seenAtMs }: DirectoryRecord,
  { heard, card: fetched, from, proof }: ConfirmCommand,
  nowMs: number,
): DirectoryEntry {
  const card = before.card?.digest === fetched.digest ? before.card : fetched;
  return {
    ...before,
    card,
    // A heartbeat during the fetch may have brought another card than the fetched one.
    waiting: before.waiting?.digest === heard ? null : before.waiting,
    heard,
    proof,
    tier: tierOf({ ...before, card, proof }),
    verification: { isConfirmed: true, atMs: nowMs, from, reason: "" },
    lastHeartbeatAtMs: seenAtMs,
  };
}

function confirm(
  state: State,
  { entry: before }: DirectoryRecord,
  entry: DirectoryEntry,
): Decision<DirectoryEvent, { readonly isNew: boolean }> {
  const refusal =
    invalid(
      tooLong("the fetched card", entry.card?.text ?? "", CARD.bytes),
      line("signature", entry.proof.signature, DIRECTORY.reasonLength),
    ) ?? tooHeavy(state, entry, lengthOf(entry) - lengthOf(before));
  if (refusal) return refusal;
  const isNew =
    entry.card !== before.card ||
    entry.waiting !== before.waiting ||
    entry.heard !== before.heard ||
    entry.tier !== before.tier ||
    entry.proof.signature !== before.proof.signature ||
    before.verification?.isConfirmed !== true;
  return decided(isNew ? [{ type: "directory.verified", entry }] : [], { isNew });
}

/** The last confirmed card goes on being served. */
function doubt(
  { entry: before, seenAtMs }: DirectoryRecord,
  reason: string,
  nowMs: number,
): Decision<DirectoryEvent, { readonly isNew: boolean }> {
  const refusal = invalid(line("reason", reason, DIRECTORY.reasonLength));
  if (refusal) return refusal;
  const last = before.verification;
  // Every heartbeat of one that cannot be reached ends here: only the first is worth a record.
  if (last && !last.isConfirmed && last.reason === reason) return decided([], { isNew: false });
  const verification = { isConfirmed: false, atMs: nowMs, from: "", reason };
  const entry: DirectoryEntry = { ...before, verification, lastHeartbeatAtMs: seenAtMs };
  return decided([{ type: "directory.doubted", entry }], { isNew: true });
}

function tierOf({
  card,
  proof,
  isOwned,
}: Pick<DirectoryEntry, "card" | "proof" | "isOwned">): Tier {
  if (!card) return "unverified";
  if (proof.isSigned && proof.isItsOwn) return "signed";
  return proof.isItsOwn || isOwned ? "owner" : "reachable";
}

/** How often it speaks, and how long it may be silent, once this was heard. */
function timesAfter(before: DirectoryEntry, command: HeartbeatCommand, isOwner: boolean) {
  const { intervalMs, ttlMs, isOwned, source } = before;
  const asked = timesOf(command);
  const isLonger = asked.intervalMs === 0 || asked.intervalMs >= intervalMs;
  const mayLengthen = !isOwned && command.source === source && isLonger;
  const isByHand = intervalMs === 0;
  return !isByHand && (isOwner || mayLengthen) ? asked : { intervalMs, ttlMs };
}

function timesOf({ intervalMs: asked, staleMultiplier, cleanupMs = 0 }: HeartbeatCommand) {
  if (asked === 0) return { intervalMs: 0, ttlMs: 0 };
  const { minIntervalS, maxIntervalS } = HEARTBEAT;
  const intervalMs = Math.min(Math.max(asked, minIntervalS * 1000), maxIntervalS * 1000);
  return { intervalMs, ttlMs: intervalMs * staleMultiplier + cleanupMs };
}

/**
 * In how many seconds an agent shall send its next heartbeat: as the operator wishes, but thrice
 * within the time after which it is evicted, so that two may be lost. `ttlMs` 0 is for ever.
 */
export function retryAfterS(ttlMs: number, wishedS: number): number {
  if (ttlMs === 0) return wishedS;
  return Math.min(wishedS, Math.max(HEARTBEAT.minIntervalS, Math.floor(ttlMs / 3000)));
}

function replyFor({ tier, card, waiting }: DirectoryEntry, isNew: boolean): HeartbeatReply {
  return { isNew, tier, isServed: card !== null, mustVerify: waiting !== null };
}

/** A card counts against the owner of its entry, also when another caller sent it. */
function tooHeavy({ directory }: State, entry: DirectoryEntry, more: number): Refusal | undefined {
  if (more <= 0) return undefined;
  const { source } = entry;
  const most = COUNT.entryLengthPerSource;
  if ((directory.lengthBySource.get(source) ?? 0) + more > most) {
    return refuse("LIMIT_EXCEEDED", `the cards of ${source} would exceed ${most} characters`);
  }
  return beyondShare(SHARED.entryLength, wishOf(directory.lengths, ownerOf(entry), more));
}

function problemsOf(command: HeartbeatCommand): Problem[] {
  const { url, origin, source, card, intervalMs, staleMultiplier, cleanupMs = 0 } = command;
  return [
    key("url", url, DIRECTORY.urlLength),
    key("origin", origin, DIRECTORY.urlLength),
    key("source", source, DIRECTORY.sourceLength),
    tooLong("card", card.text, CARD.bytes),
    count("intervalMs", intervalMs, Number.MAX_SAFE_INTEGER),
    count("staleMultiplier", staleMultiplier, DIRECTORY.staleMultiplierMost),
    count("cleanupMs", cleanupMs, DIRECTORY.cleanupMsMost),
  ];
}
