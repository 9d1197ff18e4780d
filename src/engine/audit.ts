/**
 * The audit trail: one stream of the log's store, `audit`, kept for 90 days and in a bounded number
 * of entries.
 *
 *   done    goes with the batch of the events that it brought about, in one commit
 *   denied  is written within a second, and what repeats it is counted and written after a minute:
 *           a flood of one caller is two entries a minute, and no caller waits for it. One that
 *           comes from ever other peers is twelve: the rest of a minute is one entry. Strangers
 *           are counted for an hour, so that they cannot push out what is known of others
 *
 * Denials that are counted but not written yet are lost in a crash; readers see them before that.
 */
import type { AuditEntry } from "../core/audit.ts";
import type { By, RecordedBy } from "../core/by.ts";
import type { Clock } from "../core/clock.ts";
import { asLine } from "../core/fields.ts";
import { AUDIT } from "../core/limits.ts";
import { NOBODY } from "../core/principals.ts";
import { isLoopback } from "../net/loopback.ts";
import type { Streams } from "../log/streams.ts";
import type { StreamWriter } from "./batch.ts";
import { Denials } from "./denials.ts";

const STREAM = "audit";

export interface AuditOptions {
  readonly streams: Streams;
  readonly clock: Clock;
  readonly onTrouble?: (what: string, error: unknown) => void;
}

/** Something that a caller asked for. */
export interface AuditedAct {
  readonly by: By;
  readonly action: string;
  readonly target: string;
}

export interface AuditQuery {
  /** The name of a principal. */
  readonly by?: string | undefined;
  /** The beginning of an action. */
  readonly action?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly limit: number;
}

export interface AuditPage {
  /** The newest first. */
  readonly entries: readonly AuditEntry[];
  /** Nothing that happened before is kept. */
  readonly reachesBackToMs: number;
}

