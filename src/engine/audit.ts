/**
 * The audit trail: one stream of the log's store, `audit`, kept for 90 days and in a bounded number
 * of entries.
 *
 *   done    goes with the batch of the events that it brought about, in one commit
 *   denied  is counted for a minute and then written: a flood of one caller is one entry a minute,
 *           and no caller waits for it
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

type Denial = { -readonly [Field in keyof AuditEntry]: AuditEntry[Field] };

export class Audit implements StreamWriter {
  readonly stream = STREAM;
  readonly #options: AuditOptions;
  readonly #startedAtMs: number;
  #gathering: string[] = [];
  /** By principal and action. */
  readonly #denials = new Map<string, Denial>();
  #stopTimer: () => void = () => undefined;
  #isTimed = false;
  #isClosed = false;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.wallMs();
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
    return gathered;
  }

  onDurable(): void {}

  denied({ by, action, target }: AuditedAct, reason: string): void {
    if (this.#isClosed) return;
    const isFull = this.#denials.size >= AUDIT.denials;
    const key = isFull ? "" : `${by.principal.name}\n${action}`;
    const known = this.#denials.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    this.#denials.set(key, {
      atMs: this.#options.clock.wallMs(),
      by: isFull ? recorded(ITSELF) : recorded(by),
      action: isFull ? "" : action,
      target: isFull ? "" : asLine(target, AUDIT.targetLength),
      outcome: "denied",
      count: 1,
      reason: asLine(isFull ? "more callers than are told apart" : reason, AUDIT.reasonLength),
    });
    this.#writeLater();
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
    const wanted = [...found, ...this.#denials.values()].filter(
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

  /** Writes what was counted. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#write();
  }

  #writeLater(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#stopTimer = this.#options.clock.after(AUDIT.countedMs, () => {
      this.#isTimed = false;
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    const entries = Array.from(this.#denials.values(), (denial) => JSON.stringify(denial));
    this.#denials.clear();
    if (entries.length === 0) return;
    try {
      await this.#options.streams.append(STREAM, entries);
      await this.trim();
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
