/**
 * How many jobs run at once, of one principal and of all. A job that finds no slot waits in the
 * line of its principal; a slot that comes free goes to the lines in turn, so that a principal who
 * submits ten thousand jobs does not hold up another who submits one.
 *
 * Children of other jobs have no place here: a parent that waits for a child would wait for itself.
 */
import { isTerminal } from "./jobs/outcome.ts";
import type { Job } from "./jobs.ts";

export interface QueueLimits {
  readonly running: number;
  readonly runningPerPrincipal: number;
  readonly queuedPerPrincipal: number;
}

interface AgentLine {
  running: number;
  /** A set, because a waiting job may be cancelled. */
  readonly waiting: Set<string>;
}

export class JobQueue {
  readonly #lines = new Map<string, AgentLine>();
  #running = 0;

  /** How many jobs of a principal wait. */
  waiting(principal: string): number {
    return this.#lines.get(principal)?.waiting.size ?? 0;
  }

  isFree(principal: string, limits: QueueLimits): boolean {
    const running = this.#lines.get(principal)?.running ?? 0;
    return this.#running < limits.running && running < limits.runningPerPrincipal;
  }

  /** By its status: in a slot, or at the end of its line. */
  place({ id, principal, status }: Job): void {
    if (isTerminal(status)) return;
    const line = this.#line(principal);
    if (status === "pending") {
      line.waiting.add(id);
      return;
    }
    line.waiting.delete(id);
    line.running += 1;
    this.#running += 1;
    // To the end, where there are others: the next slot is for another line.
    if (this.#lines.size === 1) return;
    this.#lines.delete(principal);
    this.#lines.set(principal, line);
  }

  /** It ended: what it had of a line or a slot is free. */
  leave({ id, principal, status }: Job): void {
    const line = this.#line(principal);
    line.waiting.delete(id);
    if (status === "running") {
      line.running -= 1;
      this.#running -= 1;
    }
    if (line.running === 0 && line.waiting.size === 0) this.#lines.delete(principal);
  }

  /**
   * The job that may start next when `leaving` has left; undefined while none waits or no slot is
   * free.
   */
  next(limits: QueueLimits, leaving?: Job): string | undefined {
    const isFreed = leaving?.status === "running" && leaving.parent === "";
    if (this.#running - (isFreed ? 1 : 0) >= limits.running) return undefined;
    for (const [principal, line] of this.#lines) {
      const freed = isFreed && leaving.principal === principal ? 1 : 0;
      if (line.running - freed >= limits.runningPerPrincipal) continue;
      for (const id of line.waiting) if (id !== leaving?.id) return id;
    }
    return undefined;
  }

  /** The principals, the one whose turn is next first. */
  get turns(): readonly string[] {
    return [...this.#lines.keys()];
  }

  /** After a start: the turns as they were. */
  restoreTurns(principals: readonly string[]): void {
    for (const principal of principals) {
      const line = this.#line(principal);
      this.#lines.delete(principal);
      this.#lines.set(principal, line);
    }
  }

  #line(principal: string): AgentLine {
    const known = this.#lines.get(principal);
    if (known) return known;
    const line: AgentLine = { running: 0, waiting: new Set() };
    this.#lines.set(principal, line);
    return line;
  }
}
