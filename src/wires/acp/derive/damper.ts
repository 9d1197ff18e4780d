/**
 * Keeps a display calm. What a person must see (waiting, idle, gone) is shown at once; anything
 * else when it held for a quarter of a second, and at most four times a second: a read that takes
 * one millisecond between two thoughts is not shown at all.
 *
 *   offered ──▶ held back ──▶ shown          or replaced by what is newer, or taken back
 */
import { DISPLAY } from "./limits.ts";
import { looksLike, type AcpRecord } from "./record.ts";

interface Display {
  shown: AcpRecord | undefined;
  shownAtMs: number;
  held: AcpRecord | undefined;
  /** When it will have been stable. */
  stableAtMs: number;
  /** When it is shown even if it never gets stable. */
  latestAtMs: number;
}

export class AcpDamper {
  readonly #displays = new Map<string | null, Display>();

  /** Takes a record of any session; returns those to show now. */
  offer(record: AcpRecord, nowMs: number): readonly AcpRecord[] {
    const display = this.#displays.get(record.sessionId) ?? newDisplay();
    this.#displays.set(record.sessionId, display);
    if (record.state === "exited") {
      this.#displays.delete(record.sessionId);
      return [record];
    }
    if (isUrgent(record, display.shown)) return [show(display, record, nowMs)];
    hold(display, record, nowMs);
    return this.tick(nowMs);
  }

  /** Shows what has been held back for long enough. */
  tick(nowMs: number): readonly AcpRecord[] {
    return [...this.#displays.values()].flatMap((display) => {
      const due = dueAtMs(display);
      if (display.held === undefined || due > nowMs) return [];
      return [show(display, display.held, nowMs)];
    });
  }

  get nextDeadlineMs(): number | undefined {
    const next = Math.min(...[...this.#displays.values()].map(dueAtMs));
    return next === Infinity ? undefined : next;
  }
}

function newDisplay(): Display {
  const never = { stableAtMs: Infinity, latestAtMs: Infinity };
  return { shown: undefined, shownAtMs: -Infinity, held: undefined, ...never };
}

/** Something to act on, and new: another wording of it can wait like the rest. */
function isUrgent(record: AcpRecord, shown: AcpRecord | undefined): boolean {
  if (record.status !== "waiting" && record.status !== "idle") return false;
  return (
    record.status !== shown?.status ||
    record.state !== shown.state ||
    record.pendingAsks !== shown.pendingAsks
  );
}

function hold(display: Display, record: AcpRecord, nowMs: number): void {
  const { held, shown } = display;
  if (shown !== undefined && looksLike(record, shown)) {
    display.held = undefined;
    return;
  }
  if (held === undefined) display.latestAtMs = nowMs + DISPLAY.latestMs;
  if (held?.status !== record.status) display.stableAtMs = nowMs + stableMs(record, shown);
  display.held = record;
}

/** Only a change of the status can flicker; the rest is bound by the rate alone. */
function stableMs(record: AcpRecord, shown: AcpRecord | undefined): number {
  return record.status === shown?.status ? 0 : DISPLAY.stableMs;
}

function dueAtMs({ held, stableAtMs, latestAtMs, shownAtMs }: Display): number {
  if (held === undefined) return Infinity;
  return Math.max(Math.min(stableAtMs, latestAtMs), shownAtMs + DISPLAY.intervalMs);
}

function show(display: Display, record: AcpRecord, nowMs: number): AcpRecord {
  display.shown = record;
  display.shownAtMs = nowMs;
  display.held = undefined;
  return record;
}
