/** Who did what when, as one reads a play; and how often each kind of thing happened. */
import type { Scheduler } from "./scheduler.ts";

export class Transcript {
  readonly #scheduler: Scheduler;
  readonly lines: string[] = [];
  /** By "kind: what", in order of name when shown. */
  readonly counts = new Map<string, number>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  say(who: string, what: string): void {
    const seconds = (this.#scheduler.nowMs / 1000).toFixed(3);
    this.lines.push(`${seconds.padStart(8)}  ${who.padEnd(7)} ${what}`);
  }

  count(kind: "fault" | "command" | "event" | "outcome" | "seen", what: string): void {
    const name = `${kind}: ${what}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** A fault both happens and counts. */
  fault(who: string, kind: string, detail = ""): void {
    this.count("fault", kind);
    this.say(who, `** ${kind}${detail && ` ${detail}`}`);
  }
}