export class Audit implements StreamWriter {
  readonly stream = STREAM;
  readonly #options: AuditOptions;
  readonly #startedAtMs: number;
  #gathering: string[] = [];
  /** By wire, peer, principal and action. */
  readonly #denials: Denials;
  /** The same of callers that nobody knows, also by the reason. */
  readonly #strangers: Denials;
  /** Acts of operators for others that repeat, and are noted once. */
  readonly #noted = new Set<string>();
  #stopSoon: () => void = () => undefined;
  #isSoon = false;
  /** Entries that were written since the last trim, and when that was. */
  #untrimmed = 0;
  #trimmedAtMs: number;
  #isClosed = false;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.wallMs();
    this.#trimmedAtMs = this.#startedAtMs;
    const { clock } = options;
    const onEnd = () => void this.#write();
    const { countedMs, denials: most, denialsOfOne: mostOfOne, strangersMs, strangers } = AUDIT;
    this.#denials = new Denials({ clock, countedMs, most, mostOfOne, onEnd });
    this.#strangers = new Denials({ clock, countedMs: strangersMs, most: strangers, onEnd });
  }

  /** A term of leading begins: what the one before gathered and did not write never happened. */
  begin(): void {
    this.#gathering = [];
  }

  /** Adds what was done to the open batch of whoever calls; gives its length. */
  done(act: AuditedAct, atMs: number): number {
    const text = doneText(act, atMs);
    this.#gathering.push(text);
    return text.length;
  }

  /** Something that the daemon did by itself, at once. */
  async note(act: AuditedAct): Promise<void> {
    const text = doneText(act, this.#options.clock.wallMs());
    await this.#options.streams.append(STREAM, [text]);
  }

  /** Something that leaves no event and is done again and again: the first time. */
  noteOnce(act: AuditedAct): void {
    const key = `${act.by.principal.name}\n${act.action}\n${act.target}`;
    if (this.#noted.size >= AUDIT.noted || this.#noted.has(key)) return;
    this.#noted.add(key);
    this.note(act).catch((error: unknown) => {
      this.#noted.delete(key);
      this.#options.onTrouble?.("an act for another was not written to the audit", error);
    });
  }

  take(): readonly string[] {
    const gathered = this.#gathering;
    this.#gathering = [];
    this.#untrimmed += gathered.length;
    return gathered;
  }

  onDurable(): void {
    this.#trimInTime().catch((error: unknown) => {
      this.#options.onTrouble?.("the audit was not trimmed", error);
    });
  }

  denied({ by, action, target }: AuditedAct, reason: string): void {
    if (this.#isClosed) return;
    const isStranger = by.principal === NOBODY;
    // A caller of this machine may come from any address of the loopback range.
    const peer = isLoopback(by.peer) ? "127.0.0.1" : by.peer;
    const facts = {
      by: { ...recorded(by), peer },
      action,
      target: asLine(target, AUDIT.targetLength),
      reason: asLine(reason, AUDIT.reasonLength),
    };
    const kind = `${by.wire},${peer},${by.principal.name}\n${action}`;
    const isFirst = isStranger
      ? this.#strangers.add(`${kind}\n${facts.reason}`, facts)
      : this.#denials.add(kind, facts);
    if (isFirst) this.#writeSoon();
  }

  /** A page of the stream at a time: others are served between. */
  async list({ by, action = "", sinceMs = 0, limit }: AuditQuery): Promise<AuditPage> {
    const { streams, clock } = this.#options;
    const { oldest } = await streams.range(STREAM);
    const isWanted = (entry: AuditEntry) =>
      entry.atMs >= sinceMs &&
      entry.action.startsWith(action) &&
      (by === undefined || entry.by.principal === by);
    const newest = (entries: readonly AuditEntry[]) =>
      entries.toSorted((a, b) => b.atMs - a.atMs).slice(0, limit);
    let found: AuditEntry[] = [];
    let reachesBackToMs = this.#startedAtMs;
    for await (const { first, entries } of streams.read(STREAM, oldest - 1)) {
      for (let at = 0; at < entries.length; at += AUDIT.readAtOnce) {
        const read = entries
          .slice(at, at + AUDIT.readAtOnce)
          .map((text) => JSON.parse(text) as AuditEntry);
        if (first === oldest && at === 0) {
          reachesBackToMs = Math.min(reachesBackToMs, read[0]?.atMs ?? Infinity);
        }
        found.push(...read.filter(isWanted));
        if (found.length > 2 * limit) found = newest(found);
        await new Promise<void>((resolve) => clock.soon(resolve));
      }
    }
    return { entries: newest([...found, ...this.#unwritten().filter(isWanted)]), reachesBackToMs };
  }

  /** Forgets what is too old, and what is too much. */
  async trim(): Promise<void> {
    const { streams, clock } = this.#options;
    this.#untrimmed = 0;
    this.#trimmedAtMs = clock.wallMs();
    const { oldest, head } = await streams.range(STREAM);
    const beforeMs = clock.wallMs() - AUDIT.keptMs;
    let through = head - AUDIT.entries;
    for await (const { first, entries } of streams.read(STREAM, oldest - 1)) {
      const kept = entries.findIndex((text) => (JSON.parse(text) as AuditEntry).atMs >= beforeMs);
      through = Math.max(through, first + (kept === -1 ? entries.length : kept) - 1);
      if (kept !== -1) break;
    }
    if (through >= oldest) await streams.trim(STREAM, through);
  }

  /** It is never much longer, nor much older, than it may be. */
  async #trimInTime(): Promise<void> {
    const sinceMs = this.#options.clock.wallMs() - this.#trimmedAtMs;
    if (this.#untrimmed >= AUDIT.trimmedEvery || sinceMs >= AUDIT.trimmedMs) await this.trim();
  }

  /** Writes what was counted. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#denials.close();
    this.#strangers.close();
    this.#stopSoon();
    await this.#write();
  }

  #writeSoon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#stopSoon = this.#options.clock.after(AUDIT.writtenMs, () => {
      this.#isSoon = false;
      void this.#write();
    });
  }

  #unwritten(): readonly AuditEntry[] {
    return [...this.#denials.untaken, ...this.#strangers.untaken];
  }

  async #write(): Promise<void> {
    const unwritten = [...this.#denials.take(), ...this.#strangers.take()];
    const entries = unwritten.map((denial) => JSON.stringify(denial));
    if (entries.length === 0) return;
    try {
      this.#untrimmed += entries.length;
      await this.#options.streams.append(STREAM, entries);
      await this.#trimInTime();
    } catch (error) {
      this.#options.onTrouble?.("denials were not written to the audit", error);
    }
  }
}

function recorded({ principal, wire, peer }: By): RecordedBy {
  return { principal: principal.name, wire, peer };
}

function doneText({ by, action, target }: AuditedAct, atMs: number): string {
  return JSON.stringify({
    atMs,
    by: recorded(by),
    action,
    target: asLine(target, AUDIT.targetLength),
    outcome: "done",
    count: 1,
    reason: "",
  } satisfies AuditEntry);
}
