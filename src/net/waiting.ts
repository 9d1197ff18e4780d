/**
 * Bytes that the doors hold for others: requests that have not come whole, and answers that were
 * not read yet. Each kind is counted for the whole process and has its limits.
 *
 *            more came │ some was taken: the time begins anew
 *   held ◀─────────────┴──┐
 *     ├───────────────────┘
 *     ├── came whole, was taken, is gone ──▶ released
 *     └── too long, too much for one, or all is full and it is its turn ──▶ cut
 *
 * When all is full it is not the newcomer that goes: an honest client is done in a moment, and
 * would be kept out by those that are never done. It is the one that has waited longest among
 * those that hold at least the average, so that a slow reader of little is left alone.
 */
import type { Clock } from "../core/clock.ts";
import { ShortLivedMap } from "../core/short-lived-map.ts";
import { KIB, MIB, SECOND } from "../core/units.ts";
import { systemClock } from "../machine/clock.ts";

export interface WaitingLimits {
  /** Of all together. */
  readonly bytes: number;
  /** Of one. */
  readonly eachBytes: number;
  /** How long one may wait in which nothing is taken from what it holds. */
  readonly ms: number;
}

export type CutReason = "late" | "full";

export interface Waiter {
  /** It must let go of what it holds, now. It is not counted any more. */
  cut(reason: CutReason, limits: WaitingLimits): void;
}

interface WaitingEntry {
  bytes: number;
  sinceMs: number;
}

export class WaitingBytes {
  readonly limits: WaitingLimits;
  readonly #clock: Pick<Clock, "monotonicMs" | "after">;
  /** The one that has waited longest first. */
  readonly #entries = new ShortLivedMap<Waiter, WaitingEntry>();
  #stopLooking: (() => void) | undefined;
  #bytes = 0;
  /** Since the start, for metrics. */
  cuts = 0;

  constructor(limits: WaitingLimits, clock: Pick<Clock, "monotonicMs" | "after"> = systemClock) {
    this.limits = limits;
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** It holds so many bytes now, all in all. Cuts it, or others, where that is too much. */
  hold(waiter: Waiter, bytes: number): void {
    const entry = this.#entries.get(waiter) ?? this.#add(waiter);
    const isProgress = bytes < entry.bytes;
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    if (isProgress) this.#renew(waiter, entry);
    else if (bytes > this.limits.eachBytes) this.#cut(waiter, "full");
    else if (this.#bytes > this.limits.bytes) this.#makeRoom();
  }

  release(waiter: Waiter): void {
    this.#bytes -= this.#entries.get(waiter)?.bytes ?? 0;
    this.#entries.delete(waiter);
  }

  /** Leaves no timer behind. */
  close(): void {
    this.#stopLooking?.();
    this.#entries.clear();
    this.#bytes = 0;
  }

  #add(waiter: Waiter): WaitingEntry {
    const entry = { bytes: 0, sinceMs: this.#clock.monotonicMs() };
    this.#entries.set(waiter, entry);
    if (this.limits.ms !== Infinity) this.#stopLooking ??= this.#lookIn(this.limits.ms);
    return entry;
  }

  #renew(waiter: Waiter, entry: WaitingEntry): void {
    entry.sinceMs = this.#clock.monotonicMs();
    this.#entries.delete(waiter);
    this.#entries.set(waiter, entry);
  }

  #makeRoom(): void {
    for (const [waiter, { bytes }] of this.#entries.entries()) {
      if (this.#bytes <= this.limits.bytes) return;
      if (bytes * this.#entries.size >= this.#bytes) this.#cut(waiter, "full");
    }
  }

  #cut(waiter: Waiter, reason: CutReason): void {
    // One that was cut before may have let go of it.
    if (!this.#entries.has(waiter)) return;
    this.release(waiter);
    this.cuts += 1;
    waiter.cut(reason, this.limits);
  }

  #lookIn(ms: number): () => void {
    return this.#clock.after(ms, () => {
      this.#stopLooking = undefined;
      const nowMs = this.#clock.monotonicMs();
      for (const [waiter, { sinceMs }] of this.#entries.entries()) {
        const leftMs = sinceMs + this.limits.ms - nowMs;
        if (leftMs <= 0) this.#cut(waiter, "late");
        else return void (this.#stopLooking ??= this.#lookIn(leftMs));
      }
    });
  }
}

/** The kinds, each with its limits and their reasons. */
const LIMITS = {
  /** Bodies, and requests behind others of their connection. A body is 1 MiB at most. */
  http_requests: { bytes: 64 * MIB, eachBytes: 2 * MIB, ms: 30 * SECOND },
  /** The longest lists for a few slow readers: our own clients take 64 MiB. Sockets see stalls. */
  http_answers: { bytes: 256 * MIB, eachBytes: 128 * MIB, ms: Infinity },
  /** The largest message is 4 MiB. */
  grpc_requests: { bytes: 64 * MIB, eachBytes: 8 * MIB, ms: 30 * SECOND },
  /** Of a connection, which a program with thousands of agents shares. Watches may stand still. */
  grpc_answers: { bytes: 256 * MIB, eachBytes: 64 * MIB, ms: Infinity },
  /** Incomplete messages: of 4 MiB at most, in pieces of which each has its own cost. */
  websocket_messages: { bytes: 64 * MIB, eachBytes: 8 * MIB, ms: 30 * SECOND },
  /** A session is let go of at 8 MiB. A client that answers no ping is cut sooner. */
  websocket_answers: { bytes: 256 * MIB, eachBytes: 16 * MIB, ms: Infinity },
} as const satisfies Readonly<Record<string, WaitingLimits>>;

export type WaitingKind = keyof typeof LIMITS;

/** The counters that all doors of a process share. */
export type WaitingCounters = Readonly<Record<WaitingKind, WaitingBytes>>;

/** The least that a piece costs, however few bytes it has. */
export const PIECE_BYTES = KIB / 4;

export function newWaiting(
  clock: Pick<Clock, "monotonicMs" | "after"> = systemClock,
  limits: { readonly [Kind in WaitingKind]?: Partial<WaitingLimits> } = {},
): WaitingCounters {
  const kinds = Object.keys(LIMITS) as WaitingKind[];
  const made = kinds.map((kind) => {
    return [kind, new WaitingBytes({ ...LIMITS[kind], ...limits[kind] }, clock)] as const;
  });
  return Object.fromEntries(made) as Record<WaitingKind, WaitingBytes>;
}
