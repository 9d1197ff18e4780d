/**
 * The audit trail: one stream of the log's store, `audit`, kept for 90 days and in a bounded number
 * of entries.
 *
 *   done    goes with the batch of the events that it brought about, in one commit
 *   denied  is written within a second, and what repeats it is counted and written after a minute:
 *           a flood of one caller is two entries a minute, and no caller waits for it
 *
 * What is counted and not written yet is lost in a crash; readers see it before it is written.
 */
import type { AuditEntry } from "../core/audit.ts";
import { ITSELF, type By, type RecordedBy } from "../core/by.ts";
import type { Clock } from "../core/clock.ts";
import { asLine } from "../core/fields.ts";
import { AUDIT } from "../core/limits.ts";
import type { Streams } from "../log/streams.ts";
import type { StreamWriter } from "./committer.ts";

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

/** Counted since it was last written. */
type Denial = { -readonly [Field in keyof AuditEntry]: AuditEntry[Field] };

export class Audit implements StreamWriter {
  readonly stream = STREAM;
  readonly #options: AuditOptions;
  readonly #startedAtMs: number;
  #gathering: string[] = [];
  /** By principal and action. */
  readonly #denials = new Map<string, Denial>();
  #stopCounting: () => void = () => undefined;
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
    const isFull = this.#denials.size >= AUDIT.denials;
    const key = isFull ? "" : `${by.principal.name}\n${action}`;
    const known = this.#denials.get(key);
    const { clock } = this.#options;
    if (known) {
      if (known.count === 0) known.atMs = clock.wallMs();
      known.count += 1;
      return;
    }
    if (this.#denials.size === 0) this.#countFromNow();
    this.#denials.set(key, {
      atMs: clock.wallMs(),
      by: isFull ? recorded(ITSELF) : recorded(by),
      action: isFull ? "" : action,
      target: isFull ? "" : asLine(target, AUDIT.targetLength),
      outcome: "denied",
      count: 1,
      reason: asLine(isFull ? "more callers than are told apart" : reason, AUDIT.reasonLength),
    });
    this.#writeSoon();
  }

  async list({ by, action = "", sinceMs = 0, limit }: AuditQuery): Promise<AuditPage> {
    const { streams } = this.#options;
    const { oldest } = await streams.range(STREAM);
    const found: AuditEntry[] = [];
    let reachesBackToMs = this.#startedAtMs;
    for await (const { first, entries } of streams.read(STREAM, oldest - 1)) {
      const read = entries.map((text) => JSON.parse(text) as AuditEntry);
      if (first === oldest) reachesBackToMs = Math.min(reachesBackToMs, read[0]?.atMs ?? Infinity);
      found.push(...read);
    }
    const wanted = [...found, ...this.#unwritten()].filter(
      (entry) =>
        entry.atMs >= sinceMs &&
        entry.action.startsWith(action) &&
        (by === undefined || entry.by.principal === by),
    );
    const entries = wanted.toSorted((a, b) => b.atMs - a.atMs).slice(0, limit);
    return { entries, reachesBackToMs };
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
    this.#stopCounting();
    this.#stopSoon();
    await this.#write();
  }

  /** For a minute; then everything is new again. */
  #countFromNow(): void {
    this.#stopCounting = this.#options.clock.after(AUDIT.countedMs, () => {
      void this.#write();
      this.#denials.clear();
    });
  }

  #writeSoon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#stopSoon = this.#options.clock.after(AUDIT.writtenMs, () => {
      this.#isSoon = false;
      void this.#write();
    });
  }

  #unwritten(): readonly Denial[] {
    return [...this.#denials.values()].filter(({ count }) => count > 0);
  }

  async #write(): Promise<void> {
    const unwritten = this.#unwritten();
    const entries = unwritten.map((denial) => JSON.stringify(denial));
    for (const denial of unwritten) denial.count = 0;
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
