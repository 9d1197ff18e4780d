/**
 * What agents said of themselves by `publish_status`, and for how long it is believed. Nobody hears
 * when a model stops: it does not say good-bye. So what it says holds for as long as it said, and
 * whoever says nothing more by then is reported as silent.
 *
 *   published ──published again──▶ published …
 *       └── its time is up ──▶ stale
 *
 * After a restart everybody who was there gets the longest time again.
 */
import type { Report } from "../../core/reports.ts";
import { Heap, type Slot } from "../../core/heap.ts";
import type { Clock } from "../../engine/clock.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { PRESENCE } from "./limits.ts";

export interface PresenceOptions {
  readonly fleet: Pick<Fleet, "report" | "reports">;
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly onTrouble: (what: string, error: unknown) => void;
}

/** What comes before the agent's id in its alias. */
export const ALIAS = "mcp:";

interface Said {
  readonly report: Report;
  readonly slot: Slot<string>;
}

export class Presence {
  readonly #options: PresenceOptions;
  readonly #said = new Map<string, Said>();
  readonly #deadlines = new Heap<string>();
  #stopTimer: () => void = () => undefined;
  #isClosed = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
    void this.#remember();
  }

  /** Resolves when it is durable, to whether it said anything new. */
  async publish(report: Report, ttlMs: number): Promise<boolean> {
    const isNew = await this.#options.fleet.report(report);
    if (report.facts.liveness.value === "alive") this.#expect(report, ttlMs);
    else this.#forget(report.alias);
    return isNew;
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }

  async #remember(): Promise<void> {
    try {
      for (const report of await this.#options.fleet.reports()) {
        const isOurs = report.alias.startsWith(ALIAS) && !this.#said.has(report.alias);
        if (isOurs && report.facts.liveness.value === "alive") {
          this.#expect(report, PRESENCE.ttlMostMs);
        }
      }
    } catch (error) {
      if (!this.#isClosed) this.#options.onTrouble("could not read who published a status", error);
    }
  }

  #expect(report: Report, ttlMs: number): void {
    this.#forget(report.alias);
    const slot = this.#deadlines.add(this.#options.clock.monotonicMs() + ttlMs, report.alias);
    this.#said.set(report.alias, { report, slot });
    this.#arm();
  }

  #forget(alias: string): void {
    const said = this.#said.get(alias);
    if (said) this.#deadlines.remove(said.slot);
    this.#said.delete(alias);
  }

  #arm(): void {
    this.#stopTimer();
    const first = this.#deadlines.nextAt();
    if (this.#isClosed || first === undefined) return;
    const waitMs = Math.max(0, first - this.#options.clock.monotonicMs());
    this.#stopTimer = this.#options.clock.after(waitMs, () => this.#expire());
  }

  #expire(): void {
    const nowMs = this.#options.clock.monotonicMs();
    let due = this.#deadlines.takeDue(nowMs);
    for (; due; due = this.#deadlines.takeDue(nowMs)) {
      const said = this.#said.get(due.value);
      this.#said.delete(due.value);
      if (said) void this.#reportSilence(said.report);
    }
    this.#arm();
  }

  async #reportSilence(report: Report): Promise<void> {
    const reportedAtMs = this.#options.nowMs();
    const { question: _question, ...facts } = report.facts;
    const liveness = { value: "stale", rule: "it published nothing more in its time" } as const;
    try {
      await this.#options.fleet.report({
        ...report,
        order: reportedAtMs,
        reportedAtMs,
        facts: { ...facts, liveness },
      });
    } catch (error) {
      if (!this.#isClosed)
        this.#options.onTrouble("could not report that an agent is silent", error);
    }
  }
}
