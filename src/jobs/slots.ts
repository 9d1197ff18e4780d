/**
 * How many jobs run at once, of one principal and of all. Who finds no slot waits in the line of
 * its principal; a slot that comes free goes to the lines in turn, so that one who submits ten
 * thousand jobs does not hold up another who submits one.
 */
import { RollcallError } from "../core/errors.ts";

export interface SlotLimits {
  readonly running: number;
  readonly runningPerPrincipal: number;
  readonly queuedPerPrincipal: number;
}

interface Line<T> {
  running: number;
  /** A set, because a waiting job may be cancelled. */
  readonly waiting: Set<T>;
}

export class Slots<T> {
  readonly #limits: SlotLimits;
  readonly #lines = new Map<string, Line<T>>();
  #running = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Whether one more may be accepted now; throws when it may not even wait. */
  hasRoom(principal: string): boolean {
    const line = this.#lines.get(principal);
    if (this.#isFree(line)) return true;
    if ((line?.waiting.size ?? 0) >= this.#limits.queuedPerPrincipal) {
      const limit = this.#limits.queuedPerPrincipal;
      throw new RollcallError("LIMIT_EXCEEDED", `${limit} jobs of ${principal} wait already`);
    }
    return false;
  }

  take(principal: string): void {
    this.#running += 1;
    this.#line(principal).running += 1;
  }

  wait(principal: string, who: T): void {
    this.#line(principal).waiting.add(who);
  }

  leaveLine(principal: string, who: T): void {
    const line = this.#lines.get(principal);
    line?.waiting.delete(who);
    this.#forgetIdle(principal, line);
  }

  /** Gives a slot back; the one who gets it next, if any, has it already. */
  free(principal: string): T | undefined {
    this.#running -= 1;
    const line = this.#line(principal);
    line.running -= 1;
    this.#forgetIdle(principal, line);
    return this.next();
  }

  /** The next who may start, and has a slot. */
  next(): T | undefined {
    for (const [principal, line] of this.#lines) {
      if (line.waiting.size === 0 || !this.#isFree(line)) continue;
      const [first] = line.waiting;
      if (first === undefined) continue;
      line.waiting.delete(first);
      this.take(principal);
      // To the end: the next slot is for another line.
      this.#lines.delete(principal);
      this.#lines.set(principal, line);
      return first;
    }
    return undefined;
  }

  #isFree(line: Line<T> | undefined): boolean {
    const { running, runningPerPrincipal } = this.#limits;
    return this.#running < running && (line?.running ?? 0) < runningPerPrincipal;
  }

  #line(principal: string): Line<T> {
    const known = this.#lines.get(principal);
    if (known) return known;
    const line: Line<T> = { running: 0, waiting: new Set() };
    this.#lines.set(principal, line);
    return line;
  }

  #forgetIdle(principal: string, line: Line<T> | undefined): void {
    if (line?.running === 0 && line.waiting.size === 0) this.#lines.delete(principal);
  }
}
